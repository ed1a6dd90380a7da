import { outputPrefix, runPrefix, segmentOf, segmentPrefix } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../../src/config/run-config.ts";
import { count } from "../../../src/operations.ts";
import { teamPrefix } from "../../../src/teams/team-name.ts";

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

/** Names of segments held at once. */
const WINDOW = 10_000;

/** Segments that done rows point to: the first so many after `after`, ascending. */
export type Referenced = (after: string, limit: number) => readonly string[];

/**
 * Deletes segments to which no done row points: a zombie's, or rows replaced by a repair. The run may be resumed while this lists and
 * deletes, and commit: so only what grants up to `lastEpoch` wrote is looked at, all of which have ended. Rows can stop pointing to those,
 * and never begin to. Memory is bounded by a page and a window of names, however many segments there are.
 */
export async function sweepOrphans(
  bucket: R2Bucket,
  { run_id: runId, team }: Pick<RunConfig, "run_id" | "team">,
  lastEpoch: number,
  referenced: Referenced,
): Promise<void> {
  const own = teamPrefix(team);
  // Names and keys have the same order: what follows a name in its key sorts before all that may follow in a name.
  let known = referenced("", WINDOW);
  let kept = new Set(known);
  const isOrphan = (key: string): boolean => {
    const segment = segmentOf(runId, key.slice(own.length));
    if (segment === null || segment.epoch > lastEpoch) return false;
    for (let last = known.at(-1); last !== undefined && known.length === WINDOW && segment.name > last; last = known.at(-1)) {
      known = referenced(last, WINDOW);
      kept = new Set(known);
    }
    return !kept.has(segment.name);
  };
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix: `${own}${segmentPrefix(runId)}`, limit: SLICE, ...(cursor === undefined ? {} : { cursor }) });
    count("r2_class_a");
    const orphans = page.objects.map(({ key }) => key).filter(isOrphan);
    if (orphans.length > 0) await bucket.delete(orphans);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
