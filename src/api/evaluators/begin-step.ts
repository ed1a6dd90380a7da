import type { StepName } from "../../../durable-objects/evaluator/evaluator-control.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { reportedStep } from "../../evaluators/due.ts";
import type { StepOrder } from "../../training/state.ts";
import type { AppPorts } from "../app-ports.ts";
import { isPassing, orderedRun } from "../creation/ordered-run.ts";
import { bodyOfTable } from "../creation/table-body.ts";
import type { CreateBody } from "../schemas.ts";

/**
 * Creates the run of an evaluation of a step, through the creation of every run and as the evaluator's team, and tells the evaluator what came of it. Safe to
 * repeat: evaluator, step and evaluation are the key of the creation. Nothing happens where the evaluator does not want it any more.
 */
export async function beginStep(ports: AppPorts, name: string, at: StepName): Promise<void> {
  const { evaluators } = ports;
  if (evaluators === null) return;
  const order = await evaluators.of(name).order(at);
  if (order === null) return;
  const made = await orderedRun(ports, {
    key: order.key,
    creator: order.creator,
    order,
    by: { what: "evaluator", takenOver: "Whoever posts a step runs it: post the next one with a token that may make runs." },
    maker: { evaluator: { name: order.evaluator, step: reportedStep(order.posted.step), evaluation: order.evaluation.name } },
    body: () => stepBody(order, ["body"]),
  });
  if (made.ok) return evaluators.of(name).created({ ...at, run_id: made.value });
  await evaluators.of(name).refused({ ...at, failure: made.error, passing: isPassing(made.error) });
}

/** The creation that an evaluation comes to for a step. `at`: where a request says its table. Throws `InvalidRequest`. */
export function stepBody(
  { evaluator, evaluation, posted }: Pick<StepOrder, "evaluator" | "evaluation" | "posted">,
  at: readonly (string | number)[],
): CreateBody {
  const { model, api_base_url, api_key_var, step } = posted;
  const table: JsonObject = {
    ...evaluation.eval,
    model,
    ...(api_base_url === undefined ? {} : { api_base_url }),
    ...(api_key_var === undefined ? {} : { api_key_var }),
  };
  return bodyOfTable(table, `${evaluator} ${evaluation.name} step ${reportedStep(step)}`, [...at]);
}
