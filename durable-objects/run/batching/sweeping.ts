import { jobOf, jobsPrefix } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { count } from "../../../src/operations.ts";
import { teamPrefix } from "../../../src/teams/team-name.ts";
import { isLive, type Job } from "./job.ts";

/** Keys that are looked at, and removed, at once. */
const SLICE = 1_000;

/** Names of the objects that jobs need: requests of those that are not over, answers of those that are. */
export const jobObjects = (jobs: readonly Job[]): ReadonlySet<string> =>
  new Set(jobs.flatMap((job) => (job.index !== null ? [job.index] : isLive(job) ? [job.object] : [])));

/**
 * Deletes objects of jobs that no job needs any more: requests that are answered, and what was written under a grant that did not get to tell of it. `lastEpoch`: of
 * the newest grant when the sweep began; what later ones write is left.
 */
export async function sweepJobs(
  bucket: R2Bucket,
  { run_id: runId, team }: Pick<RunConfig, "run_id" | "team">,
  lastEpoch: number,
  needed: ReadonlySet<string>,
): Promise<void> {
  const own = teamPrefix(team);
  let cursor: string | undefined;
  do {
    const page = await bucket.list({ prefix: `${own}${jobsPrefix(runId)}`, limit: SLICE, ...(cursor === undefined ? {} : { cursor }) });
    count("r2_class_a");
    const found = page.objects.flatMap(({ key }) => {
      const object = jobOf(runId, key.slice(own.length));
      return object === null || object.epoch > lastEpoch || needed.has(object.object) ? [] : [key];
    });
    if (found.length > 0) await bucket.delete(found);
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
