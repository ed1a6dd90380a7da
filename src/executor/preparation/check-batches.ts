import type { RunConfig } from "../../config/plan/run-config.ts";
import type { EnvironmentTraits } from "../../environments/hosted/traits.ts";
import { EdgewiseError } from "../../errors/result.ts";

/** Throws `environment_failed` where requests are to go out in batches and the loaded environment says that they cannot. */
export function checkBatches({ batch }: Pick<RunConfig, "batch">, { batchProblem }: Pick<EnvironmentTraits, "batchProblem">): void {
  if (batch !== true || batchProblem === null) return;
  const { code, message, hint } = batchProblem;
  throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
}
