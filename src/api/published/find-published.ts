import type { Context } from "hono";
import type { PublishedEnvironment, PublishedVersion } from "../../../durable-objects/registry/published/published-control.ts";
import type { PublishedPin } from "../../config/plan/published-pin.ts";
import { EdgewiseError, fail, ok, type Result } from "../../errors/result.ts";
import { isPublishedName, ownerOf, publishedId, type PublishedName, teamOfOwner } from "../../published/published-name.ts";
import { latestOf } from "../../published/published-version.ts";
import type { Caller } from "../../teams/caller.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";

/** One published environment with at least one version, as whoever asked may see it. */
export interface FoundEnvironment {
  readonly owner: string;
  /** Of the team that published it. */
  readonly ports: AppPorts;
  readonly environment: PublishedEnvironment;
}

/** The same answer for what is not there and for what is another team's own. */
export const noEnvironment = (name: PublishedName): EdgewiseError =>
  new EdgewiseError("environment_not_found", `There is no environment ${JSON.stringify(publishedId(name).slice(0, 200))}.`, {
    hint: "`npx edgewise env list` shows those there are.",
  });

/** Whoever is in the team that published it, whoever owns the service, and for a public one everybody. */
export const sees = ({ owner, teams }: Pick<Caller, "owner" | "teams">, team: string, { visibility }: PublishedEnvironment): boolean =>
  visibility === "PUBLIC" || owner || teams.includes(team);

/** Those that are there. */
export const living = ({ versions }: PublishedEnvironment): readonly PublishedVersion[] => versions.filter(({ deleted_at }) => deleted_at === null);

/** What a team published under this name, whoever may see it, deleted versions too; null where it published none, or there is no such team. */
export async function publishedBy(ports: AppPorts, { owner, name }: PublishedName): Promise<Omit<FoundEnvironment, "owner"> | null> {
  const team = teamOfOwner(owner);
  if (team === null || !isPublishedName(name) || !(await isThere(ports, team))) return null;
  const theirs = ports.inTeam(team);
  const environment = await readTwice(
    () => theirs.registry,
    (registry) => unlessOlder(registry.publishedEnvironment(name), null),
  );
  return environment === null ? null : { ports: theirs, environment };
}

/** An object of a team that nobody made is not called into being. */
const isThere = async (ports: AppPorts, team: string): Promise<boolean> =>
  team === DEFAULT_TEAM ||
  team === ports.team ||
  readTwice(
    () => ports.directory,
    async (directory) => directory !== null && (await directory.isTeam(team)),
  );

/** The environment that a request names; null where there is none that its caller may see. */
export async function findPublished(c: Context<AppContext>, name: PublishedName): Promise<FoundEnvironment | null> {
  const found = await publishedBy(c.var.ports, name);
  if (found === null || !sees(c.var.caller, found.ports.team, found.environment) || living(found.environment).length === 0) return null;
  return { ...found, owner: ownerOf(found.ports.team) };
}

/**
 * The version that a run of this team would be of: `version`, or the latest. Null where nothing of the name is published for it; fails with `environment_not_found`
 * where that has no such version any more.
 */
export async function publishedFor(ports: AppPorts, name: PublishedName, version: string | null): Promise<Result<PublishedPin> | null> {
  const found = await publishedBy(ports, name);
  if (found === null || !(found.environment.visibility === "PUBLIC" || found.ports.team === ports.team)) return null;
  const { environment } = found;
  const there = living(environment);
  const chosen = version === null ? latestOf(there) : (there.find((each) => each.version === version) ?? null);
  const owner = ownerOf(found.ports.team);
  if (chosen !== null) return ok({ owner, name: environment.name, version: chosen.version, digest: chosen.digest });
  const latest = latestOf(there)?.version;
  const id = publishedId({ owner, name: environment.name });
  // To others what was never there, and what all of was deleted, is the same.
  if (latest === undefined && found.ports.team !== ports.team) return null;
  if (latest === undefined)
    return fail("environment_not_found", `${id} is deleted, with all its versions: no new run begins with it.`, "Push it again: npx edgewise env push");
  const wasThere = environment.versions.some((each) => each.version === version);
  return fail(
    "environment_not_found",
    wasThere ? `${id}@${version} is deleted: no new run begins with it.` : `There is no environment ${JSON.stringify(`${id}@${version}`)}.`,
    `The latest is ${id}@${latest}; \`npx edgewise env versions ${id}\` shows all of them.`,
  );
}

/** Characters of a digest that are enough to name a version by it, as the `prime` client does. */
const LEAST_DIGEST = 8;

/** The version that `wanted` names: `latest`, itself, or the beginning of its digest. Throws `environment_not_found`. */
export function versionOf({ owner, environment }: FoundEnvironment, wanted: string): PublishedVersion {
  const there = living(environment);
  const found =
    wanted === "latest"
      ? latestOf(there)
      : there.find(({ version, digest }) => version === wanted || (wanted.length >= LEAST_DIGEST && digest.startsWith(wanted)));
  if (found != null) return found;
  const name = publishedId({ owner, name: environment.name });
  const latest = latestOf(there)?.version;
  throw new EdgewiseError("environment_not_found", `There is no environment ${JSON.stringify(`${name}@${wanted}`.slice(0, 200))}.`, {
    hint: `The latest is ${name}@${latest}; \`npx edgewise env versions ${name}\` shows all of them.`,
  });
}
