import { EXAMPLES_OF_RESCORE } from "../config/plan/rescored-from.ts";
import { z } from "zod";
import { LIMIT_KINDS } from "../endpoint-limits/limit-kinds.ts";
import { spent } from "./budgets/budget-schemas.ts";
import { callerFacts } from "./people/caller-schemas.ts";
import { batchesOfRun, madeByEvaluator, madeBySchedule, stoppedEarly } from "./runs/run-state-schemas.ts";
import { ROLLOUT_ERRORS, SERVICE_ERRORS } from "../errors/codes.ts";

/** What the service answers. Serves the OpenAPI document; that real answers are as described is tested, not checked at run time. */

const json = z.json();
const text = z.string();
const count = z.int().min(0);
const answeredCalls = z.strictObject({
  calls: count,
  cached: count.describe("Answered by the cache; nothing was sent for them."),
  input_tokens: z.number().describe("Of cached answers; among the run's tokens, too."),
  output_tokens: z.number(),
});
const moment = z.iso.datetime().nullable();
const object = z.record(z.string(), json);
const nothing = z.null();

export const errorBody = z.strictObject({
  detail: z
    .union([text, z.array(z.strictObject({ loc: z.array(z.union([text, z.int()])), msg: text }))])
    .describe("A sentence; with status 422 and code invalid_request a list with the place of each wrong field."),
  code: z.enum(Object.keys(SERVICE_ERRORS) as [string, ...string[]]).describe("What went wrong, for programs."),
  hint: text.optional().describe("What to type or change next."),
});

const failure = z.strictObject({
  code: z.enum([...Object.keys(SERVICE_ERRORS), ...Object.keys(ROLLOUT_ERRORS)] as [string, ...string[]]),
  message: text,
  hint: text.optional(),
});

const status = z.enum(["PENDING", "RUNNING", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"]);
const metrics = z
  .strictObject({ reward: z.number(), metrics: z.record(z.string(), z.number()), error: z.number() })
  .partial()
  .describe("Means over rollouts; error is the share that ended in one. Empty while there are no rollouts.");

/** Fields of a run that the list and the single run share. */
export const common = {
  evaluation_id: text,
  name: text,
  model_name: text,
  dataset: text,
  framework: text.nullable(),
  task_type: text.nullable(),
  eval_type: nothing,
  description: text.nullable(),
  status,
  environment_ids: z.array(text),
  environment_names: z.array(text),
  suite_id: text.nullable(),
  run_id: text.nullable(),
  version_id: text.nullable(),
  tags: z.array(text),
  metrics,
  total_samples: count,
  is_hosted: z.boolean(),
  is_public: z.boolean(),
  viewer_url: text,
  error_message: text.nullable(),
  created_at: moment,
  updated_at: moment,
  user_id: nothing,
};

const dollars = { input_usd: z.number(), output_usd: z.number(), total_usd: z.number() };
export const runCost = z.strictObject({ ...dollars, unpriced_rollouts: count.optional().describe("Rollouts that it is not of, since nobody knows theirs.") });

export const listedMetadata = { env_id: text, model: text, num_examples: z.int(), rollouts_per_example: count };
export const waitsForCode = z.literal(true).describe("It waits for an executor with its code; the run itself says which.");
const interval = z.tuple([z.number(), z.number()]).nullable();
const rateIntervals = z.record(z.string(), interval);
const estimate = z.strictObject({ n: count, mean: z.number(), stderr: z.number().nullable(), ci95: interval });
/** What both forms of our own object have. */
export const state = {
  run_id: text,
  settled: z.boolean(),
  suspended: z.boolean(),
  done_rollouts: count,
  total_rollouts: count,
  reward: z.number().nullable(),
  dataset_name: text.nullable().describe("File name, address, or id with what was chosen of it; null where it has none."),
  n_not_run: count
    .optional()
    .describe(
      "Tasks of the data set that are in no example: beyond `num_examples`, or that nothing here can verify; only where the environment counts its tasks.",
    ),
  reward_ci95: z.tuple([z.number(), z.number()]).nullable().describe("95 % interval of the mean reward, of a settled run."),
  pass_at_k: z.record(z.string(), z.number()).describe("Of a settled run."),
  pass_at_k_ci95: rateIntervals.optional().describe("95 % intervals of pass@k, by k; of a settled run."),
  metric_estimates: z
    .record(z.string(), estimate)
    .optional()
    .describe("Of a settled run, for each metric: observations, mean over examples, standard error and 95 % interval; as many as have room."),
  corpus: z
    .strictObject({
      texts: count,
      nll: z.number().describe("Sum of negative log-likelihoods, in nats."),
      tokens: count,
      bytes: count,
      perplexity: z.number(),
      perplexity_ci95: interval,
      bits_per_byte: z.number().nullable(),
      bits_per_byte_ci95: interval,
    })
    .optional()
    .describe("Of a settled run that scored texts: all of them as one corpus, weighted by tokens."),
  stored_bytes: count.optional().describe("Rows, final files and pinned inputs."),
  origin: z.literal("pushed").optional().describe("Its samples were made elsewhere; absent where they are made here."),
  kept: z.literal(true).optional().describe("However old, it is not removed."),
  removal_at: moment.optional().describe("It is settled, and removed then: the team keeps runs for so long."),
};

export const runState = z.strictObject({
  ...state,
  phase: z.enum(["preparing", "open", "draining", "finalising", "settled"]),
  max_cost: z.number().optional().describe("Dollars that it may spend; absent = it has no budget of its own."),
  budget: spent.optional().describe("Of one run that has max_cost: what is spent of it."),
  max_concurrent: z.int().describe("Model requests at once, as it was created, resumed or set last; 0 or less = no limit."),
  generation: count,
  done_units: count,
  total_units: count,
  open_units: count,
  finished_rollouts: count.describe("Those that are done, and those that have finished in units that are not."),
  stopped_early: stoppedEarly.optional().describe("The rule to stop by is met: what was open is finished, and no other example is played."),
  kept_rollouts: count.describe(
    "Rollouts that are generated and kept, of examples that are not done: no average counts them yet, and a resume does not generate them again.",
  ),
  scoring_until: z
    .number()
    .optional()
    .describe(
      "The run has ended, and what was generated and not scored is scored before it rests, until then at most (Unix milliseconds); cancelling again ends that.",
    ),
  owed_rollouts: count,
  live: z
    .strictObject({
      order: z.enum(["permuted", "data"]),
      examples: count,
      of: count.optional(),
      first_part: z.literal(true).optional(),
      mean: z.number().nullable(),
      ci95: z.tuple([z.number(), z.number()]).nullable(),
      range: z.tuple([z.number(), z.number()]).nullable(),
    })
    .optional()
    .describe(
      "While it goes on: the mean reward of the first examples without a gap, of the random order in which they are played, with its 95 % interval; of a run in the order of its data set that of all that is done, which early on may be far from what it ends with. of: the examples of which these are a random sample; first_part: those are only the first of the data set, and what follows may differ; without `of` they are no sample, and have no interval. range: the mean of all that was begun, if what has no score yet had the lowest and the highest.",
    ),
  errors: z.record(z.string(), count),
  truncated_rollouts: count.describe("Rollouts whose answer was cut off, at the token limit or at the end of the context."),
  tokens: z.strictObject({ input: z.number(), output: z.number() }),
  cost: runCost.nullable().describe("Dollars that the model's answers in its rows cost; null where that is known of none."),
  judges: z
    .strictObject({
      requests: z.number(),
      input: z.number(),
      output: z.number(),
      cost: z
        .strictObject({ requests: count, ...dollars })
        .optional()
        .describe("Dollars, of those of the requests whose cost is known; absent where it is of none."),
    })
    .optional(),
  cache: answeredCalls.extend({ judges: answeredCalls.optional() }).optional().describe("How calls were answered, in a run that reads the cache."),
  batch: batchesOfRun.optional().describe("Of a run whose requests go out in batches: where they stand."),
  grouping_problem: z.string().optional(),
  cluster_by: text.optional().describe("The key of rows over whose groups every interval of the run is; absent where they are over examples."),
  n_clusters: count.optional().describe("Examples, or groups of them, that the interval of the reward is over; this and the next three of a settled run."),
  reward_stderr: z.number().nullable().optional(),
  pass_all_k: z.record(z.string(), z.number()).optional(),
  pass_all_k_ci95: rateIntervals.optional(),
  error_bounds: z
    .strictObject({ answered: z.number().nullable(), worst: z.number(), best: z.number(), unresolved: z.number() })
    .optional()
    .describe("Where rollouts ended in an error: the mean reward of the others, what it would be if these had scored lowest and highest, and their share."),
  vitals: z.strictObject({
    in_flight: count,
    retries: count,
    waiting: count,
    paused_until: z.number().nullable(),
    finished: count.optional(),
    oldest_ms: count.optional().describe("Age of the oldest request in flight."),
    limited: z
      .strictObject({
        bound: z.strictObject({
          kind: z.enum([...LIMIT_KINDS, "pause", "down", "start", "budget"]),
          limit: z.number().nullable().describe("Per minute, or requests at once."),
          source: z.enum(["given", "told", "found", "common"]).nullable(),
        }),
        base_url: text,
        judges: z.literal(true).optional(),
      })
      .optional()
      .describe("The limit that requests wait for: given by a person, told by the endpoint, found by its refusals, common to the evaluations of a command."),
  }),
  executors: count,
  grants: count,
  lapses: count,
  importing: z.boolean().optional(),
  seq: count,
  env_version: text,
  env_digest: text.nullable(),
  env_digests: z.record(z.string(), count).optional().describe("Rollouts by the digest of their code, where the run has several."),
  response_models: z
    .strictObject({
      seen: z.array(z.strictObject({ model: text, system_fingerprint: text.nullable(), answers: count })),
      other_answers: count.optional(),
    })
    .optional()
    .describe(
      "What the model's answers said of the model that gave them (`model`, `system_fingerprint`), with how many did; of judges nothing. Beyond the first eight such pairs answers are only counted.",
    ),
  paused: z.strictObject({ at: z.number() }).optional().describe("Nothing of it begins until somebody continues it, since `at` (Unix milliseconds)."),
  waiting_for: z
    .strictObject({ env_digest: text, found: text.nullable(), until: z.number() })
    .optional()
    .describe("An executor with the code of the run; without one it ends code_changed at `until` (Unix milliseconds)."),
  loading: z
    .strictObject({ attempts: count, message: text, retry_at: z.number() })
    .optional()
    .describe("Loading the environment, or reading its examples, failed by something that may pass: it is tried again at `retry_at` (Unix milliseconds)."),
  hub_push: z
    .strictObject({
      status: z.enum(["pushing", "pushed", "failed"]),
      dataset: text.describe("`owner/name`."),
      public: z.literal(true).optional(),
      url: text.optional().describe("The data set, once all of it is there."),
      commit: text.nullable().optional().describe("Of the push; null where all of it was there already."),
      failure: failure.optional().describe("Of the last attempt."),
      retry_at: z.number().optional().describe("When it is asked for again at the latest, while it is owed (Unix milliseconds)."),
      command: text.optional().describe("What pushes the run by hand, where the service could not."),
    })
    .optional()
    .describe("The push to the Hugging Face Hub, of a run that has completed and is to be pushed."),
  dataset_digest: text.nullable(),
  rescored_from: z
    .strictObject({
      run_id: text.nullable(),
      env_id: text,
      env_digest: text.nullable(),
      rows_sha256: text.nullable(),
      examples: z.enum(EXAMPLES_OF_RESCORE),
      errors_only: z.literal(true).optional(),
      rubric: text.optional(),
      from_folder: z.literal(true).optional().describe("Its rows were uploaded: the service need not know the run."),
      avg_reward: z.number().optional(),
      avg_metrics: z.record(z.string(), z.number()).optional(),
      changed_examples: count,
    })
    .optional()
    .describe("The run whose rollouts this one scores again: the averages of its rows, and how many examples have other scores now."),
  unscored: z
    .strictObject({ rollouts: count, state: z.array(text) })
    .optional()
    .describe("Rollouts that could not be scored again, and the state keys that their rows lack."),
  resumable: z
    .strictObject({ rollouts: count, scores: count })
    .optional()
    .describe("What a resume would do with the code that the service has now: rollouts that would run, and those that would only be scored again."),
  pushed: z
    .strictObject({
      batches: count,
      samples: count.describe("Read so far."),
      examples: count,
      unread_batches: count,
      closing: z.enum(["COMPLETED", "CANCELLED", "FAILED"]).nullable().describe("As it will end, once its rows are in their order; null while more may come."),
      metrics: object.describe("Averages as they were pushed."),
      differences: z
        .array(z.strictObject({ name: text, pushed: z.number(), computed: z.number().nullable() }))
        .describe("Of them, those that its rows do not bear out."),
    })
    .optional(),
  created_by: text.optional().describe("The user who made it, or what made it; absent in runs of before."),
  schedule: madeBySchedule.optional().describe("The schedule that made it."),
  evaluator: madeByEvaluator.optional().describe("The evaluator that made it."),
  ended_by: z.literal("budget").optional().describe("What ended it, where its status does not say: nothing was left in a budget."),
  failure: failure.optional(),
});

const evaluationSettings = object.describe(
  "What is measured and how the model is reached, defaults filled in: runs in which these are equal are the same evaluation.",
);

export const evaluation = z.strictObject({
  ...common,
  team_id: json,
  eval_config: object.describe("The settings in the form in which a creation takes them; never a key."),
  metadata: z
    .looseObject({
      env_id: text,
      model: text,
      num_examples: z.int(),
      rollouts_per_example: count,
      env_args: object,
      base_url: text,
      sampling_args: object,
      extra_env_kwargs: object.optional(),
      shuffle_seed: z.int().optional(),
      cluster_by: text.optional().describe("The key over whose groups intervals are."),
      pass_threshold: z.number(),
      reward_range: z.tuple([z.number(), z.number()]).optional(),
      reward_weights: z.record(z.string(), z.number()).optional(),
      state_columns: z.array(text),
    })
    .describe("Of a pushed evaluation also what else was pushed, whatever that is."),
  started_at: moment,
  finalized_at: moment,
  edgewise: runState.extend({ settings: evaluationSettings }),
});

export const created = z.strictObject({
  evaluation_id: text.describe("The first of evaluation_ids."),
  evaluation_ids: z.array(text).describe("One id per entry of environment_ids, in that order."),
});
export const configCreated = z.strictObject({
  evaluations: z
    .array(z.strictObject({ evaluation_id: text, label: text.describe("The environment, and the settings that vary.") }))
    .describe("In the order of the file."),
  warnings: z.array(text).describe("What the file says that has no effect."),
});
export const settingsOfCreation = z.strictObject({
  evaluations: z.array(z.strictObject({ num_examples: z.int(), settings: evaluationSettings })).describe("One per entry of environment_ids."),
});
export const link = z.strictObject({ is_public: z.boolean(), link: z.string().nullable().describe("Shown this once: only its digest is stored.") });
export const message = z.strictObject({ message: text });
export const resumed = z.strictObject({
  evaluation_id: text,
  owed_rollouts: count,
  owed_scores: count.describe("Of owed_rollouts, those that are only scored again, from their rows."),
  warnings: z.array(text),
});
export const runLogs = z.strictObject({ logs: text.nullable().describe("Null before the first line.") });
export const row = z.looseObject({ example_id: json, reward: z.number() }).describe("A row of results.jsonl, as the verifiers library writes it.");
const openRow = z.looseObject({
  example_id: json,
  reward: z.number().nullable().describe("Null where the rollout is not scored yet."),
  open: z.literal(true).describe("Generated, and of an example that is not complete: no number counts it yet."),
});
export const samplePage = z.strictObject({
  samples: z.array(z.union([openRow, row])),
  total: count,
  page: z.int().min(1),
  limit: z.int().min(1),
  has_more: z.boolean(),
  open: count
    .optional()
    .describe("With `open=true`: of the total, rollouts of examples that are not complete, behind all others; absent where there are none."),
});
export const uploaded = z.strictObject({ dataset: text.describe("sha256:<digest>, as the argument `dataset` takes it.") });
export const upload = z.strictObject({ dataset: text, bytes: count });

export const whoami = z.strictObject({
  data: z.strictObject({
    id: text,
    email: nothing,
    name: text,
    slug: text,
    scope: z.record(z.string(), z.strictObject({ read: z.boolean(), write: z.boolean() })),
    account_limits: nothing,
    key_limits: nothing,
    edgewise: callerFacts,
  }),
});
export const teams = z.strictObject({ data: z.array(object), total_count: count, offset: count, limit: count });
