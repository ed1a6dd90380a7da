/**
 * A group of which some rollouts are drawn again is scored anew as a whole. Its rows say so, and so does every other row where rollouts are judged
 * together: a key that others of the file lack makes readers refuse it (docs/decisions/scored-anew-in-rows.md).
 */
import type { JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import type { EnvironmentTraits } from "../../environments/hosted/traits.ts";
import type { KeptRollout } from "../../environments/unit/stored-rollout.ts";

/** Whether rows of the run have the key. */
export const saysScoredAnew = (
  { hasGroupRewards }: Pick<EnvironmentTraits, "hasGroupRewards">,
  { rollouts_per_example: r }: Pick<RunConfig, "rollouts_per_example">,
): boolean => hasGroupRewards && r > 1;

/** Whether the rows that are left of a unit are of a group that was scored anew before. */
export const wereScoredAnew = (kept: readonly KeptRollout[]): boolean => kept.some(({ line }) => (JSON.parse(line) as JsonObject).scored_anew === true);
