import { z } from "zod";
import { plainText } from "../config/plain-text.ts";
import { readsCache } from "../config/plan/run-cache.ts";
import type { Json, JsonObject } from "../config/plan/run-config.ts";
import { EVALUATOR_NAME_RULE, type EvaluatorDefinition, isEvaluatorName, metricName, MODES, ON_OLDER, USUAL_METRICS } from "./definition.ts";
import { type BenchmarkFields, benchmarkRun } from "../config/plan/benchmark-run.ts";
import { evaluationFields, type EvaluationFields, evaluationRun } from "../config/plan/evaluation-run.ts";
import { isUnknownPass, needRewards, UNKNOWN_PASS } from "./run-values.ts";

/** An evaluator as a file or a request says it. One definition for both: what it lacks is filled in by `definitionOf`. */

export const MOST_EVALUATIONS = 20;
const MOST_METRICS = 50;
const MOST_KEYS = 5;
/** Characters of an evaluation's table: each step that is not finished holds a copy. */
const MOST_TABLE = 16_000;

const runEvery = z
  .int()
  .max(1_000_000_000)
  .describe("Evaluate each so many steps: due where step + 1 is a multiple. 0 or less: only when training is over (final).");
const name = z.string().refine(isEvaluatorName, EVALUATOR_NAME_RULE);
const table = z.record(z.string(), z.json());

const evaluation = z.strictObject({
  name: name.optional().describe("Part of the names of its metrics, val/<name>/<metric>; without it the environment's id."),
  run_every: runEvery.optional(),
  metrics: z
    .array(
      plainText(100)
        .min(1)
        .refine((metric) => !isUnknownPass(metric), UNKNOWN_PASS),
    )
    .min(1)
    .max(MOST_METRICS)
    .optional()
    .describe(
      "mean_reward (avg), pass_rate, pass@1, pass@3, pass^3, pass_at_<k>, pass_all_<k>, perplexity, bits_per_byte, or the name of a metric of the environment; without it mean_reward and pass_rate.",
    ),
  breakdown_keys: z
    .array(plainText(100).min(1))
    .min(1)
    .max(MOST_KEYS)
    .optional()
    .describe(
      "Dotted paths into tasks' metadata, of other environments into `info`: metrics over rewards are taken for each value too, as <metric>[<key>=<value>].",
    ),
  benchmark: plainText(300)
    .min(1)
    .optional()
    .describe(
      "Id of an environment, asked as a benchmark: answers of 256 tokens at temperature 0, all tasks once, where the fields beside it say nothing else.",
    ),
  evaluation: plainText(300)
    .min(1)
    .optional()
    .describe("Id of an evaluation, or of any other environment: all its samples, once each, where the fields beside it say nothing else."),
  ...evaluationFields.shape,
  max_tokens: z.int().min(1).optional(),
  limit: z.int().min(1).nullable().optional().describe("The first so many tasks; without it all."),
  num_samples: z.int().min(1).optional().describe("Attempts at each task."),
  n_concurrent: z.int().min(1).optional().describe("Requests side by side."),
  chat_template: z
    .strictObject({ system_prompt: z.string().optional(), user_template: z.string().optional(), enable_thinking: z.boolean().optional() })
    .optional()
    .describe("How tasks are asked; user_template is of the environment benchmark."),
  eval: table.optional().describe("A table of a config file, for one evaluation: env_id, env_args, num_examples and whatever else `eval run FILE.toml` reads."),
});

const fields = z.strictObject({
  run_every: runEvery.optional().describe("Of each evaluation that has none of its own."),
  eval: table.optional().describe("What the tables of its evaluations have in common: an address, a key's name, sampling arguments."),
  evaluations: z.array(evaluation).min(1).max(MOST_EVALUATIONS),
  on_older: z
    .enum(ON_OLDER)
    .optional()
    .describe("Older steps that are not finished when another is posted: keep them (the default), replace them, or queue the new one behind them."),
  early_stopping: z
    .strictObject({
      metric: plainText(200).min(1).optional().describe("val/<evaluation>/<metric>; without it the first metric of the first evaluation."),
      mode: z.enum(MODES).optional().describe("Whether more is better (max, the default) or less (min)."),
      min_delta: z.number().min(0).optional().describe("Better by no more than this is not better; without it 0."),
      patience: z.int().min(1).optional().describe("So many evaluations in a row that were not better are the advice to stop."),
    })
    .optional(),
  mlflow: z
    .strictObject({
      tracking_uri: z
        .string()
        .max(2_000)
        .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), "must be an http or https URL"),
      run_id: z
        .string()
        .regex(/^[\w-]{1,64}$/, "must be the id of a run of MLflow")
        .describe("The run that the trainer made."),
      token_var: plainText(200).min(1).optional().describe("Name of a secret of the team, or of a variable: its value is sent as a bearer token."),
    })
    .optional()
    .describe("A tracking server that points are posted to."),
});

/** What is taken from the step, and may not stand in a table. */
const OF_THE_STEP = ["model"];
/** Of one run alone. */
const OF_A_RUN = ["run_name", "name", "custom_secrets", "id"];

/** Which fields are of what is asked by its name; `temperature` is of either. */
const FIELDS_OF = {
  benchmark: ["max_tokens", "temperature", "limit", "num_samples", "n_concurrent", "chat_template"],
  evaluation: Object.keys(evaluationFields.shape) as readonly (keyof EvaluationFields)[],
} as const;
type Asked = keyof typeof FIELDS_OF;
const ASKED = Object.keys(FIELDS_OF) as readonly Asked[];

const tableIn = (all: JsonObject, key: string): JsonObject => {
  const value = all[key];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
};

type AskedTable = BenchmarkFields & EvaluationFields & { readonly [Key in Asked]?: string | undefined } & { readonly eval?: JsonObject | undefined };

/** The table of one evaluation: its own over the fields of what it asks by name over what all have in common. Arguments of either stand beside each other. */
function tableOf(common: JsonObject, { benchmark, evaluation, eval: own = {}, ...fields }: AskedTable): JsonObject {
  const env_id = benchmark ?? evaluation;
  if (env_id === undefined) return { ...common, ...own };
  const { env_args = {}, sampling_args, ...run } = benchmark === undefined ? evaluationRun(fields) : benchmarkRun(fields);
  const merged = {
    env_args: { ...tableIn(common, "env_args"), ...env_args, ...tableIn(own, "env_args") },
    sampling_args: { ...tableIn(common, "sampling_args"), ...sampling_args, ...tableIn(own, "sampling_args") },
  };
  const filled = Object.entries(merged).filter(([, table]) => Object.keys(table).length > 0);
  return { ...common, env_id, ...run, ...own, ...Object.fromEntries(filled) };
}

/** Checkpoints are mostly served under one name, and answers are known by it. */
const CACHED_STEP = "would answer a step with what an earlier one was asked: leave it out";

export const definitionSchema = fields.superRefine((given, context) => {
  const problem = (path: (string | number)[], message: string): void => context.addIssue({ code: "custom", path, message });
  const { evaluations, eval: common = {}, early_stopping } = given;
  for (const key of [...OF_THE_STEP, ...OF_A_RUN])
    if (Object.hasOwn(common, key)) problem(["eval", key], OF_THE_STEP.includes(key) ? "comes with each step" : "is of one run");
  const names: string[] = [];
  for (const [index, each] of evaluations.entries()) {
    const at = ["evaluations", index];
    const merged = tableOf(common as JsonObject, each as never);
    const { env_id } = merged;
    const own = each.eval ?? {};
    const asked = ASKED.filter((kind) => each[kind] !== undefined);
    if (asked.length > 1) problem([...at, "evaluation"], "is another name for what `benchmark` says: leave one of the two out");
    for (const key of new Set(ASKED.flatMap((kind): readonly (keyof AskedTable)[] => FIELDS_OF[kind]))) {
      const kinds = ASKED.filter((kind) => (FIELDS_OF[kind] as readonly string[]).includes(key));
      if (each[key] !== undefined && !asked.some((kind) => kinds.includes(kind)))
        problem([...at, key], `goes with \`${kinds.join("` or `")}\`: name one, or say it in \`eval\``);
    }
    if (asked.length > 0 && Object.hasOwn(own, "env_id")) problem([...at, "eval", "env_id"], `is said by \`${asked[0]}\``);
    if (each.chat_template?.user_template !== undefined && each.benchmark !== "benchmark")
      problem([...at, "chat_template", "user_template"], `is of the environment benchmark, and ${each.benchmark} makes its own prompts`);
    if (each.breakdown_keys !== undefined && !needRewards(each.metrics ?? USUAL_METRICS))
      problem([...at, "breakdown_keys"], "need a metric that is made of rewards, such as mean_reward");
    if (typeof env_id !== "string") problem([...at, "eval", "env_id"], "must name one environment");
    for (const key of OF_THE_STEP) if (Object.hasOwn(own, key)) problem([...at, "eval", key], "comes with each step");
    for (const key of OF_A_RUN) if (Object.hasOwn(own, key)) problem([...at, "eval", key], "is of one run: evaluations are called by `name` beside `eval`");
    if (readsCache(merged)) problem(readsCache(own) ? [...at, "eval", "cache"] : ["eval", "cache"], CACHED_STEP);
    if (JSON.stringify(merged).length > MOST_TABLE) problem([...at, "eval"], `may have ${MOST_TABLE} characters`);
    const called = each.name ?? defaultName(env_id);
    if (!isEvaluatorName(called)) problem([...at, "name"], `must be given: what stands for it, ${JSON.stringify(called)}, ${EVALUATOR_NAME_RULE}`);
    if (names.includes(called)) problem([...at, "name"], `two evaluations are called ${called}`);
    names.push(called);
  }
  const wanted = early_stopping?.metric;
  const there = evaluations.flatMap(({ metrics = USUAL_METRICS }, index) => metrics.map((metric) => metricName(names[index] ?? "", metric)));
  if (wanted !== undefined && !there.includes(wanted)) problem(["early_stopping", "metric"], `must be one of ${there.join(", ")}`);
});

export type GivenDefinition = z.input<typeof definitionSchema>;

const defaultName = (envId: Json | undefined): string => (typeof envId === "string" ? (envId.split("/").at(-1) ?? "").split("@")[0] || "" : "");

/** With defaults filled in; equal definitions are equal texts. */
export function definitionOf({
  run_every = 0,
  eval: common = {},
  evaluations,
  on_older,
  early_stopping,
  mlflow,
}: z.output<typeof definitionSchema>): EvaluatorDefinition {
  const filled = evaluations.map((each) => {
    const merged = tableOf(common as JsonObject, each as never);
    return {
      name: each.name ?? defaultName(merged.env_id),
      run_every: each.run_every ?? run_every,
      metrics: [...new Set(each.metrics ?? USUAL_METRICS)],
      ...(each.breakdown_keys === undefined ? {} : { breakdown_keys: [...new Set(each.breakdown_keys)] }),
      eval: merged,
    };
  });
  const [first] = filled;
  const { metric = metricName(first?.name ?? "", first?.metrics[0] ?? ""), mode = "max", min_delta = 0, patience } = early_stopping ?? {};
  return {
    evaluations: filled,
    on_older: on_older ?? "keep",
    early_stopping: { metric, mode, min_delta, ...(patience === undefined ? {} : { patience }) },
    ...(mlflow === undefined
      ? {}
      : {
          mlflow: {
            tracking_uri: mlflow.tracking_uri.replace(/\/+$/, ""),
            run_id: mlflow.run_id,
            ...(mlflow.token_var === undefined ? {} : { token_var: mlflow.token_var }),
          },
        }),
  };
}
