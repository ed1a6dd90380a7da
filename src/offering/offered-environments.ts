/**
 * The environments that runs of a service may name, and where they are found: the one place that executors and the HTTP door ask. What is found may be asked
 * for several times in one grant or request, so whatever takes longer than a look into a table is kept by whoever makes it.
 */
import type { EnvironmentName, EnvironmentOfRun } from "../config/plan/run-config.ts";
import { deploymentOf, type Env } from "../env.ts";
import { digestOfRun, findOffered, listOffered } from "../environments/definition/load.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import { isolatedEnvironment } from "./isolated-environment.ts";
import { findIsolated, isolatedIds } from "./isolated-modules.ts";
import { linkedTo } from "./linked-code.ts";
import { publishedModule } from "./published-code.ts";

/** The environment that a run was made with; null where there is none. Rejects, with an error that may pass, where it cannot be looked up now. */
export async function offeredTo(env: Env, { env_id, team, published, linked }: EnvironmentName): Promise<OfferedEnvironment | null> {
  if (linked !== undefined) return linkedTo(env, team, linked);
  if (published === undefined) return assembled(env, team, env_id);
  const module = await publishedModule(env, published);
  return module === null ? null : isolatedEnvironment(env, team, module);
}

/** What this service was put together with: of its own code, or for isolates. */
function assembled(env: Env, team: string | undefined, id: string): OfferedEnvironment | null {
  const isolated = findIsolated(id);
  return isolated === null ? findOffered(id) : isolatedEnvironment(env, team, isolated);
}

/** Ids of everything that this service was put together with. */
export const offeredIds = (): readonly string[] => [...new Set([...listOffered().map(({ id }) => id), ...isolatedIds()])];

/**
 * The environment that somebody of `team` names: `name` or `owner/name`, without our own owner in front, and the version if one was said. Null where there is
 * none. Of what this service was put together with there is one version: whoever asked looks whether it is the right one.
 */
export async function environmentNamed(
  env: Env,
  team: string,
  { name }: { readonly name: string; readonly version?: string },
): Promise<OfferedEnvironment | null> {
  return assembled(env, team, name);
}

/** Digest of a run's environment as this service has it; null when it has none. Throws `environment_failed`, and `invalid_request` for its arguments. */
export async function digestIn(env: Env, run: EnvironmentOfRun): Promise<string | null> {
  return digestOfRun(await offeredTo(env, run), run, deploymentOf(env));
}
