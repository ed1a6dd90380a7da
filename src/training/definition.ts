import type { JsonObject } from "../config/plan/run-config.ts";

/** What an evaluator of a training loop is, as it is stored and shown: everything said, defaults filled in. Absent = there is none of it. */
export interface EvaluatorDefinition {
  /** Each makes one run of a step that it is due at. */
  readonly evaluations: readonly Evaluation[];
  /** What becomes of older steps of the same evaluation that are not finished when another is posted. */
  readonly on_older: (typeof ON_OLDER)[number];
  readonly early_stopping: EarlyStopping;
  /** Where points are posted. */
  readonly mlflow?: MlflowTarget;
}

export interface Evaluation {
  /** Within the evaluator; part of the names of its metrics. */
  readonly name: string;
  /** `isDue`; 0 = only when training is over. */
  readonly run_every: number;
  /** Names of what is taken from its runs. */
  readonly metrics: readonly string[];
  /** Dotted paths into tasks' metadata: those of the metrics that are made of rewards are taken for each value too. Absent = none. */
  readonly breakdown_keys?: readonly string[];
  /** A table of a config file as `eval run FILE.toml` reads it, for one evaluation, without the model. */
  readonly eval: JsonObject;
}

/** Which metric says which step is best, and when to stop. */
export interface EarlyStopping {
  /** `val/<evaluation>/<metric>`. */
  readonly metric: string;
  readonly mode: (typeof MODES)[number];
  /** Better by no more than this is not better. */
  readonly min_delta: number;
  /** So many evaluations in a row that were not better are the advice to stop; absent = it is never given. */
  readonly patience?: number;
}

export interface MlflowTarget {
  /** Of the tracking server, without `/api`. */
  readonly tracking_uri: string;
  /** The run of MLflow that the trainer made. */
  readonly run_id: string;
  /** Name of a secret or variable: its value is sent as a bearer token. Absent = nothing is. */
  readonly token_var?: string;
}

/** `keep`: they go on beside it. `replace`: they are cancelled, and make room. `queue`: it waits until they have finished. */
export const ON_OLDER = ["keep", "replace", "queue"] as const;
export const MODES = ["max", "min"] as const;

/** What is taken where nothing is named. */
export const USUAL_METRICS = ["mean_reward", "pass_rate"] as const;

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** What a team may call an evaluator, and an evaluator one of its evaluations. */
export const isEvaluatorName = (text: string): boolean => NAME.test(text);
export const EVALUATOR_NAME_RULE = "must have 1 to 64 letters, digits, _, - and ., a letter or digit first";

/** The name of a metric in the trainer's logs, and in whatever points are posted to. */
export const metricName = (evaluation: string, metric: string): string => `val/${evaluation}/${metric}`;
