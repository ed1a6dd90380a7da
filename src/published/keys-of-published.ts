import type { EnvironmentName } from "../config/plan/run-config.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";
import { teamOfOwner } from "./published-name.ts";

/** Where the values of keys may come from that an environment declares; what was given to the environment or the run by name it has in any case. */
export interface KeySources {
  /** Secrets of the team whose run it is. */
  readonly team: boolean;
  /** Variables of the service. */
  readonly service: boolean;
}

/**
 * An environment that the service was put together with may declare whatever the service has. A published one is of whoever pushed it: deployed it gets no variable of the
 * service, and another team's no secret that its team keeps for itself, whatever it declares. A linked one is its team's own, and elsewhere.
 */
export function keySources({ published, linked }: Pick<EnvironmentName, "published" | "linked">, team: string = DEFAULT_TEAM, local: boolean): KeySources {
  if (linked !== undefined) return { team: true, service: local };
  if (published === undefined) return { team: true, service: true };
  const isOwn = teamOfOwner(published.owner) === team;
  return { team: isOwn, service: isOwn && local };
}
