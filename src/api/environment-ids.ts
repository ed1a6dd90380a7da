import type { EnvironmentFacts } from "./creation/resolve.ts";
import { isBundled } from "../environments/definition/load.ts";
import { fail, ok, type Result } from "../errors/result.ts";
import { isPublishedName, ownerOf, publishedId, publishedReference, type PublishedReference, versionHint } from "../published/published-name.ts";
import { OWNER } from "../teams/caller.ts";
import type { AppPorts } from "./app-ports.ts";
import { findLinked } from "./links/find-linked.ts";
import { publishedFor } from "./published/find-published.ts";

/** What may stand in an environment id: `name`, `owner/name`, `owner/name@version`; `owner~name` is the second as one part of an address. */
export const ENVIRONMENT_ID = /^[A-Za-z0-9][\w.-]*(?:[/~][A-Za-z0-9][\w.-]*)?(?:@[\w.+-]+)?$/;

/** The id of a run's environment, whichever way it was asked for: without the owner of bundled ones in front and the version behind. */
export function bareName(reference: string): string {
  const [path = ""] = reference.split("@");
  return path.startsWith(`${OWNER}/`) ? path.slice(OWNER.length + 1) : path;
}

/**
 * The environment that somebody of a team names, as they may run it: what the team has linked under the name goes before all else, but for code of one's own that the
 * service was started with. Then one that it was put together with, by its bare name, with the owner of bundled ones in front, or its version behind; or a published one. With
 * an owner in front a published one goes first, without one the service's own.
 */
export async function findByReference(ports: AppPorts, reference: string): Promise<Result<EnvironmentFacts>> {
  const linked = await findLinked(ports, reference);
  if (linked !== null && !(linked.lasts && (await isOwnCode(ports, reference)))) return linked.found;
  const named = publishedReference(reference);
  if (named !== null && !isBundled(named.name)) {
    const published = await publishedBy(ports, named);
    if (published !== null && !isGone(published, named)) return published;
    const own = await findOwn(ports, reference);
    return own.ok ? own : (published ?? own);
  }
  const own = await findOwn(ports, reference);
  if (own.ok || named !== null || !isPublishedName(bareName(reference))) return own;
  const mine = publishedReference(`${ownerOf(ports.team)}/${reference}`);
  return (mine === null ? null : await publishedBy(ports, mine)) ?? own;
}

/** Whether files of whoever started the service are called so: they were named to be run, and a link that stays was made some other day. */
const isOwnCode = async (ports: AppPorts, reference: string): Promise<boolean> => (await ports.findEnvironment(bareName(reference)))?.isIsolated === true;

/** Whether all of a published one was deleted: it stands before no other any more. */
const isGone = (published: Result<EnvironmentFacts>, { version }: PublishedReference): boolean =>
  version === null && !published.ok && published.error.code === "environment_not_found";

/** What of that the service was put together with. */
export async function findOwn(ports: Pick<AppPorts, "findEnvironment" | "environmentIds">, reference: string): Promise<Result<EnvironmentFacts>> {
  const [, version] = reference.split("@");
  const environment = await ports.findEnvironment(bareName(reference), version);
  const shown = JSON.stringify(reference.slice(0, 200));
  if (environment === null)
    return fail(
      "environment_not_found",
      `There is no environment ${shown}.`,
      versionHint(reference) ?? `This service has ${ports.environmentIds.join(", ")}. \`npx edgewise env list\` shows what is published, too.`,
    );
  if (version === undefined || version === environment.version) return ok(environment);
  return fail(
    "environment_not_found",
    `There is no environment ${shown}: this service has ${environment.id}@${environment.version}.`,
    "Leave the version out.",
  );
}

/** Null where nothing of that name is published for the team. */
async function publishedBy(ports: AppPorts, { owner, name, version }: PublishedReference): Promise<Result<EnvironmentFacts> | null> {
  const found = await publishedFor(ports, { owner, name }, version);
  if (found === null || !found.ok) return found;
  const published = found.value;
  const environment = await ports.offered({ env_id: publishedId(published), published });
  if (environment !== null) return ok({ ...environment, published });
  return fail("storage_damaged", `The code of ${publishedId(published)}@${published.version} is gone from storage.`, "Push it again.");
}
