import type { Bound } from "../../src/endpoint-limits/bound.ts";
import { LIMIT_KINDS } from "../../src/endpoint-limits/limit-kinds.ts";
import type { CeilingsNow } from "./ceilings/ceilings.ts";
import type { LimitedPlace, LimiterView } from "./limiter-control.ts";
import type { Minute } from "./minute.ts";
import { isWaiting, type Party, sumOf } from "./party.ts";
import type { GivenToAll } from "./stored-limiter.ts";

export interface Shown {
  readonly place: LimitedPlace;
  readonly mode: LimiterView["mode"];
  readonly ceilings: CeilingsNow;
  readonly given: GivenToAll;
  readonly parties: readonly Party[];
  readonly boundOf: (party: Party) => Bound | null;
  readonly downSince: number | null;
  readonly minute: Minute;
}

type User = LimiterView["users"][number];

/** For `/limits`. `team`: whose eyes it is for, who does not see which runs others have; null = the owner's. */
export function viewOf({ place, mode, ceilings, given, parties, boundOf, downSince, minute }: Shown, team: string | null, now: number): LimiterView {
  const own = team === null ? null : given.teams[team];
  const known = LIMIT_KINDS.flatMap((kind) => {
    const { limit, source } = ceilings.limits[kind] ?? { limit: null, source: null };
    const ours = own?.[kind];
    return [
      ...(limit === null ? [] : [{ kind, limit, source }]),
      ...(ours === undefined || (source === "given" && limit !== null && limit <= ours) ? [] : [{ kind, limit: ours, source: "given" as const }]),
    ];
  });
  const paused = ceilings.pause_until !== null && ceilings.pause_until > now;
  const seen = parties.filter((party) => team === null || party.team === team);
  const bound: Bound | null =
    downSince !== null
      ? { kind: "down", limit: null, source: null }
      : paused || ceilings.probe
        ? { kind: "pause", limit: null, source: null }
        : (seen.filter(isWaiting).flatMap((party) => boundOf(party) ?? [])[0] ?? null);
  return {
    ...{ place, mode, bound, limits: known, paused_until: paused ? ceilings.pause_until : null, down_since: downSince },
    in_flight: parties.reduce((sum, { holders }) => sum + sumOf(holders, ({ report }) => report.in_flight), 0),
    waiting: parties.reduce((sum, { holders }) => sum + sumOf(holders, ({ report }) => report.waiting), 0),
    minute: minute.minute(now),
    latency_ms: minute.latency(now),
    users: usersOf(parties, team, (party) => minute.accepted(party.key, now)),
  };
}

/** By run and kind: parties of one run differ in their caps alone. Of other teams all are one. */
function usersOf(parties: readonly Party[], team: string | null, accepted: (party: Party) => number): readonly User[] {
  const users = new Map<string, User>();
  for (const party of parties) {
    const isOwn = team === null || party.team === team;
    const { run, kind } = isOwn ? party : { run: "", kind: "model" as const };
    const key = JSON.stringify([run, kind]);
    const known = users.get(key);
    users.set(key, {
      ...{ run, kind, team: isOwn ? party.team : "" },
      priority: isOwn ? Math.max(...[...party.holders].map(({ report }) => report.priority)) : 1,
      in_flight: (known?.in_flight ?? 0) + sumOf(party.holders, ({ report }) => report.in_flight),
      waiting: (known?.waiting ?? 0) + sumOf(party.holders, ({ report }) => report.waiting),
      accepted: (known?.accepted ?? 0) + accepted(party),
    });
  }
  return [...users.values()].sort((a, b) => b.accepted - a.accepted || b.in_flight - a.in_flight);
}
