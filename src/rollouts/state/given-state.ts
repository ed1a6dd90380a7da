import type { RolloutErrorCode } from "../../errors/codes.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { errorCodeOf, summaryOfRow } from "../../metrics/row-summary.ts";
import { rolloutFailure } from "../failure.ts";
import { giveRow, readGivenRow } from "../rows/given-row.ts";
import type { RolloutFailure, RolloutInput, State } from "../types.ts";
import { type StoredStateOptions, storedState } from "./stored-state.ts";
import { keepStoredMarks, wholeTiming } from "./stored-timing.ts";

export interface GivenStateOptions extends Pick<StoredStateOptions, "client" | "model" | "samplingArgs"> {
  /** What the error of the row means; absent = what its class says, as far as that goes. */
  readonly code?: RolloutErrorCode | undefined;
}

/** Characters of a stop condition. */
const MAX_NAME = 1_000;

/**
 * The finished state of a rollout that another library played and scored, by the row that it wrote of it (a line of its `results.jsonl`): the row
 * is written as it is. It is the rollout of `input`, whatever example the row names. Throws a `SyntaxError` for what is no JSON, a `TypeError` that names a
 * field which is not what rows have.
 */
export function stateOfGivenRow(input: RolloutInput, line: string, { code, ...options }: GivenStateOptions): State {
  const row = readGivenRow(line);
  const { value } = row;
  // Python's NaN and Infinity, which no reward may be.
  const hasNoReward = value.reward === null;
  const { own } = storedState(input, hasNoReward ? { ...value, reward: 0 } : value, [], options);
  if (!isText(value.stop_condition)) throw new TypeError("the stop_condition of a row is no short text");
  const { reward, metrics } = summaryOfRow(value);
  const nothing = "the reward is not a finite number";
  const error = errorOf(value, code) ?? (hasNoReward ? rolloutFailure("scorer_error", nothing, new RangeError(nothing)) : null);
  Object.assign(own, { trajectory: [], trajectory_id: crypto.randomUUID().replaceAll("-", ""), final_env_response: null } satisfies Partial<State>);
  Object.assign(own, { reward, metrics: { ...metrics }, error, timing: wholeTiming(value) } satisfies Partial<State>);
  keepStoredMarks(own, value);
  giveRow(own, row);
  return own;
}

const isText = (value: Json | undefined): boolean => value === undefined || value === null || (typeof value === "string" && value.length <= MAX_NAME);

function errorOf({ error }: JsonObject, code: RolloutErrorCode | undefined): RolloutFailure | null {
  const { error: name, error_chain_repr: chain, error_chain_str: names } = typeof error === "object" && error !== null && !Array.isArray(error) ? error : {};
  const found = codeOf(error, typeof names === "string" ? names.split(" -> ") : []);
  if (found === null) return null;
  const message = typeof chain === "string" ? chain : typeof error === "string" ? error : "as the row says";
  return rolloutFailure(code ?? found, message, undefined, typeof name === "string" ? name : undefined);
}

/** A tool that fails for its sandbox has failed for that. */
function codeOf(error: Json | undefined, chain: readonly string[]): RolloutErrorCode | null {
  const code = errorCodeOf(error);
  return code === "tool_call_error" && chain.some((name) => errorCodeOf({ error: name }) === "sandbox_error") ? "sandbox_error" : code;
}
