/** The verifier functions of a benchmark: whether an answer is what a task expects. Pure. */
import { RE2JS } from "re2js";
import { canonicalJson } from "../config/canonical-json.ts";
import type { Json, JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { contentText } from "../rollouts/messages.ts";
import type { AssistantMessage, Message } from "../rollouts/types.ts";
import type { BenchmarkTask, VerifierFunction } from "./benchmark-task.ts";

/** What a verifier looks at: the text of the last answer, and the tools that were called in it. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

export function answerOf(completion: readonly Message[]): Answer {
  const last = completion.findLast(({ role }) => role === "assistant") as AssistantMessage | undefined;
  return { text: last?.content == null ? "" : contentText(last.content), calls: last?.tool_calls ?? [] };
}

type InProcess = Extract<BenchmarkTask["verifier"], { kind: "in_process" }>;
type Compare = (answer: Answer, verifier: InProcess) => boolean;

const folded = (text: string, { params }: InProcess): string => (params.ignore_case === true ? text.toLowerCase() : text);
const textOf = (expected: Json): string => (typeof expected === "string" ? expected : expected === null ? "" : JSON.stringify(expected));

const FUNCTIONS: Readonly<Record<VerifierFunction, Compare>> = {
  exact_match: ({ text }, verifier) => folded(text, verifier).trim() === folded(textOf(verifier.expected), verifier).trim(),
  contains: ({ text }, verifier) => folded(text, verifier).includes(folded(textOf(verifier.expected), verifier)),
  regex_match: ({ text }, verifier) => compiled(verifier).matcher(text).find(),
  tool_calls_match: ({ text, calls }, { expected, params }) => {
    const action = actionIn(expected);
    if (action !== null) return isAction(actionIn(text), action, params);
    const made = calls.length > 0 ? calls.map(({ name, arguments: given }) => callText(name, parsedOr(given, given))) : writtenCalls(text);
    const wanted = callsIn(expected);
    if (made === null || wanted === null) return false;
    const order = (texts: readonly string[]): string => JSON.stringify(params.ordered === true ? texts : texts.toSorted());
    return order(made) === order(wanted);
  },
};

/** Whether the answer passes. The time of a pattern is linear in the text, whatever the pattern. */
export const passes = (answer: Answer, verifier: InProcess): boolean => FUNCTIONS[verifier.function](answer, verifier);

/** Throws `dataset_unreadable` for a verifier that could not be asked: a pattern that is none, calls that are none. Before a model is. */
export function checkVerifier({ verifier, task_id }: BenchmarkTask): void {
  if (verifier.kind !== "in_process") return;
  if (verifier.function === "regex_match") compiled(verifier, task_id);
  const looked = verifier.function === "regex_match" ? patternOf(verifier) : verifier.function === "contains" ? textOf(verifier.expected) : null;
  if (looked === "") {
    throw new EdgewiseError("dataset_unreadable", `benchmark task ${task_id}: verifier.expected is empty, and ${verifier.function} finds that in any answer`);
  }
  if (verifier.function === "tool_calls_match" && callsIn(verifier.expected) === null && actionIn(verifier.expected) === null) {
    throw new EdgewiseError("dataset_unreadable", `benchmark task ${task_id}: verifier.expected must be a list of {name, arguments}, or {tool, action, …}`);
  }
}

const patternOf = ({ expected, params }: InProcess): string => (typeof params.pattern === "string" ? params.pattern : textOf(expected));

/** RE2 knows neither looks ahead nor what an earlier group matched: what needs them is refused, since it could take for ever. */
function compiled(verifier: InProcess, task_id?: string): RE2JS {
  const { params } = verifier;
  const pattern = patternOf(verifier);
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern), params.ignore_case === true ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new EdgewiseError("dataset_unreadable", `benchmark task ${task_id ?? "?"}: the pattern of regex_match cannot be used: ${reason}`, {
      hint: "Patterns are those of RE2: no look-ahead, no look-behind, no back-references.",
    });
  }
}

const callText = (name: string, given: unknown): string => canonicalJson({ name, arguments: (given ?? {}) as Json });

function parsedOr<Otherwise>(text: string, otherwise: Otherwise): Json | Otherwise {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return otherwise;
  }
}

/** `[{name, arguments}]`, or one such object; null for anything else. */
function callsIn(value: unknown): readonly string[] | null {
  const list = Array.isArray(value) ? value : [value];
  const calls = list.map((each) => {
    const { name, arguments: given } = (each ?? {}) as JsonObject;
    return typeof name === "string" ? callText(name, typeof given === "string" ? parsedOr(given, given) : given) : null;
  });
  return calls.some((call) => call === null) ? null : (calls as string[]);
}

/** Calls that a model without tools wrote down as JSON. */
function writtenCalls(text: string): readonly string[] | null {
  const parsed = parsedOr(text.replace(/^\s*```(?:json)?|```\s*$/g, ""), undefined);
  return parsed === undefined ? null : callsIn(parsed);
}

/** Pixels by which a coordinate may be off, where the task says nothing. */
const COORDINATE_TOLERANCE = 25;

/** One action of a computer, `{tool, action, ref, text, coordinate}`: it, or the object in a text; null where there is none with a tool. */
function actionIn(value: unknown): JsonObject | null {
  // Not by a pattern: one takes time that is quadratic in a text of braces.
  const found = typeof value === "string" ? parsedOr(value.slice(Math.max(0, value.indexOf("{")), value.lastIndexOf("}") + 1), null) : value;
  return typeof found === "object" && found !== null && !Array.isArray(found) && "tool" in found ? (found as JsonObject) : null;
}

/** Tool and action are the same; `ref`, `text` and `coordinate` where they are wanted, the last within `params.coordinate_tolerance`. */
function isAction(made: JsonObject | null, wanted: JsonObject, { coordinate_tolerance }: JsonObject): boolean {
  if (made === null) return false;
  const same = (field: string): boolean => canonicalJson(made[field] ?? null) === canonicalJson(wanted[field] ?? null);
  if (!same("tool") || !same("action") || ["ref", "text"].some((field) => wanted[field] !== undefined && !same(field))) return false;
  if (wanted.coordinate === undefined) return true;
  const tolerance = typeof coordinate_tolerance === "number" ? coordinate_tolerance : COORDINATE_TOLERANCE;
  const [there, meant] = [made.coordinate, wanted.coordinate];
  if (!Array.isArray(there) || !Array.isArray(meant) || there.length !== 2) return false;
  return meant.every((at, axis) => Math.abs(Number(at) - Number(there[axis])) <= tolerance);
}
