import type { Failure } from "../../errors/result.ts";

/** What helps where requests of an environment cannot go out in batches. */
export const WITHOUT_BATCHES = "leave out --batch (batch: false)";

/** Why the requests of an environment cannot go out in batches. `does`: what takes more than one question and one answer. */
export const notInBatches = (id: string, does: string): Failure => ({
  code: "environment_failed",
  message: `environment ${id} ${does}, and batches are for one question and one answer`,
  hint: WITHOUT_BATCHES,
});
