import type { RunView } from "../../../durable-objects/run/control.ts";
import { NO_STOP_RULE } from "../../config/options/stop-rule.ts";
import { batchProblem } from "../../config/plan/run-batch.ts";
import type { Replica } from "../../config/plan/run-config.ts";
import { invalid } from "../errors.ts";
import type { ResumeBody } from "../schemas.ts";

/** The run, as it is to go on, can have its requests in batches, if it is to. Throws `invalid_request`. `places`: where its model is called from here on. */
export function checkBatch({ config }: RunView, body: ResumeBody, places: readonly Replica[]): void {
  const { batch, stop_when, headers_from_state, ...rest } = config;
  const states = body.headers_from_state ?? headers_from_state ?? {};
  const problem = batchProblem({
    ...rest,
    ...((body.batch ?? batch) === true ? { batch: true } : {}),
    ...(stop_when === undefined || body.stop_when?.trim() === NO_STOP_RULE ? {} : { stop_when }),
    ...(Object.keys(states).length === 0 ? {} : { headers_from_state: states }),
    replicas: places,
  });
  if (problem !== null) throw invalid(["body", problem.option in body ? problem.option : "batch"], problem.msg);
}
