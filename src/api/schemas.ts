import { z } from "zod";
import { isDigest, isRunId } from "../../r2-layout/keys.ts";
import { evalConfigShape, resumeShape } from "../config/options/option-schemas.ts";
import { OPTIONS } from "../config/options/options.ts";
import { RESCORE_OPTIONS } from "../config/options/rescore-options.ts";
import { plainText } from "../config/plain-text.ts";
import { RESULTS_SHAPES } from "../config/plan/run-config.ts";
import { customSecrets } from "./secrets/secret-schemas.ts";
import { ENVIRONMENT_ID } from "./environment-ids.ts";

/** Bodies and queries of the HTTP door. Unknown fields are refused at every level: a misspelt setting must not be a silent default. */

/** What a run allows its environment, as the `prime` client always says it (src/environments/definition/access.ts). */
export const HOSTED_FIELDS = ["allow_sandbox_access", "allow_instances_access", "allow_tunnel_access"] as const;

const digest = z.string().refine(isDigest, "must be a sha256 digest in lower-case hex");
const runId = z.string().refine(isRunId, "must be a run id: eight hex characters");
const environmentId = z.string().max(200).regex(ENVIRONMENT_ID, "must be an environment id: name, owner/name or owner/name@version");
/** Runs of one creation: each takes a write and a call, and clients wait 30 seconds. */
export const MAX_ENVIRONMENTS = 32;

/** One of several places that serve the model; a key variable it does not name is the request's. */
const replica = z.strictObject({
  api_base_url: OPTIONS.api_base_url.schema,
  api_key_var: OPTIONS.api_key_var.schema.optional(),
  headers: OPTIONS.headers.schema.optional(),
});
/** A folder was gone on with by so many versions of its environment at most. */
const MAX_ENV_DIGESTS = 64;
/** Each takes a client of its own in every executor. */
const MAX_REPLICAS = 64;

/** Rollouts that are there are scored again, and none is made. */
const rescore = z
  .strictObject({
    run_id: runId.optional().describe("A settled run of the caller's team."),
    results: digest
      .optional()
      .describe("In place of run_id: the upload of a manifest (r2-layout/folder-manifest.ts) of the parts of a results folder, in ascending order."),
    /** What the folder says of itself. */
    source: z
      .strictObject({
        run_id: runId.nullable().optional(),
        env_id: plainText(200).optional(),
        env_digest: plainText(100).nullable().optional(),
        rows_sha256: digest.nullable().optional(),
      })
      .optional(),
    /** Shape of the folder's rows. */
    results_shape: z.enum(RESULTS_SHAPES).optional(),
    rubric: RESCORE_OPTIONS.rubric.schema.optional().describe(RESCORE_OPTIONS.rubric.help),
    errors_only: RESCORE_OPTIONS.errors_only.schema.optional().describe(RESCORE_OPTIONS.errors_only.help),
    examples: RESCORE_OPTIONS.examples.schema.optional().describe(RESCORE_OPTIONS.examples.help),
  })
  .refine(({ run_id, results }) => (run_id === undefined) !== (results === undefined), { path: ["run_id"], error: "must be given, or results: one of them" })
  .refine(({ run_id, source }) => run_id === undefined || source === undefined, { path: ["source"], error: "is for results: a run says itself what it is" });

/** Whoever creates evaluations one by one says itself which of them keep to one limit. */
const commonLimit = z
  .strictObject({
    id: z.string().regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -"),
    concurrent: OPTIONS.max_concurrent_total.schema,
  })
  .describe("The most requests in flight of all evaluations of the team that carry the same id, which call one endpoint with one key and one model.");

const evalConfig = z
  .strictObject({
    ...evalConfigShape(),
    common_limit: commonLimit.optional(),
    replicas: z.array(replica).min(1).max(MAX_REPLICAS).optional(),
    custom_secrets: customSecrets.optional().describe("Secrets of this run, by name: kept encrypted until it has settled."),
  })
  .refine(({ replicas, api_base_url, api_client_type }) => replicas === undefined || (api_base_url === undefined && api_client_type !== "workers_ai"), {
    path: ["replicas"],
    error: "say themselves where the model is called: leave out api_base_url, and the client type workers_ai",
  });

export const createBody = z
  .strictObject({
    environment_ids: z.array(environmentId).min(1, "must name an environment").max(MAX_ENVIRONMENTS),
    inference_model: OPTIONS.model.schema.optional().describe(`${OPTIONS.model.help}, or an endpoint that the service keeps; left out with endpoint_id.`),
    name: plainText(200).nullable().optional(),
    dataset_name: plainText(200).optional().describe("What an uploaded data set is called, for people."),
    team_id: plainText(200).nullable().optional(),
    eval_config: evalConfig.default({}),
    max_concurrent_total: OPTIONS.max_concurrent_total.schema.optional().describe(OPTIONS.max_concurrent_total.help),
    /** Goes on with a run of which only its result folder is left; `results` is the upload of its results.jsonl. */
    resume_from: z
      .strictObject({
        run_id: runId,
        results: digest,
        /** `results` names a manifest (r2-layout/folder-manifest.ts) of parts that are uploads of their own. */
        in_parts: z.literal(true).optional(),
        dataset_digest: digest.nullable(),
        keep_errors: z.boolean(),
        /** Of the code of its rows, oldest first, as its metadata says; compared with the code there is now. */
        env_digests: z
          .array(z.string().regex(/^[\w:.-]{1,100}$/, "must be digests"))
          .min(1)
          .max(MAX_ENV_DIGESTS)
          .optional(),
        accept_code_change: OPTIONS.accept_code_change.schema.optional(),
        /** Examples that the folder says it is of: a data set that has fewer now is refused. */
        num_examples: z.int().min(0).optional(),
        /** New rows look like those of the folder. */
        results_shape: z.enum(RESULTS_SHAPES).optional(),
      })
      .optional(),
    rescore: rescore
      .optional()
      .describe("Scores the rollouts of a run or a results folder again, by the environment named, instead of making any (docs/rescore.md)."),
  })
  .refine(({ max_concurrent_total, eval_config }) => max_concurrent_total === undefined || eval_config.common_limit === undefined, {
    path: ["eval_config", "common_limit"],
    error: "says the same as max_concurrent_total: leave one of the two out",
  })
  .refine(({ environment_ids, rescore }) => rescore === undefined || environment_ids.length === 1, {
    path: ["environment_ids"],
    error: "must name one environment where rollouts are scored again",
  })
  .refine(({ resume_from, rescore }) => rescore === undefined || resume_from === undefined, {
    path: ["rescore"],
    error: "makes a new run: leave out resume_from",
  })
  .refine(({ environment_ids, resume_from }) => resume_from === undefined || environment_ids.length === 1, {
    path: ["environment_ids"],
    error: "must name one environment where a folder is gone on with",
  })
  .refine(({ inference_model, eval_config, rescore }) => inference_model !== undefined || eval_config.endpoint_id !== undefined || rescore !== undefined, {
    path: ["inference_model"],
    error: "must be given, or eval_config.endpoint_id",
  })
  .refine(({ inference_model, eval_config }) => inference_model === undefined || eval_config.endpoint_id === undefined, {
    path: ["eval_config", "endpoint_id"],
    error: "names a model already: leave out inference_model, or leave out endpoint_id",
  });
export type CreateBody = z.infer<typeof createBody>;

/** A config file as one JSON object: `[[eval]]`, `[[ablation]]`, settings for all of them; keys are checked by `planEvals`, which knows their tables. */
const configTables = z.array(z.record(z.string(), z.json())).optional();
export const configBody = z
  .object({
    eval: configTables.describe("Evaluations, each with env_id and settings of its own."),
    ablation: configTables.describe("Settings, and in sweep lists of settings: one evaluation for each combination."),
    endpoint: configTables.describe("Entries of an endpoint registry, which endpoint_id and model may name."),
    limit: configTables.describe("What endpoints bear, for all evaluations: as the limits of a creation."),
    price: configTables.describe("What models cost, for all evaluations: as the prices of a creation."),
  })
  .catchall(z.json())
  .describe("A config file. Other fields are settings for all evaluations.");

export const resumeBody = z.strictObject({
  ...resumeShape(),
  /** Of the command that goes on with the run; left out it keeps the one it has, unless `max_concurrent` is given. */
  common_limit: commonLimit.optional(),
  /** Again, since they are removed when the run has settled; those of a run that has not are kept where this is left out. */
  custom_secrets: customSecrets.optional(),
  /** Of another upload, for a run that has no row yet. */
  dataset_name: plainText(200).optional(),
  /** What the caller believes the run to be; a difference is refused, except in `base_url`, which is taken over with a warning. */
  expect: z
    .strictObject({
      env_id: plainText(200).optional(),
      env_version: plainText(200).optional(),
      env_args: OPTIONS.env_args.schema.optional(),
      model: plainText(256).optional(),
      rollouts_per_example: OPTIONS.rollouts_per_example.schema.optional(),
      sampling_args: OPTIONS.sampling_args.schema.optional(),
      extra_env_kwargs: OPTIONS.extra_env_kwargs.schema.optional(),
      api_client_type: OPTIONS.api_client_type.schema.optional(),
      independent_scoring: OPTIONS.independent_scoring.schema.optional(),
      state_columns: OPTIONS.state_columns.schema.optional(),
      shuffle_seed: OPTIONS.shuffle_seed.schema.optional(),
      cluster_by: OPTIONS.cluster_by.schema.optional(),
      order: OPTIONS.order.schema.optional(),
      base_url: OPTIONS.api_base_url.schema.optional(),
    })
    .default({}),
});
export type ResumeBody = z.infer<typeof resumeBody>;

export const emptyBody = z.strictObject({});

/** What stands in a query as text and means a number: schema → JSON Schema of its meaning. */
export const WIRE = new Map<unknown, { readonly type: "integer"; readonly minimum: number; readonly maximum: number }>();

/** A whole number in a query: digits only, up to the largest exact integer. */
export function wholeNumber(least = 0, most = 999_999_999_999_999) {
  const wanted = most === 999_999_999_999_999 ? `must be a whole number of at least ${least}` : `must be a whole number between ${least} and ${most}`;
  const digits = z.string().refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most, wanted);
  const schema = digits.transform(Number);
  WIRE.set(schema, { type: "integer", minimum: least, maximum: most });
  return schema;
}

/** Of the page that lists runs. */
export const pageQuery = z.strictObject({ page: wholeNumber(1).default(1), team: plainText(200).optional() });

/** What the `prime` client asks of the user. */
export const whoamiQuery = z.strictObject({ teamId: plainText(200).optional() });
export const teamsQuery = z.strictObject({ offset: wholeNumber().default(0), limit: wholeNumber().default(50) });

export const eventsQuery = z.strictObject({ after: wholeNumber().default(0) });

export const MAX_ROWS_BYTES = 64 * 1024 * 1024;
export const rowsQuery = z.strictObject({
  after: wholeNumber().default(0),
  limit_bytes: wholeNumber(1, MAX_ROWS_BYTES).default(4 * 1024 * 1024),
});

export const logQuery = z.strictObject({ after: wholeNumber().optional().describe("Of eval.log only: lines after this event, a page of them.") });

/** Rows of one page of samples. */
export const MAX_SAMPLES = 1000;
export const samplesQuery = z.strictObject({
  page: wholeNumber(1).default(1),
  limit: wholeNumber(1, MAX_SAMPLES).default(100),
  open: z.enum(["true", "false"]).default("false").describe("With `true` also generated rollouts of examples that are not complete, behind all rows."),
});
