import type { JsonObject } from "../../config/plan/run-config.ts";
import { floatText, jsonWithFloats } from "./float-text.ts";

/** Numbers of a row that are integers, or as the data set has them. Every other one may be a fraction in another row. */
const WHOLE: ReadonlySet<string> = new Set(["example_id", "rollout_index", "answer"]);

/** Parts that hold no number of ours: they are written as they are, and they are nearly all of a row's bytes. */
const AS_IT_IS: ReadonlySet<string> = new Set(["prompt", "completion", "answer", "info", "tool_defs", "error"]);

const always = (): boolean => true;
/** The Python library adds tokens up as floats; those of the final context it counts. */
const isUsage = (key: string): boolean => key === "input_tokens" || key === "output_tokens";
/** In state columns (`trajectory`), whose other numbers are token ids, counts and whatever an environment keeps. */
const isScore = (key: string): boolean => key === "reward" || key === "advantage" || key.endsWith("logprob") || key.endsWith("logprobs");
const isDollars = (key: string): boolean => key.endsWith("_usd");
const FLOATS: Readonly<Record<string, (key: string) => boolean>> = {
  metrics: always,
  timing: always,
  token_usage: isUsage,
  usage: isUsage,
  usage_cost: always,
  judge_usage: isDollars,
};

/** Line separators that JSON leaves bare and some line readers (Python's `splitlines`) cut at. */
const SEPARATORS = /[\u0085\u2028\u2029]/g;

/** JSON of which every line reader takes one line for one. */
export const escapedSeparators = (json: string): string => json.replace(SEPARATORS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * The line of a row, without the newline, with floats where the Python library has them: reward, metrics and their
 * copies, times, tokens in `token_usage`, dollars, and state columns that are numbers.
 */
export function rowText(row: JsonObject): string {
  const fields: string[] = [];
  for (const [key, value] of Object.entries(row)) {
    const text = valueText(key, value);
    if (text !== undefined) fields.push(`${JSON.stringify(key)}:${text}`);
  }
  return escapedSeparators(`{${fields.join(",")}}`);
}

function valueText(key: string, value: unknown): string | undefined {
  if (typeof value === "number" && !WHOLE.has(key)) return floatText(value);
  if (typeof value !== "object" || value === null || AS_IT_IS.has(key)) return JSON.stringify(value);
  return jsonWithFloats(value, Object.hasOwn(FLOATS, key) ? (FLOATS[key] ?? isScore) : isScore, key);
}
