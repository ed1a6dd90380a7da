import { z } from "zod";
import { plainText } from "../../config/plain-text.ts";
import { EVALUATOR_NAME_RULE, isEvaluatorName, MODES, ON_OLDER } from "../../training/definition.ts";
import { teamQuery } from "../people/people-schemas.ts";
import { plannedFields } from "../planned-change.ts";

/** Bodies, paths and answers of `/evaluators`; what an evaluator is, `src/training/definition-schema.ts` says. */

/** Steps of a trainer: far beyond any, and exact as a number. */
const MOST_STEP = 1_000_000_000_000;
/** Records of one answer. */
const MOST_SHOWN = 1_000;

const whole = (text: string): boolean => /^\d{1,15}$/.test(text);
export const evaluatorQuery = teamQuery;
export const showQuery = z.strictObject({
  ...teamQuery.shape,
  limit: z
    .string()
    .refine((text) => whole(text) && Number(text) >= 1 && Number(text) <= MOST_SHOWN, `must be 1 to ${MOST_SHOWN}`)
    .default(String(MOST_SHOWN))
    .transform(Number)
    .describe("So many evaluations of steps at most, those of the highest steps."),
});
export const pointsQuery = z.strictObject({
  ...teamQuery.shape,
  after: z.string().refine(whole, "must be a whole number").default("0").transform(Number).describe("`next` of the page before."),
});
export const evaluatorPath = z.strictObject({ evaluator: z.string().refine(isEvaluatorName, EVALUATOR_NAME_RULE) });

export const stepBody = z.strictObject({
  step: z.int().min(0).max(MOST_STEP).describe("Counted from 0, as trainers count; it is reported as step + 1."),
  model: plainText(500).min(1).describe("What the checkpoint is called where it is served."),
  api_base_url: z.string().min(1).max(2_000).optional().describe("Where it is served; without it as the definition says."),
  api_key_var: z.string().min(1).max(200).optional().describe("Name of the secret or variable that holds the key there."),
  final: z.boolean().optional().describe("Training is over: evaluations without a cadence are due, and no others."),
  now: z
    .boolean()
    .optional()
    .describe("Every evaluation is due, whatever its cadence, also while the evaluator is paused. What the step had before makes no second run."),
});
export const pauseEvaluatorBody = z.strictObject({ reason: plainText(200).default("paused") });

const text = z.string();
const moment = z.iso.datetime();
const failure = z.strictObject({ code: text, message: text, hint: text.optional() });
const interval = z.tuple([z.number(), z.number()]).optional();
const value = z.strictObject({ value: z.number(), ci95: interval });
const definition = z.strictObject({
  evaluations: z.array(
    z.strictObject({ name: text, run_every: z.int(), metrics: z.array(text), breakdown_keys: z.array(text).optional(), eval: z.record(text, z.json()) }),
  ),
  on_older: z.enum(ON_OLDER),
  early_stopping: z.strictObject({ metric: text, mode: z.enum(MODES), min_delta: z.number(), patience: z.int().optional() }),
  mlflow: z.strictObject({ tracking_uri: text, run_id: text, token_var: text.optional() }).optional(),
});
const record = z.strictObject({
  step: z.int().describe("As it is reported: the trainer's own, and one."),
  evaluation: text,
  model: text,
  posted_at: moment,
  run_id: text.nullable(),
  outcome: z.enum(["open", "evaluated", "failed", "stopped", "replaced"]),
  ended_at: moment.nullable(),
  values: z.record(text, value).describe("By metric; none but of `evaluated`."),
  missing: z.array(text).describe("Metrics that were asked for, and that the run has not."),
  rollouts: z.int().nullable(),
  errored: z.int().nullable().describe("Rollouts that ended in an error."),
  reason: text.nullable(),
});
const point = z.strictObject({
  name: text.describe("val/<evaluation>/<metric>"),
  step: z.int(),
  value: z.number(),
  ci95: interval,
  model: text,
  run_id: text.nullable(),
  at: moment,
  rollouts: z.int(),
  errored: z.int(),
});
const posting = z.strictObject({ tries: z.int(), failure: failure.nullable() }).nullable().describe("Points wait to be posted to MLflow.");
const paused = z
  .strictObject({ at: moment, by: text, reason: text })
  .nullable()
  .describe("Steps that are posted meanwhile are passed over, and may be posted again; null: it is not.");
const facts = {
  name: text,
  definition,
  created_by: text,
  created_at: moment,
  updated_at: moment,
  open: z.int().describe("Evaluations of steps that are not finished."),
  last: record.nullable(),
  posting,
  paused,
  served: z.boolean().describe("Whether steps are evaluated by this service; a local one that a command started for itself begins none."),
};
const advice = z.strictObject({
  metric: text,
  mode: z.enum(MODES),
  best: z.strictObject({ step: z.int(), value: z.number(), model: text }).nullable(),
  since_best: z.int().describe("Evaluations since the best one, of which none was better."),
  stop: z.boolean(),
  stop_at: z.int().nullable().describe("The step at which patience was first at its end."),
});
export const evaluatorList = z.strictObject({ data: z.array(z.strictObject(facts)) });
export const evaluatorAnswer = z.strictObject({
  data: z.strictObject({
    ...facts,
    at_work: z.array(
      z.strictObject({
        step: z.int(),
        evaluation: text,
        queued: z.boolean(),
        run_id: text.nullable(),
        replaced_by: z.int().nullable(),
        failure: failure.nullable(),
      }),
    ),
    records: z.array(record).describe("In the order of steps."),
    series: z.record(text, z.array(point)).describe("By name, in the order of steps."),
    advice,
  }),
});
export const evaluatorPlan = z.strictObject({ ...plannedFields, data: z.strictObject({ name: text }) });
export const stepAnswer = z.strictObject({
  data: z.strictObject({
    step: z.int(),
    due: z.array(text).describe("Evaluations that are due at it."),
    records: z.array(record),
    paused,
    served: z.boolean(),
  }),
});
export const pointsAnswer = z.strictObject({ data: z.array(point), next: z.int(), more: z.boolean(), open: z.int() });
