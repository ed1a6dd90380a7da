import { outputPrefix, runPrefix, segmentOf, segmentPrefix } from "../../../r2-layout/keys.ts";
import { runBudget } from "../../../src/budgets/budget-name.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Env } from "../../../src/env.ts";
import { failureOf } from "../../../src/errors/result.ts";
import { count } from "../../../src/operations.ts";
import { runName, teamPrefix } from "../../../src/teams/team-name.ts";
import { budgetStub, registryStub } from "../../stubs.ts";
import { Orphans } from "./orphans.ts";
import type { RemovalOutcome } from "./sweep.ts";

/** Keys removed per slice; the alarm comes back until nothing is left. */
const SLICE = 1_000;

/** Deletes up to one slice of the objects below `prefix`; true when none is left. */
export async function removePrefix(bucket: R2Bucket, prefix: string): Promise<boolean> {
  const page = await bucket.list({ prefix, limit: SLICE });
  count("r2_class_a");
  if (page.objects.length > 0) await bucket.delete(page.objects.map(({ key }) => key));
  return !page.truncated;
}

/** Everything a run has in R2: its own folder, and its results folder (whoever wants to keep that has taken it away). */
export const removalPrefixes = ({ run_id, env_id, model, team }: Pick<RunConfig, "run_id" | "env_id" | "model" | "team">): string[] =>
  [runPrefix(run_id), outputPrefix(env_id, model, run_id)].map((prefix) => `${teamPrefix(team)}${prefix}`);

/** Prefixes first, the registration next, the run's own storage last, which is the caller's: a crash in between repeats, and leaves no trace behind. */
export async function removeObjects(env: Env, config: RunConfig): Promise<RemovalOutcome> {
  try {
    for (const prefix of removalPrefixes(config)) if (!(await removePrefix(env.BUCKET, prefix))) return "more";
    if (config.max_cost !== undefined) await budgetStub(env, runBudget(config))?.remove();
    await registryStub(env, config.team).forget(config.run_id);
    return "gone";
  } catch (thrown) {
    console.warn(`run ${runName(config)}: not removed yet, tried again later: ${failureOf(thrown).message}`);
    return "failed";
  }
}

/** Names of segments held at once. */
const WINDOW = 10_000;

/** Segments that rows or kept rollouts are in: the first so many after `after`, ascending. */
export type Referenced = (after: string, limit: number) => Promise<readonly string[]> | readonly string[];

/** Deletes segments to which nothing points (orphans.ts), page by page: memory is bounded by a page and a window of names, however many there are. */
export async function sweepOrphans(
  bucket: R2Bucket,
  { run_id: runId, team }: Pick<RunConfig, "run_id" | "team">,
  lastEpoch: number,
  referenced: Referenced,
): Promise<void> {
  const own = teamPrefix(team);
  // Names and keys have the same order: what follows a name in its key sorts before all that may follow in a name.
  const orphans = new Orphans(lastEpoch, WINDOW);
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix: `${own}${segmentPrefix(runId)}`, limit: SLICE, ...(cursor === undefined ? {} : { cursor }) });
    count("r2_class_a");
    const found: string[] = [];
    for (const { key } of page.objects) {
      const segment = segmentOf(runId, key.slice(own.length));
      if (segment === null) continue;
      for (let after = orphans.missing(segment); after !== null; after = orphans.missing(segment)) orphans.learn(await referenced(after, WINDOW));
      if (orphans.has(segment)) found.push(key);
    }
    if (found.length > 0) await bucket.delete(found);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
