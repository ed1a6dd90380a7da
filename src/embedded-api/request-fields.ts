import { z } from "zod";
import { canonicalJson } from "../config/canonical-json.ts";
import { badRequest, refusalOf } from "./openai-error.ts";

/** The fields of a request: those that are honoured, those that change nothing and are passed over, those that are refused. */

/** A number within bounds; refused in OpenAI's words. */
function bounded(kind: "integer" | "decimal", least: number, most: number) {
  return z.number().superRefine((value, context) => {
    const refuse = (message: string, code: string): void => context.addIssue({ code: "custom", message, params: { code } });
    if (kind === "integer" && !Number.isSafeInteger(value)) refuse("expected an integer, but got a decimal instead", "invalid_type");
    else if (value > most) refuse(`${kind} above maximum value. Expected a value <= ${most}, but got ${value} instead`, `${kind}_above_max_value`);
    else if (value < least) refuse(`${kind} below minimum value. Expected a value >= ${least}, but got ${value} instead`, `${kind}_below_min_value`);
  });
}
export const integer = (least: number, most: number = Number.MAX_SAFE_INTEGER) => bounded("integer", least, most);
export const decimal = (least: number, most: number) => bounded("decimal", least, most);

const MAX_STOPS = 4;
/** Choices of one request: all of them are held until the last is made. */
export const MAX_CHOICES = 1024;
const MAX_N = 128;

const stop = z
  .preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z.array(z.string().min(1, "an empty text would end every answer")).superRefine((texts, context) => {
      if (texts.length <= MAX_STOPS) return;
      const message = `array too long. Expected an array with maximum length ${MAX_STOPS}, but got an array with length ${texts.length} instead`;
      context.addIssue({ code: "custom", message, params: { code: "array_above_max_length" } });
    }),
  )
  .nullish();

/** Honoured by both routes. Null means the same as a field that is absent, as in OpenAI's API. */
export const SAMPLING_FIELDS = {
  model: z.string(),
  n: integer(1, MAX_N)
    .nullish()
    .transform((given) => given ?? 1),
  seed: integer(Number.MIN_SAFE_INTEGER).nullish(),
  stop,
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() }).nullish(),
  temperature: decimal(0, 2).nullish(),
  top_p: decimal(0, 1).nullish(),
};

/** Our own, for demonstrations: a wait before the answer, and the share of requests that are refused with a server error. */
export const DEMONSTRATION_FIELDS = {
  latency_ms: decimal(0, 60_000).nullish(),
  error_rate: decimal(0, 1).nullish(),
};

/** Accepted and passed over: they are about accounts, caches and records, and cannot change the answer. */
export const IGNORED_FIELDS = [
  "metadata",
  "parallel_tool_calls",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier",
  "service_tier",
  "store",
  "user",
] as const;

/**
 * Refused, since the model cannot do what they ask for and an answer that looks as if it had would be wrong. The values listed ask
 * for nothing and pass.
 */
export const REFUSED_FIELDS = {
  audio: [],
  best_of: [1],
  frequency_penalty: [0],
  function_call: ["none", "auto"],
  functions: [[]],
  logit_bias: [{}],
  modalities: [["text"]],
  prediction: [],
  presence_penalty: [0],
  reasoning_effort: ["none"],
  response_format: [{ type: "text" }],
  suffix: [""],
  tool_choice: ["none", "auto"],
  tools: [[]],
  verbosity: ["medium"],
  web_search_options: [],
} as const satisfies Record<string, readonly unknown[]>;

/** Checks a body against the fields of a route; throws an `OpenAiError` that names the first field that is wrong. */
export function parseRequest<Shape extends z.ZodRawShape>(shape: Shape, body: unknown): z.infer<z.ZodObject<Shape>> {
  const honoured = z.strictObject(shape).safeParse(withoutNeutral(body), { reportInput: true });
  if (!honoured.success) throw refusalOf(honoured.error.issues);
  return honoured.data;
}

/** The body without the fields that are passed over. Throws for a field whose wish cannot be met. */
function withoutNeutral(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if ((IGNORED_FIELDS as readonly string[]).includes(name)) continue;
    if (!Object.hasOwn(REFUSED_FIELDS, name)) rest[name] = value;
    else if (!asksForNothing(name as keyof typeof REFUSED_FIELDS, value)) {
      throw badRequest(`Unsupported parameter: '${name}' is not supported with this model.`, name, "unsupported_parameter");
    }
  }
  return rest;
}

const asksForNothing = (name: keyof typeof REFUSED_FIELDS, value: unknown): boolean =>
  value === null || REFUSED_FIELDS[name].some((neutral) => canonicalJson(neutral) === canonicalJson(value));
