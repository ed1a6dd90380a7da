import type { EvaluatorFacts, EvaluatorView, OpenStep } from "../../../durable-objects/evaluator/evaluator-control.ts";
import { shownOrigin } from "../../config/plan/shown-config.ts";
import { mask } from "../../errors/masking.ts";
import type { Failure } from "../../errors/result.ts";
import { reportedStep } from "../../evaluators/due.ts";
import type { EvaluatorDefinition } from "../../training/definition.ts";
import { adviceOf } from "../../training/early-stopping.ts";
import { type Point, seriesOf } from "../../training/series.ts";
import type { PausedEvaluator, StepRecord } from "../../training/state.ts";

/** An evaluator as the service shows it: steps as they are reported. */

const iso = (at: number): string => new Date(at).toISOString();
const failureShown = ({ code, message, hint }: Failure) => ({ code, message: mask(message), ...(hint === undefined ? {} : { hint: mask(hint) }) });

/** All of it but what may be secret in an address. */
function definitionShown({ evaluations, mlflow, ...definition }: EvaluatorDefinition): EvaluatorDefinition {
  const shown = evaluations.map(({ eval: { heartbeat_url, ...table }, ...each }) => ({
    ...each,
    eval: typeof heartbeat_url === "string" ? { ...table, heartbeat_url: shownOrigin(heartbeat_url) } : table,
  }));
  return { evaluations: shown, ...definition, ...(mlflow === undefined ? {} : { mlflow: { ...mlflow, tracking_uri: shownOrigin(mlflow.tracking_uri) } }) };
}

export function recordShown({ step, evaluation, model, posted_at, run_id, ended_at, end }: StepRecord) {
  const evaluated = end?.kind === "evaluated" ? end : null;
  return {
    step: reportedStep(step),
    evaluation,
    model,
    posted_at: iso(posted_at),
    run_id,
    outcome: end?.kind ?? "open",
    ended_at: ended_at === null ? null : iso(ended_at),
    values: evaluated?.values ?? {},
    missing: evaluated?.missing ?? [],
    rollouts: evaluated?.rollouts ?? null,
    errored: evaluated?.errored ?? null,
    reason: reasonOf(end),
  };
}

function reasonOf(end: StepRecord["end"]): string | null {
  if (end?.kind === "failed") return mask(end.failure.message);
  if (end?.kind === "stopped") return end.reason;
  return end?.kind === "replaced" ? `step ${reportedStep(end.by)} took its place` : null;
}

export const pointShown = (point: Point) => ({ ...point, at: iso(point.at) });

const openShown = ({ step, replaced_by, failure, ...open }: OpenStep) => ({
  ...open,
  step: reportedStep(step),
  replaced_by: replaced_by === null ? null : reportedStep(replaced_by),
  failure: failure === null ? null : failureShown(failure),
});

/** `served`: whether steps are evaluated here. */
export function factsShown({ name, definition, created_by, created_at, updated_at, open, last, posting, paused }: EvaluatorFacts, served: boolean) {
  return {
    name,
    definition: definitionShown(definition),
    created_by,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    open,
    last: last === null ? null : recordShown(last),
    posting: posting === null ? null : { tries: posting.tries, failure: posting.failure === undefined ? null : failureShown(posting.failure) },
    paused: pausedShown(paused),
    served,
  };
}

export const pausedShown = (paused: PausedEvaluator | undefined) =>
  paused === undefined ? null : { at: iso(paused.at), by: paused.by, reason: mask(paused.reason) };

export function evaluatorShown(view: EvaluatorView, served: boolean) {
  const series = seriesOf(view.records);
  const { early_stopping } = view.definition;
  return {
    ...factsShown(view, served),
    at_work: view.at_work.map(openShown),
    records: view.records.map(recordShown),
    series: Object.fromEntries(Object.entries(series).map(([name, points]) => [name, points.map(pointShown)])),
    advice: adviceOf(early_stopping, series[early_stopping.metric] ?? []),
  };
}
