import { type CacheUsage, NO_CALLS } from "../metrics/cache-usage.ts";
import type { JudgeUsage } from "../metrics/rollout-summary.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../errors/codes.ts";
import { MAX_KEPT_STATE_BYTES, MIB } from "../limits.ts";
import { isRolloutErrorCode, rolloutFailure } from "../rollouts/failure.ts";
import { type KeptBase, type OpenedState, openKeptState } from "../rollouts/kept/kept-state.ts";
import { normaliseMessages } from "../rollouts/messages.ts";
import { reservedMetricNames } from "../rollouts/rows/row.ts";
import { cacheUsageOf, keepCacheUsage } from "../rollouts/state/cache-meter.ts";
import { NO_JUDGES } from "../rollouts/state/judge-usage.ts";
import { marksOf } from "../rollouts/state/time-marks.ts";
import { type Judgements, judgementsOf, keepJudgements } from "../rollouts/state/judgements.ts";
import { judgeUsageOf, keepJudgeUsage } from "../rollouts/state/judge-usage.ts";
import type { Client, RolloutFailure, State, Timing } from "../rollouts/types.ts";

/** Metrics of a rollout, and characters of the name of one, of a stop condition, and of a text of an error. */
const MAX_METRICS = 1_000;
const MAX_NAME = 1_000;
const MAX_MESSAGE = 4_000;

/** What is no state of a rollout; the message goes on from "the state that it gave of a rollout". */
export class NotBelieved extends Error {}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const isReal = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const no = (problem: string): never => {
  throw new NotBelieved(problem);
};

export interface BelievedWith {
  readonly base: KeptBase;
  readonly client: Client | null;
  /** Error codes that end a run, which a model's server said in this unit: no others are an environment's to say. */
  readonly wasRefused: (code: RolloutErrorCode) => boolean;
  /** What judges took for this rollout: what the text says of that is nobody's word. */
  readonly judges: (said: JudgeUsage | null) => JudgeUsage | null;
  /** The same of what they were shown and said. */
  readonly judgements: (said: Judgements | null) => Judgements | null;
  /** The same of how its calls were answered. */
  readonly cache: (said: CacheUsage | null) => CacheUsage | null;
}

/**
 * The state that an environment behind a wall gives of a rollout. Numbers are numbers, an error is one that environments have, and whose
 * rollout it is this side says. Throws `NotBelieved`.
 */
export function believedState(text: string, { base, client, wasRefused, judges, judgements, cache }: BelievedWith): OpenedState {
  if (text.length > MAX_KEPT_STATE_BYTES) no(`has ${text.length} characters, more than ${MAX_KEPT_STATE_BYTES / MIB} MiB`);
  let opened: OpenedState;
  try {
    opened = openKeptState(text, base, client);
  } catch {
    return no("is none");
  }
  const { state, turn } = opened;
  state.input.example_id = base.input.example_id;
  Object.defineProperty(state, "client", { value: client, writable: true, configurable: true, enumerable: false });
  checkRollout(state);
  checkScores(state, wasRefused);
  if (turn !== null && !(isReal(turn.elapsed_ms) && (turn.retries === undefined || (Number.isSafeInteger(turn.retries) && turn.retries >= 0))))
    no("says no time that the rollout has taken");
  const said = judgeUsageOf(state);
  const usage = judges(said);
  if (usage !== null || said !== null) keepJudgeUsage(state, usage ?? NO_JUDGES);
  keepJudgements(state, judgements(judgementsOf(state)));
  const saidCache = cacheUsageOf(state);
  const answered = cache(saidCache);
  if (answered !== null || saidCache !== null) keepCacheUsage(state, answered ?? NO_CALLS);
  return opened;
}

function checkRollout(state: State): void {
  for (const field of ["is_completed", "is_truncated", "prompt_too_long", "timed_out"] as const)
    if (typeof state[field] !== "boolean") no(`has in ${field} neither true nor false`);
  const { stop_condition, tool_defs, usage, info, trajectory, model } = state;
  if (stop_condition !== null && !(typeof stop_condition === "string" && stop_condition.length <= MAX_NAME)) no("has no text in stop_condition");
  if (typeof model !== "string" || !isRecord(state.sampling_args)) no("does not say what was asked of which model");
  if (!Array.isArray(tool_defs) || !tool_defs.every((tool) => isRecord(tool) && typeof tool.name === "string")) no("has tools that are none");
  if (usage !== null && !(isRecord(usage) && isReal(usage.input_tokens) && isReal(usage.output_tokens) && isBilled(usage.billed)))
    no("has in usage what is no tokens");
  if (info !== undefined && info !== null && !isRecord(info)) no("has no object in info");
  if (typeof state.task !== "string") no("has no text in task");
  checkTimes(state);
  for (const [field, messages] of [
    ["prompt", state.prompt],
    ["completion", state.completion ?? []],
  ] as const) {
    try {
      normaliseMessages(messages);
    } catch {
      no(`has no messages in ${field}`);
    }
  }
  for (const step of trajectory) {
    const used: unknown = isRecord(step) && isRecord(step.response) ? step.response.usage : undefined;
    if (used !== null && !(isRecord(used) && isReal(used.prompt_tokens) && isReal(used.completion_tokens))) no("has a model call without its answer");
  }
}

/** Tokens, none of them less than 0: what they cost is added up. */
const isBilled = (billed: unknown): boolean => billed === undefined || (isRecord(billed) && BILLED.every((name) => isTokens(billed[name] ?? 0)));
const BILLED = ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "long_cache_write_tokens"] as const;
const isTokens = (value: unknown): boolean => isReal(value) && value >= 0;

export function checkTimes(state: State): void {
  checkTiming(state.timing);
  const { setup, scoring, model, env } = marksOf(state);
  if (![setup, scoring].every((span) => span === null || isSpan(span)) || ![...model, ...env].every(isSpan)) no("has times of its parts that are none");
}

const isSpan = (span: unknown): boolean => isRecord(span) && isReal(span.start) && isReal(span.end);

export function checkTiming(timing: unknown): asserts timing is Timing {
  const fields = ["generation_ms", "scoring_ms", "total_ms", "start_time"];
  if (!isRecord(timing) || !fields.every((field) => isReal(timing[field]))) no("has no times");
}

/** What a rollout is worth and what it ended in. An error that is not an environment's to say becomes its own. `isGiven`: its row is one that another library wrote. */
export function checkScores(
  state: Pick<State, "reward" | "metrics" | "advantage" | "error">,
  wasRefused: (code: RolloutErrorCode) => boolean,
  isGiven = false,
): void {
  const { reward, metrics, advantage } = state;
  if (reward !== null && !isReal(reward)) no(`has as reward ${typeof reward === "number" ? String(reward) : `a ${typeof reward}`}`);
  if (advantage !== null && !isReal(advantage)) no("has an advantage that is no number");
  if (metrics !== null) {
    if (!isRecord(metrics) || !Object.values(metrics).every(isReal)) no("has metrics that are no numbers");
    const names = Object.keys(metrics);
    if (names.length > MAX_METRICS || names.some((name) => name.length > MAX_NAME)) no("has too many metrics, or names of them that are too long");
    const [reserved] = reservedMetricNames(names, isGiven);
    if (reserved !== undefined) no(`has a metric called ${reserved}, which would overwrite a field of the row`);
  }
  if (state.error !== null) state.error = believedError(state.error, wasRefused);
}

function believedError(error: unknown, wasRefused: (code: RolloutErrorCode) => boolean): RolloutFailure {
  if (!isRecord(error) || typeof error.message !== "string" || !isRolloutErrorCode(error.code) || !isChain(error.chain)) return no("has an error that is none");
  const { code, message, chain, hint } = error;
  const { fatal, category } = ROLLOUT_ERRORS[code];
  if ((fatal && !wasRefused(code)) || category === "executor")
    return rolloutFailure("environment_error", `the environment ended the rollout in ${code}, which is not its to say: ${message}`);
  return { code, message: message.slice(0, MAX_MESSAGE), chain, ...(typeof hint === "string" ? { hint: hint.slice(0, MAX_MESSAGE) } : {}) };
}

const isShort = (value: unknown): boolean => typeof value === "string" && value.length <= MAX_MESSAGE;
const isChain = (chain: unknown): chain is RolloutFailure["chain"] =>
  Array.isArray(chain) && chain.length <= 10 && chain.every((link) => isRecord(link) && isShort(link.name) && isShort(link.message));
