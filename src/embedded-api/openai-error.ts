import type { z } from "zod";

/** What stands under `error` in an answer that is none, as OpenAI's API has it. */
interface ErrorFields {
  readonly message: string;
  readonly type: "invalid_request_error" | "server_error";
  /** The field that is wrong; null = no single one. */
  readonly param: string | null;
  readonly code: string | null;
}

type Status = 400 | 404 | 500;

/** A refusal in OpenAI's format; clients go by status and `code`. */
export class OpenAiError extends Error {
  override readonly name = "OpenAiError";
  readonly status: Status;
  readonly fields: ErrorFields;
  constructor(status: Status, message: string, { param = null, code = null }: { readonly param?: string | null; readonly code?: string | null } = {}) {
    super(message);
    this.status = status;
    this.fields = { message, type: status === 500 ? "server_error" : "invalid_request_error", param, code };
  }
}

export const badRequest = (message: string, param: string | null, code: string | null = null): OpenAiError => new OpenAiError(400, message, { param, code });

/** What zod found wrong first, in OpenAI's words. The issues need their input (`reportInput`). */
export function refusalOf(issues: readonly z.core.$ZodIssue[]): OpenAiError {
  const [issue] = issues;
  if (issue === undefined) return badRequest("The request is invalid.", null);
  const param = nameOf(issue.path);
  if (issue.code === "unrecognized_keys") {
    const name = nameOf([...issue.path, issue.keys[0] ?? ""]);
    return badRequest(`Unknown parameter: '${name}'.`, name, "unknown_parameter");
  }
  if (param === "") return badRequest("The body must be a JSON object.", null);
  if (issue.input === undefined) return badRequest(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  if (issue.code === "invalid_type") return badRequest(`Invalid type for '${param}': ${typeText(issue.expected, issue.input)}.`, param, "invalid_type");
  const code = issue.code === "custom" && typeof issue.params?.code === "string" ? issue.params.code : "invalid_value";
  return badRequest(`Invalid '${param}': ${issue.message}.`, param, code);
}

/** `messages[0].content`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => (typeof part === "number" ? `${name}[${part}]` : name === "" ? String(part) : `${name}.${String(part)}`), "");
}

const typeText = (expected: string, input: unknown): string => `expected ${withArticle(wordFor(expected))}, but got ${withArticle(typeOf(input))} instead`;

const wordFor = (expected: string): string => (expected === "number" ? "decimal" : expected === "int" ? "integer" : expected);

const withArticle = (word: string): string => (word === "null" ? word : `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`);

/** The JSON type of a value, in OpenAI's words. */
export function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "decimal";
  return typeof value;
}
