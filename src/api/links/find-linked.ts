import { linkReference } from "../../links/link-name.ts";
import { fail, ok, type Result } from "../../errors/result.ts";
import { BRING_BACK, chosenLink, type Link } from "../../links/link.ts";
import type { AppPorts } from "../app-ports.ts";
import type { EnvironmentFacts } from "../creation/resolve.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";

/** The link of the team that a name means now; null where none is live. */
export async function linkOf(ports: Pick<AppPorts, "registry" | "now">, name: string): Promise<Link | null> {
  const links = await readTwice(
    () => ports.registry,
    (registry) => unlessOlder(registry.environmentLinks(name), []),
  );
  return chosenLink(links, ports.now(), null);
}

export interface FoundLink {
  /** It was made to stay, and by no command for a run of its own. */
  readonly lasts: boolean;
  readonly found: Result<EnvironmentFacts>;
}

/** The linked environment that somebody of the team names; null where nothing is linked under the name, or it is of another version than is asked for. */
export async function findLinked(ports: AppPorts, reference: string): Promise<FoundLink | null> {
  const wanted = linkReference(reference);
  if (wanted === null) return null;
  const { name, version } = wanted;
  const link = await linkOf(ports, name);
  if (link === null || (version !== null && version !== link.facts.version)) return null;
  const linked = { name, digest: link.facts.source };
  const environment = await ports.offered({ env_id: name, linked });
  const found = environment === null ? fail("environment_failed", `The link ${name} has just lapsed.`, BRING_BACK(name)) : ok({ ...environment, linked });
  return { lasts: link.command === null, found };
}
