import { canonicalJson } from "../../config/canonical-json.ts";
import { envDigestOf } from "../../config/env-digest.ts";
import type { EnvironmentOfRun, JsonObject } from "../../config/plan/run-config.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { BUILT_CODE } from "./built-code.ts";
import { BUNDLED } from "../bundled/all.ts";
import type { EnvironmentDefinition, LoadContext } from "./definition.ts";
import type { Environment } from "../kinds/environment.ts";
import { offeredDefinition, type OfferedEnvironment } from "./offered.ts";
import { standaloneContext } from "../unit/standalone-context.ts";

/** Whether this is the id of an environment that comes with the package, whatever this host has in its place. */
export const isBundled = (id: string): boolean => BUNDLED.some((bundled) => bundled.id === id);

interface Known extends OfferedEnvironment {
  readonly definition: EnvironmentDefinition;
}

const isDefinition = (environment: EnvironmentDefinition | OfferedEnvironment): environment is EnvironmentDefinition => "argsSchema" in environment;
const byId = (all: readonly EnvironmentDefinition[]): ReadonlyMap<string, Known> =>
  new Map(all.map((definition) => [definition.id, { ...offeredDefinition(definition), definition }]));

/** Environments of this host by id: set once, before the first request, by whoever puts the host together. */
let known = byId(BUNDLED);

/** Gives this host environments beside the bundled ones; one of the same id takes the bundled one's place. Throws `TypeError` for two of one id. */
export function registerEnvironments(environments: readonly EnvironmentDefinition[]): void {
  const twice = environments.find(({ id }, index) => environments.findIndex((other) => other.id === id) < index);
  if (twice !== undefined) throw new TypeError(`two environments are called ${JSON.stringify(twice.id)}`);
  known = byId([...BUNDLED, ...environments]);
}

/** Environments whose code is at hand. */
export const listEnvironments = (): readonly EnvironmentDefinition[] => [...known.values()].map(({ definition }) => definition);

/** An environment whose code is at hand; null when there is none of that id. */
export const findEnvironment = (id: string): EnvironmentDefinition | null => known.get(id)?.definition ?? null;

/** What of this host may be named by runs. */
export const listOffered = (): readonly OfferedEnvironment[] => [...known.values()];

export const findOffered = (id: string): OfferedEnvironment | null => known.get(id) ?? null;

/**
 * An environment whose code is at hand, by id; `extra` are options set after loading (`{"max_turns": 20}`). Without a `context` it stands on its own: data
 * sets are fetched, keys come from the variables of the process. Throws `environment_not_found`, `invalid_request` (naming the
 * argument or the option), `MissingKeyError` or `environment_failed`. No data is read before `examples` is.
 */
export async function loadEnvironment(
  id: string,
  args: JsonObject = {},
  context: LoadContext = standaloneContext(),
  extra: JsonObject = {},
): Promise<Environment> {
  const definition = findEnvironment(id);
  if (definition === null) {
    throw new EdgewiseError("environment_not_found", `there is no environment ${JSON.stringify(id)}`, {
      hint: `this service has: ${listEnvironments()
        .map((known) => known.id)
        .join(", ")}`,
    });
  }
  return definition.load(args, context, extra);
}

/**
 * Digest of everything that decides an environment's behaviour: its code, version, arguments with defaults filled in, and options set
 * after loading. Its code is, of a bundled environment, its modules and those of the library's environment, rubric and parser rooms
 * that they reach; of another one what its definition calls its source (the digest of its bundle, where the command made it; a commit)
 * and all of those rooms. Both are digests that the build made (tools/code-digests.ts). Where nobody said what the code is, `deployment`
 * stands for it: two deployments then never have the same code.
 */
export async function environmentDigest(
  environment: EnvironmentDefinition | OfferedEnvironment,
  args: JsonObject,
  extra: JsonObject = {},
  deployment = "",
  rubric?: string,
): Promise<string> {
  const { id, version, source } = environment;
  const library = isOfPackage(environment) && BUILT_CODE !== null ? null : (BUILT_CODE?.library ?? deployment);
  const code = { source: source === version && library !== null ? `${version} ${deployment}` : source, library };
  const resolved = await environment.resolveArgs(args);
  return envDigestOf(await sha256Hex(canonicalJson({ id, version, code, args: resolved, extra, ...(rubric === undefined ? {} : { rubric }) })));
}

/** Whether its code comes with the package. */
function isOfPackage(environment: EnvironmentDefinition | OfferedEnvironment): boolean {
  const definition = isDefinition(environment) ? environment : known.get(environment.id) === environment ? findEnvironment(environment.id) : null;
  return definition !== null && BUNDLED.includes(definition);
}

/** The digest of a run's environment as it is offered here; null when there is none. Throws `environment_failed`, and `invalid_request` for its arguments. */
export async function digestOfRun(
  offered: OfferedEnvironment | null,
  { env_args, extra_env_kwargs, rescored_from }: EnvironmentOfRun,
  deployment?: string,
): Promise<string | null> {
  return offered === null ? null : await environmentDigest(offered, env_args, extra_env_kwargs, deployment, rescored_from?.rubric);
}
