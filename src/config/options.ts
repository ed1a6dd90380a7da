import { z } from "zod";
import { CLIENT_TYPES, type Json } from "./run-config.ts";
import { isKeyVariable, parseUrl } from "./secrets.ts";

/**
 * Every setting of a run, defined once: the flags and help of the command line, the keys of a TOML table and the schema of a
 * creation over HTTP are derived from this table. Values are meant as in verifiers-spec 1.1 unless the help says otherwise.
 */

/** How the text after a flag is read; `switch` takes none, `optional_path` may be left out (`-R`). */
export type OptionKind = "text" | "integer" | "number" | "json" | "list" | "path" | "optional_path" | "switch";

export interface Option {
  readonly kind: OptionKind;
  /** One letter, without the dash. */
  readonly short: string | null;
  /** Of the value, whichever door it comes in by. */
  readonly schema: z.ZodType;
  /** Used when nothing is given; undefined = the option stays unset. */
  readonly default: Json | undefined;
  /** Place in the body of `POST /hosted-evaluations`; null = not part of it. */
  readonly http: readonly ["eval_config" | "body", string] | null;
  /** May be given again when a run is resumed, under the option's own name. */
  readonly resume: boolean;
  /** Name of the value in the help, for kinds that take one. */
  readonly value: string | null;
  readonly help: string;
}

/** Keeps the literal types (schema, place) that the derived schemas need. */
function option<const S extends z.ZodType<Json>, const H extends Option["http"], D extends z.infer<S> | undefined>(definition: {
  kind: OptionKind;
  schema: S;
  default: D;
  http: H;
  help: string;
  short?: string;
  resume?: boolean;
  value?: string;
}): Option & { readonly schema: S; readonly http: H; readonly default: D } {
  const { short = null, resume = false, value = null } = definition;
  return { ...definition, short, resume, value };
}

const hasControlCharacters = (text: string): boolean => [...text].some((character) => character < " " || character === "\x7f");
const shortText = (most: number) =>
  z
    .string()
    .min(1, { abort: true })
    .max(most)
    .refine((text) => text.trim() !== "" && !hasControlCharacters(text), "must hold more than blanks, and no control characters");
const jsonObject = z.record(z.string(), z.json());

/** An address that may appear in metadata and logs: no user or password in it. */
const httpUrl = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = parseUrl(text);
    return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "";
  }, "must be an http or https URL without user and password");

/** All rollouts of an example are one unit with one row in the ledger; at this bound it stays below the 2 MB of a row. */
export const MAX_ROLLOUTS_PER_EXAMPLE = 1024;
/** Minutes a run created over HTTP may take when the request says nothing. */
export const HTTP_TIMEOUT_MINUTES = 120;

export const OPTIONS = {
  env_args: option({
    kind: "json",
    short: "a",
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
  api_base_url: option({
    kind: "text",
    short: "b",
    schema: httpUrl,
    default: "https://api.pinference.ai/api/v1",
    http: ["eval_config", "api_base_url"],
    resume: true,
    value: "URL",
    help: "base URL of the model endpoint; a deployment may have another default (API_BASE_URL)",
  }),
  api_key_var: option({
    kind: "text",
    short: "k",
    schema: z.string().refine(isKeyVariable, "must be the name of a variable that holds a key: capitals, digits and _, none of the service's own"),
    default: "PRIME_API_KEY",
    http: ["eval_config", "api_key_var"],
    resume: true,
    value: "NAME",
    help: "name of the variable that holds the key; the key itself is never stored",
  }),
  api_client_type: option({
    kind: "text",
    schema: z.enum(CLIENT_TYPES),
    default: "openai_chat_completions",
    http: ["eval_config", "api_client_type"],
    value: "TYPE",
    help: "how the endpoint is spoken to: openai_chat_completions",
  }),
  num_examples: option({
    kind: "integer",
    short: "n",
    schema: z.int(),
    default: 5,
    http: ["eval_config", "num_examples"],
    resume: true,
    value: "N",
    help: "examples from the front of the data set; below 1 = all",
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
  max_concurrent: option({
    kind: "integer",
    short: "c",
    schema: z.int(),
    default: 32,
    http: ["eval_config", "max_concurrent"],
    resume: true,
    value: "N",
    help: "requests in flight at the model endpoint, never more; below 1 = no limit",
  }),
  max_tokens: option({
    kind: "integer",
    short: "t",
    schema: z.int().min(1),
    default: undefined,
    http: null,
    value: "N",
    help: "most tokens of one answer; --sampling-args wins",
  }),
  temperature: option({
    kind: "number",
    short: "T",
    schema: z.number().min(0),
    default: undefined,
    http: null,
    value: "X",
    help: "sampling temperature; --sampling-args wins",
  }),
  sampling_args: option({
    kind: "json",
    short: "S",
    schema: jsonObject,
    default: {},
    http: ["eval_config", "sampling_args"],
    value: "JSON",
    help: "sampling arguments as a JSON object; fields only the provider knows go in `extra_body`",
  }),
  state_columns: option({
    kind: "list",
    short: "C",
    schema: z.array(z.string().max(128)).max(64),
    default: [],
    http: ["eval_config", "state_columns"],
    value: "A,B",
    help: "state keys copied into every row",
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
  timeout_minutes: option({
    kind: "integer",
    schema: z.int().min(1).max(1440),
    default: undefined,
    http: ["eval_config", "timeout_minutes"],
    resume: true,
    value: "N",
    help: `end the run after so many minutes, keeping its results (1 to 1440; over HTTP ${HTTP_TIMEOUT_MINUTES} when not given)`,
  }),
  keep_errors: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    resume: true,
    help: "when resuming, leave rollouts that ended in an infrastructure error as they are",
  }),
  resume: option({
    kind: "optional_path",
    short: "R",
    schema: z.union([z.boolean(), z.string().min(1)]),
    default: undefined,
    http: null,
    value: "PATH",
    help: "go on with the run in this results folder; without PATH with the newest unfinished one of the same settings",
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
    help: "accepted for compatibility: results are always saved (see --no-save)",
  }),
  no_save: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    help: "write no results folder",
  }),
  disable_tui: option({
    kind: "switch",
    short: "d",
    schema: z.boolean(),
    default: false,
    http: null,
    help: "plain lines instead of a progress bar",
  }),
} as const;

export type OptionName = keyof typeof OPTIONS;
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[];

/** The value an option takes after validation. */
export type OptionValue<Name extends OptionName> = z.infer<(typeof OPTIONS)[Name]["schema"]>;

/** `num_examples` → `--num-examples`. */
export const longFlag = (name: OptionName): string => `--${name.replaceAll("_", "-")}`;

/** Where a creation names the option, as a path from `body`; for options that are not part of one, the option's name. */
export function locationOf(name: OptionName): readonly string[] {
  const { http }: Option = OPTIONS[name];
  if (http === null) return ["body", name];
  return http[0] === "body" ? ["body", http[1]] : ["body", ...http];
}
