import type { JsonObject } from "../../../config/plan/run-config.ts";
import { isObject } from "../../../cells/row-messages.ts";
import { mendHint } from "../../../errors/leftovers.ts";
import { ROW_FIELDS, STANDARD_FIELDS } from "../../../metrics/row-metrics.ts";
import { wholeTiming } from "../../../rollouts/state/stored-timing.ts";
import type { RolloutOutline } from "../../api/answers.ts";

/** What the small fields of a row say, whatever wrote it. Never throws for what is in them. */

export interface RowError {
  /** Ours, or null of rows that know none. */
  readonly code: string | null;
  readonly text: string;
  /** What a resume does about it; null where nobody knows. */
  readonly hint: string | null;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Null where the rollout ended without one. */
export function errorOf({ fields, long }: Pick<RolloutOutline, "fields" | "long">): RowError | null {
  const start = Object.hasOwn(long, "error") ? long.error : undefined;
  const error = start === undefined ? fields.error : start.start;
  if (error === null || error === undefined || error === "") return null;
  if (!isObject(error)) return { code: null, text: textOf(error), hint: null };
  const code = typeof error.code === "string" ? error.code : null;
  const text = textOf(error.error_chain_repr ?? error.error ?? error);
  return { code, text, hint: code === null ? null : mendHint({ [code]: 1 }) };
}

export interface RowNumbers {
  readonly reward: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly stop: string | null;
  readonly truncated: boolean;
  /** Seconds; null where the row has no times. */
  readonly generation: number | null;
  readonly scoring: number | null;
}

const numberOf = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

export function numbersOf({ fields }: Pick<RolloutOutline, "fields">): RowNumbers {
  const usage = isObject(fields.token_usage) ? fields.token_usage : {};
  const isTimed = isObject(fields.timing) || typeof fields.generation_ms === "number";
  const times = isTimed ? wholeTiming(fields as JsonObject) : null;
  return {
    reward: numberOf(fields.reward),
    inputTokens: numberOf(usage.input_tokens),
    outputTokens: numberOf(usage.output_tokens),
    stop: typeof fields.stop_condition === "string" ? fields.stop_condition : null,
    truncated: fields.is_truncated === true,
    generation: times === null ? null : times.generation_ms / 1_000,
    scoring: times === null ? null : times.scoring_ms / 1_000,
  };
}

/** Fields that judges left: state columns that environments call after them. */
export const isOfJudges = (name: string): boolean => name.startsWith("judge") && name !== "judge_usage";

/** Fields that are no part of every row: state columns, and what other programs put there. */
export const isOwnField = (name: string): boolean => !STANDARD_FIELDS.has(name) && name !== "open" && name !== "edgewise_turns";
export const isKnownField = (name: string): boolean => (ROW_FIELDS as readonly string[]).includes(name);
