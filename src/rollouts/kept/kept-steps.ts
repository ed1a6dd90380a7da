import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, TrajectoryStep } from "../types.ts";
import { type MessagePool, messagesAt, type Runs } from "./message-pool.ts";

/** A model call as it is kept: what it has in common with others stands there once. */
export interface KeptStep {
  /** The step, with other forms for the parts that `as` names. */
  readonly step: JsonObject;
  readonly as: readonly Part[];
}
/** `prompt`, `completion`: places in the pool. `message`: the response's, as against the completion. `tokens`: as against those of the message. */
type Part = "prompt" | "completion" | "message" | "tokens";

/** A value by what it differs in from another: the name of a field that both have, or the name and the value of one. In the value's own order. */
type Differences = readonly (string | readonly [string, unknown])[];

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item: unknown, index) => item === b[index]));

const differences = (base: Record<string, unknown>, value: Record<string, unknown>): Differences =>
  Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .map((key) => (Object.hasOwn(base, key) && isSame(base[key], value[key]) ? key : [key, value[key]]));

function applied(base: Record<string, unknown>, list: Differences): Record<string, unknown> {
  return Object.fromEntries(list.map((each) => (typeof each === "string" ? [each, base[each]] : each)));
}

/** What was said once in a step stays so; an environment may have put anything into one. */
export function keepStep(step: TrajectoryStep, pool: MessagePool): KeptStep {
  const own: Record<string, unknown> = { ...step };
  const as: Part[] = [];
  for (const part of ["prompt", "completion"] as const) {
    const runs = pool.runsOf(step[part]);
    if (runs === null) continue;
    own[part] = runs;
    as.push(part);
  }
  const response: unknown = step.response;
  if (isRecord(response) && isRecord(response.message)) {
    const { message } = response;
    const said: unknown = Array.isArray(step.completion) && step.completion.length === 1 ? step.completion[0] : null;
    if (isRecord(said)) {
      own.response = { ...response, message: differences(said, message) };
      as.push("message");
    }
    if (isRecord(step.tokens) && isRecord(message.tokens)) {
      own.tokens = differences(message.tokens, step.tokens as unknown as Record<string, unknown>);
      as.push("tokens");
    }
  }
  return { step: own as JsonObject, as };
}

/** The step again. Throws a `TypeError` or a `RangeError` for what none was kept as. */
export function readStep({ step, as }: KeptStep, pool: readonly Message[]): TrajectoryStep {
  const own: Record<string, unknown> = { ...step };
  for (const part of ["prompt", "completion"] as const) if (as.includes(part)) own[part] = messagesAt(pool, step[part] as unknown as Runs);
  if (as.includes("message")) {
    const response = own.response as JsonObject;
    const said = (own.completion as Record<string, unknown>[])[0] as Record<string, unknown>;
    own.response = { ...response, message: applied(said, response.message as unknown as Differences) };
  }
  if (as.includes("tokens")) {
    const { message } = own.response as { message: { tokens: Record<string, Json> } };
    own.tokens = applied(message.tokens, own.tokens as unknown as Differences);
  }
  return own as unknown as TrajectoryStep;
}
