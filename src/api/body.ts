import type { z } from "zod";
import { depthOf } from "../config/json-depth.ts";
import { EdgewiseError } from "../errors/result.ts";
import { KIB, MAX_BODY_BYTES, MAX_JSON_DEPTH, MIB } from "../limits.ts";
import { type FieldIssue, InvalidRequest, invalid } from "./errors.ts";

/** Arguments and settings only; data goes to `PUT /datasets/{sha256}`. */
export const MAX_JSON_BYTES = MIB;
/** Issues told of one request. */
const MAX_ISSUES = 50;
const MAX_NAME = 128;

const tooLarge = (): EdgewiseError =>
  new EdgewiseError("body_too_large", `The body is larger than ${MAX_JSON_BYTES / KIB} KiB.`, {
    hint: "Upload data with PUT /datasets/{sha256} and name its digest.",
  });

/** Text of a JSON body; "" when there is none. Refuses other media types, which a web page could send without asking first. */
export async function readJsonText(request: Request): Promise<string> {
  if (request.body === null || request.headers.get("content-length") === "0") return "";
  if (typeOf(request) !== "application/json") throw new EdgewiseError("not_json", "The body must be JSON.", { hint: "Send `Content-Type: application/json`." });
  return readText(request.body);
}

const FORM = "application/x-www-form-urlencoded";
/** Fields of a page's own form. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (typeOf(request) !== FORM) throw invalid(["header", "content-type"], `Must be ${FORM}`);
  return new URLSearchParams(request.body === null ? "" : await readText(request.body));
}

const typeOf = ({ headers }: Request): string | undefined => (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();

async function readText(body: ReadableStream): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let text = "";
  let bytes = 0;
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      // Read on to its end, or a client that is still sending sees a broken connection instead of the answer.
      if (bytes <= MAX_JSON_BYTES) text += decoder.decode(chunk, { stream: true });
      else if (bytes > MAX_BODY_BYTES) break;
    }
    if (bytes > MAX_JSON_BYTES) throw tooLarge();
    return text + decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? invalid(["body"], "Not UTF-8 text") : error;
  }
}

/** Parses and checks a JSON body; an empty one counts as `{}`. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, text: string): z.infer<Schema> {
  if (depthOf(text) > MAX_JSON_DEPTH) throw invalid(["body"], `Nested deeper than ${MAX_JSON_DEPTH} levels`);
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    throw invalid(["body"], "Not valid JSON");
  }
  const path = unusableName(value);
  if (path !== null) throw invalid(["body", ...path], "Not usable as a name");
  return check(schema, value, "body");
}

/** Checks anything against a schema; every issue is named with its place below `root`. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown, root: string): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => issuesOf(issue, root));
  const more = issues.length - MAX_ISSUES;
  throw new InvalidRequest(more > 0 ? [...issues.slice(0, MAX_ISSUES), { loc: [root], msg: `${more} more problems` }] : issues);
}

function issuesOf(issue: z.core.$ZodIssue, root: string): FieldIssue[] {
  const loc = [root, ...issue.path.map((part) => (typeof part === "number" ? part : String(part).slice(0, MAX_NAME)))];
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ loc: [...loc, key.slice(0, MAX_NAME)], msg: "Unknown field" }));
  return [{ loc, msg: issue.message }];
}

/** Path of a member called `__proto__`: copies of an object lose it without a word. */
function unusableName(value: unknown): (string | number)[] | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const below = name === "__proto__" && !Array.isArray(value) ? [] : unusableName(member);
    if (below !== null) return [Array.isArray(value) ? Number(name) : name.slice(0, MAX_NAME), ...below];
  }
  return null;
}
