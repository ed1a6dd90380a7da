import { z } from "zod";
import { DISPLAY_OPTIONS } from "./display-options.ts";
import { HOSTED_OPTIONS } from "./hosted-options.ts";
import { EXECUTION_OPTIONS } from "./execution-options.ts";
import { FORECAST_OPTIONS } from "./forecast-options.ts";
import { stateHeaderNames, staticHeaders } from "../endpoints/headers.ts";
import { didYouMean } from "../nearest.ts";
import { type Option, option } from "./option.ts";
import { clientType, endpointUrl, jsonObject, keyVariable, rowKey, shortText } from "./option-values.ts";
import { plainText } from "../plain-text.ts";
import { EMBEDDED_BASE_URL, PROVIDER_NAMES, PROVIDERS } from "../endpoints/providers.ts";
import { HUB_OPTIONS } from "./hub-options.ts";
import { PYTHON_OPTIONS } from "./python-options.ts";
import { STOPPING_OPTIONS } from "./stopping-options.ts";
import { CLIENT_TYPES, ORDERS } from "../plan/run-config.ts";
import { MAX_TOKENS, samplingArgs } from "./sampling-args.ts";

/**
 * Every setting of a run, defined once: the flags and help of the command line, the keys of a TOML table and the schema of a
 * creation over HTTP are derived from this table. Values are meant as `verifiers` means them unless the help says otherwise.
 */

/** All rollouts of an example are one unit with one row in the ledger; at this bound it stays below the 2 MB of a row. */
export const MAX_ROLLOUTS_PER_EXAMPLE = 1024;
/** Minutes a run created over HTTP may take when the request says nothing. */
export const HTTP_TIMEOUT_MINUTES = 120;

/** Most examples of one run; units are numbered densely, and nobody evaluates this many. */
const MAX_EXAMPLES = 100_000_000;

export const OPTIONS = {
  env_args: option({
    kind: "json",
    short: "a",
    aliases: ["args"],
    schema: jsonObject,
    default: {},
    http: ["eval_config", "env_args"],
    value: "JSON",
    help: "arguments of the environment, as a JSON object; `dataset` may name a file, an https URL or sha256:<digest>",
  }),
  model: option({
    kind: "text",
    short: "m",
    schema: shortText(256),
    default: "openai/gpt-4.1-mini",
    http: ["body", "inference_model"],
    value: "MODEL",
    help: "model id, as the endpoint knows it",
  }),
  endpoint_id: option({
    kind: "text",
    schema: shortText(256),
    default: undefined,
    http: ["eval_config", "endpoint_id"],
    only: "toml",
    help: "entry of the endpoint registry, or an endpoint that the service keeps: its model, addresses and key variables",
  }),
  endpoints_path: option({
    kind: "path",
    short: "e",
    schema: z.string().min(1),
    default: "./configs/endpoints.toml",
    http: null,
    value: "PATH",
    help: "endpoint registry, or a folder with endpoints.toml: a name that it has may be given as -m",
  }),
  provider: option({
    kind: "text",
    schema: z.enum(PROVIDER_NAMES, {
      error: ({ input }) => `there is no such provider${didYouMean(input, PROVIDER_NAMES)}; known are ${PROVIDER_NAMES.join(", ")}`,
    }),
    default: undefined,
    http: null,
    value: "NAME",
    help: `endpoint and key variable by name (-p): ${PROVIDER_NAMES.join(", ")} (${EMBEDDED_BASE_URL}: the small model that comes along, no key); -b and -k win`,
  }),
  api_base_url: option({
    kind: "text",
    short: "b",
    schema: endpointUrl,
    default: PROVIDERS.prime.base_url,
    http: ["eval_config", "api_base_url"],
    resume: true,
    value: "URL",
    help: "base URL of the model endpoint; a deployment may have another default (API_BASE_URL)",
  }),
  api_key_var: option({
    kind: "text",
    short: "k",
    schema: keyVariable,
    default: PROVIDERS.prime.api_key_var,
    http: ["eval_config", "api_key_var"],
    resume: true,
    value: "NAME",
    help: "name of the variable that holds the key; the key itself is never stored",
  }),
  api_client_type: option({
    kind: "text",
    schema: clientType,
    default: "openai_chat_completions",
    http: ["eval_config", "api_client_type"],
    value: "TYPE",
    help: `how the endpoint is spoken to: ${CLIENT_TYPES.join(", ")}`,
  }),
  num_examples: option({
    kind: "integer",
    short: "n",
    schema: z.int().min(-1).max(MAX_EXAMPLES),
    default: 5,
    http: ["eval_config", "num_examples"],
    resume: true,
    value: "N",
    help: "examples from the front of the data set; 0 or -1 = all",
  }),
  shuffle: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "shuffle"],
    help: "take the examples from the whole data set, as --shuffle-seed decides; results keep the order of the data set, and such a run cannot grow",
  }),
  shuffle_seed: option({
    kind: "integer",
    schema: z.int().min(0),
    default: 0,
    http: ["eval_config", "shuffle_seed"],
    value: "N",
    help: "which examples --shuffle takes",
  }),
  order: option({
    kind: "text",
    schema: z.enum(ORDERS),
    default: "permuted",
    http: ["eval_config", "order"],
    value: ORDERS.join("|"),
    help: "in which order examples are played: permuted = in a random one, so that what is done at any time says what all will say; data = that of the data set. Results are sorted by example either way",
  }),
  rollouts_per_example: option({
    kind: "integer",
    short: "r",
    schema: z.int().min(1).max(MAX_ROLLOUTS_PER_EXAMPLE),
    default: 3,
    http: ["eval_config", "rollouts_per_example"],
    value: "N",
    help: "attempts at each example",
  }),
  ...STOPPING_OPTIONS,
  ...FORECAST_OPTIONS,
  ...EXECUTION_OPTIONS,
  max_tokens: option({
    kind: "integer",
    short: "t",
    schema: z.int().min(1).max(MAX_TOKENS),
    default: undefined,
    http: null,
    value: "N",
    help: "most tokens of one answer; --sampling-args wins",
  }),
  temperature: option({
    kind: "number",
    short: "T",
    schema: z.number().min(0).max(100),
    default: undefined,
    http: null,
    value: "X",
    help: "sampling temperature; --sampling-args wins",
  }),
  sampling_args: option({
    kind: "json",
    short: "S",
    aliases: ["sampling"],
    schema: samplingArgs,
    default: {},
    http: ["eval_config", "sampling_args"],
    value: "JSON",
    help: "sampling arguments as a JSON object; fields only the provider knows go in `extra_body`",
  }),
  extra_env_kwargs: option({
    kind: "json",
    short: "x",
    schema: jsonObject,
    default: {},
    http: ["eval_config", "extra_env_kwargs"],
    value: "JSON",
    help: "options of the environment itself (such as max_turns), as a JSON object, over those that its loader chose",
  }),
  headers: option({
    kind: "table",
    flag: "header",
    schema: staticHeaders,
    default: {},
    http: ["eval_config", "headers"],
    resume: true,
    value: "NAME: VALUE",
    help: "sent with every model request; may be given again; never a key (see -k)",
  }),
  headers_from_state: option({
    kind: "table",
    flag: "header-from-state",
    schema: stateHeaderNames,
    default: {},
    http: ["eval_config", "headers_from_state"],
    resume: true,
    value: "NAME: STATE_KEY",
    help: "sent with every model request, with the value that the rollout's state has then; may be given again. X-Session-ID: example_id is sent unless it is replaced",
  }),
  state_columns: option({
    kind: "list",
    short: "C",
    schema: z.array(plainText(128).refine((name) => name !== "__proto__", "is no name of a column")).max(64),
    default: [],
    http: ["eval_config", "state_columns"],
    value: "A,B",
    help: "state keys copied into every row; judge_response: what judges were shown and what they said",
  }),
  cluster_by: option({
    kind: "text",
    short: "g",
    schema: rowKey,
    default: undefined,
    http: ["eval_config", "cluster_by"],
    value: "KEY",
    help: "intervals count examples with the same KEY (a column of `info` or of the row, such as a passage that several share) as one observation",
  }),
  independent_scoring: option({
    kind: "switch",
    short: "i",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "independent_scoring"],
    help: "score every rollout by itself instead of all rollouts of an example together",
  }),
  max_retries: option({
    kind: "integer",
    schema: z.int().min(0).max(100),
    default: 0,
    http: ["eval_config", "max_retries"],
    resume: true,
    value: "N",
    help: "times a rollout that ended in an infrastructure error is run again, after the retries of its requests",
  }),
  timeout: option({
    kind: "number",
    schema: z.number().positive().max(86_400),
    default: undefined,
    http: null,
    value: "SECONDS",
    help: "time for generating one rollout, waiting for its turn left out, after which it ends as it is, or in an error where the server has said nothing (the environment's timeout_seconds; -x wins)",
  }),
  timeout_minutes: option({
    kind: "integer",
    schema: z.int().min(1).max(1440),
    default: undefined,
    http: ["eval_config", "timeout_minutes"],
    resume: true,
    value: "N",
    help: `end the run after so many minutes, keeping its results (1 to 1440; over HTTP ${HTTP_TIMEOUT_MINUTES} when not given)`,
  }),
  verbose: option({
    kind: "switch",
    short: "v",
    schema: z.boolean(),
    default: false,
    http: ["eval_config", "verbose"],
    resume: true,
    besideToml: true,
    help: "log at debug level: grants, commits, every repeated request and debug lines of environment code; what that code prints is shown too",
  }),
  keep_errors: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    resume: true,
    besideToml: true,
    help: "when resuming, leave rollouts that ended in an error as they are",
  }),
  accept_code_change: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    resume: true,
    besideToml: true,
    help: "when resuming, go on though the environment's code is another than the run's: each new row names the code that made it (env_digest), metadata and report say so",
  }),
  resume: option({
    kind: "optional_path",
    short: "R",
    aliases: ["resume_path"],
    schema: z.union([z.boolean(), z.string().min(1)], "must be the path of a results folder, true (the newest unfinished run) or false"),
    default: undefined,
    http: null,
    value: "PATH",
    help: "go on with the run in this results folder; without PATH with the newest unfinished one of exactly these settings, defaults included",
  }),
  env_dir_path: option({
    kind: "path",
    schema: z.string().min(1),
    default: "./environments",
    http: null,
    value: "DIR",
    help: "folder of your own environments: NAME is looked for in its folder NAME first",
  }),
  benchmarks_path: option({
    kind: "path",
    schema: z.string().min(1),
    default: "./benchmarks",
    http: null,
    value: "DIR",
    help: "folder of benchmarks: NAME that is no environment is looked for in it, by the name of a folder, or the id or name in its metadata.yaml",
  }),
  output_dir: option({
    kind: "path",
    short: "o",
    schema: z.string().min(1),
    default: undefined,
    http: null,
    value: "DIR",
    help: "base folder of the results; default: outputs of the environment's folder, else ./outputs",
  }),
  save_results: option({
    kind: "switch",
    short: "s",
    schema: z.boolean(),
    default: true,
    http: null,
    help: "accepted for compatibility: results are saved unless --no-save, or save_results = false in a TOML file, says otherwise",
  }),
  no_save: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "write no results folder",
  }),
  strict: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "refuse what would have no effect (flags beside a config file, keys that nothing reads) instead of warning of it",
  }),
  ...PYTHON_OPTIONS,
  ...DISPLAY_OPTIONS,
  ...HUB_OPTIONS,
  ...HOSTED_OPTIONS,
} as const;

export type OptionName = keyof typeof OPTIONS;
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** The value an option takes after validation. */
export type OptionValue<Name extends OptionName> = z.infer<(typeof OPTIONS)[Name]["schema"]>;

/** What a command line or a config file says, and nothing else: an option that is absent was not given. */
export type GivenOptions = { readonly [Name in OptionName]?: OptionValue<Name> };

/** `num_examples` → `--num-examples`. */
export function longFlag(name: OptionName): string {
  const { flag }: Option = OPTIONS[name];
  return `--${flag ?? name.replaceAll("_", "-")}`;
}

/** Where a creation names the option, as a path from `body`; for options that are not part of one, the option's name. */
export function locationOf(name: OptionName): readonly string[] {
  const { http }: Option = OPTIONS[name];
  if (http === null) return ["body", name];
  return http[0] === "body" ? ["body", http[1]] : ["body", ...http];
}
