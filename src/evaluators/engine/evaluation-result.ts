/** A run that has ended, as library code reads it. */
import type { Evaluation } from "../../cli/connection/api-types.ts";
import { chunksOf, type ServiceClient } from "../../cli/connection/http-client.ts";
import { readLines } from "../../cli/disk/read-lines.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import type { RunStatus } from "../../config/run-status.ts";
import type { EdgewiseError } from "../../errors/result.ts";
import type { RolloutOutput } from "../../rollouts/rows/output.ts";
import { engineError } from "./engine-errors.ts";
import type { Service } from "../../cli/service/service.ts";

export interface EvaluationResult {
  readonly runId: string;
  readonly status: RunStatus;
  /** Mean reward over the rollouts that ended without an error; null where there are none. */
  readonly reward: number | null;
  /** Means of the metrics, by name. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Rollouts by error code; none of them is a score of 0 here. */
  readonly errors: Readonly<Record<string, number>>;
  /** Tasks of the data set that are in no example: beyond `num_examples`, or that nothing here can verify; null where the environment does not count its tasks. */
  readonly notRun: number | null;
  /** Why the run failed, as the service tells it; null where it did not. */
  readonly failure: EdgewiseError | null;
  /** Rows in the order of the data set, one at a time: memory does not grow with the run. */
  rows(): AsyncGenerator<RolloutOutput>;
  /** The run's `metadata.json`. */
  metadata(): Promise<JsonObject>;
}

/** `current`: the service as it is when something is read; another one may have taken the place of the one that ran it. */
export function resultOf(evaluation: Evaluation, failure: EdgewiseError | null, current: () => Service): EvaluationResult {
  const { evaluation_id: runId, status, metrics, edgewise } = evaluation;
  const client = (): ServiceClient => current().client;
  return {
    runId,
    status,
    reward: metrics.reward ?? null,
    metrics: metrics.metrics ?? {},
    errors: edgewise.errors,
    notRun: edgewise.n_not_run ?? null,
    failure,
    rows: async function* () {
      try {
        for await (const line of readLines(chunksOf(await client().file(runId, "results.jsonl")))) yield JSON.parse(line) as RolloutOutput;
      } catch (error) {
        throw engineError(error, current());
      }
    },
    metadata: async () => {
      try {
        return (await (await client().file(runId, "metadata.json")).json()) as JsonObject;
      } catch (error) {
        throw engineError(error, current());
      }
    },
  };
}
