import type { CacheUsage } from "../../metrics/cache-usage.ts";
import type { JudgeUsage } from "../../metrics/rollout-summary.ts";
import type { Json, JsonObject, ResultsShape } from "../../config/plan/run-config.ts";
import { KIB, MIB } from "../../limits.ts";
import { JUDGE_COLUMN, judgeFields } from "../../metrics/judge-fields.ts";
import { ROW_FIELDS } from "../../metrics/row-metrics.ts";
import { dollarsOf, type NanoCost } from "../../prices/nano-cost.ts";
import type { Price } from "../../prices/price.ts";
import { type ColumnProblem, type ColumnValue, columnValue } from "./column.ts";
import { rolloutFailure } from "../failure.ts";
import { rowMessages } from "../messages.ts";
import { flatRow } from "./flat-row.ts";
import type { ForeignRow } from "./foreign-row.ts";
import { givenRowOf, writtenRow } from "./given-row.ts";
import { judgeColumn, withJudgements } from "./judge-column.ts";
import { rowChains, rowError } from "./row-errors.ts";
import { rowText } from "./row-text.ts";
import { judgementsOf } from "../state/judgements.ts";
import { nestedTiming } from "../state/time-marks.ts";
import type { RolloutFailure, State, Tool } from "../types.ts";
import { rolloutCost } from "../state/rollout-cost.ts";
import { TURNS_COLUMN, turnsOf } from "../state/turns-column.ts";
import { finalTokens } from "../state/usage.ts";

/**
 * A line of `results.jsonl`: which keys, in which order, and what is left out. Beyond verifiers' keys a row carries
 * `rollout_index`, after the flattened metrics, and its error object `code`, last; `env_digest` follows where the run has rows of
 * several versions of its environment, `usage_cost` where what the model's answers cost is known, `judge_usage` where judges may be asked, `scored_anew` where rollouts are judged
 * together, `cache_usage` where the run reads the cache.
 */
export type Row = JsonObject & { example_id: number; reward: number; rollout_index: number };

/** Keys that a metric may not have, since metrics are repeated at the top level of the row. */
const RESERVED: ReadonlySet<string> = new Set([
  ...ROW_FIELDS,
  // Assigning it would change an object's prototype instead of adding a key.
  "__proto__",
]);

/**
 * Those of `names` that would overwrite a standard field; a run with one is refused before its first model call. `given`: of rows that another library
 * writes, in which a function called `reward` has overwritten that field already, and it is what the library says that the rollout is worth.
 */
export const reservedMetricNames = (names: readonly string[], given = false): string[] =>
  names.filter((name) => RESERVED.has(name) && !(given && name === "reward"));

/** Bytes of one row. A row must fit the buffers of whoever reads, and a row of this size no longer has a reader. */
export const MAX_RESULT_ROW_BYTES = 1.5 * MIB;

export interface RowOptions {
  readonly rolloutIndex: number;
  readonly stateColumns: readonly string[];
  /** What the model's tokens cost; absent or null where nobody knows it. */
  readonly price?: Price | null | undefined;
  /** What judges took for this rollout; absent or null where the environment calls no model of its own. */
  readonly judges?: JudgeUsage | null | undefined;
  /** How its calls were answered; absent where the run does not read the cache. */
  readonly cache?: CacheUsage | undefined;
  /** Absent: the usual one. */
  readonly shape?: ResultsShape | undefined;
  /** Of the code, where the run has rows of several; absent: rows carry none. */
  readonly envDigest?: string | undefined;
  /** Whether the group was scored anew once some of it was drawn again; absent: rollouts are not judged together, and rows say nothing of it. */
  readonly scoredAnew?: boolean | undefined;
}

interface Written {
  readonly row: Row;
  readonly line: string;
}

/** Parts of a row that grow without bound. */
type Part = "completion" | "prompt" | "info" | "tool_defs" | "answer" | "state columns";
export const ALL_PARTS: readonly Part[] = ["completion", "prompt", "info", "tool_defs", "answer", "state columns"];

interface Attempt {
  readonly without: readonly Part[];
  /** With what was noted of judges, which no row loses anything else for. */
  readonly notes: boolean;
}
const ATTEMPTS: readonly Attempt[] = [
  { without: [], notes: true },
  { without: [], notes: false },
  { without: ["completion"], notes: false },
  { without: ALL_PARTS, notes: false },
];

const made = (value: Json): ColumnValue => ({ ok: true, value });

/**
 * The row of a finished rollout, `without` some of its parts when it would be too large; a row that lacks parts, or whose state
 * columns are no JSON, says so as its error, if it has none.
 */
function buildRow(state: State, options: RowOptions, { without, notes }: Attempt): Row {
  const keeps = (part: Part): boolean => !without.includes(part);
  const columns = options.stateColumns.map((name) => ({ name, value: columnOf(state, name, notes) }));
  const error = state.error ?? columnFailure(columns.map(({ value }) => value)) ?? sizeFailure(without);
  const metrics = state.metrics ?? {};
  const row: Row = {
    example_id: state.example_id,
    prompt: keeps("prompt") ? rowMessages(state.prompt) : null,
    completion: keeps("completion") && state.completion !== null ? rowMessages(state.completion) : null,
    ...(keeps("answer") && !isEmptyField(state.answer) ? { answer: state.answer as Json } : {}),
    ...(options.shape === "0.1.14" ? {} : { task: state.task }),
    ...(keeps("info") && !isEmptyField(state.info) ? { info: state.info as JsonObject } : {}),
    reward: state.reward ?? 0,
    error: error === null ? null : rowError(error),
    timing: options.shape === "0.1.14" ? nestedTiming(state) : { ...state.timing },
    is_completed: state.is_completed,
    is_truncated: state.is_truncated,
    stop_condition: state.stop_condition,
    metrics: { ...metrics },
    tool_defs: keeps("tool_defs") ? state.tool_defs.map(rowTool) : null,
    ...rowUsage(state),
    ...rowChains(error),
    ...metrics,
    ...ownFields(options, rolloutCost(state, options.price ?? null)),
  };
  // A column never replaces what the row has already: `-C reward` asks for what is there.
  for (const { name, value } of columns)
    if (name !== "env_digest" && !Object.hasOwn(row, name)) row[name] = value.ok && keeps("state columns") ? value.value : null;
  return row;
}

/** What a row has beyond verifiers' keys, in front of the state columns. */
const ownFields = ({ rolloutIndex, envDigest, judges, scoredAnew, cache }: RowOptions, cost: NanoCost | null) => ({
  rollout_index: rolloutIndex,
  ...(envDigest === undefined ? {} : { env_digest: envDigest }),
  ...(cost === null ? {} : { usage_cost: { ...dollarsOf(cost) } }),
  ...(judges === undefined || judges === null ? {} : { judge_usage: judgeFields(judges) }),
  ...(scoredAnew === undefined ? {} : { scored_anew: scoredAnew }),
  ...(cache === undefined ? {} : { cache_usage: cacheFields(cache) }),
});

/** `cache_usage` of a row. */
export const cacheFields = ({ judges, ...own }: CacheUsage): JsonObject => ({ ...own, ...(judges === undefined ? {} : { judges: { ...judges } }) });

/** The same of a rollout that came with its row. */
function givenRow(given: ForeignRow, state: State, options: RowOptions, { without, notes }: Attempt): Written {
  const noted = notes && options.stateColumns.includes(JUDGE_COLUMN) ? judgementsOf(state) : null;
  const { row, line } = writtenRow(given, state, {
    error: state.error ?? sizeFailure(without),
    lost: without === ALL_PARTS ? "all" : without.length === 0 ? "nothing" : "completion",
    more: ownFields(options, state.usage === null ? null : rolloutCost(state, options.price ?? null)),
    columns: {
      ...(options.stateColumns.includes(TURNS_COLUMN) ? { [TURNS_COLUMN]: turnsOf(state) } : {}),
      ...(noted === null ? {} : { [JUDGE_COLUMN]: withJudgements(given.value[JUDGE_COLUMN], noted) }),
    },
  });
  return { row: row as Row, line };
}

function columnOf(state: State, name: string, notes: boolean): ColumnValue | ColumnProblem {
  if (name === TURNS_COLUMN) return made(turnsOf(state));
  return name === JUDGE_COLUMN && notes ? judgeColumn(state) : columnValue(state, name);
}

function columnFailure(values: readonly (ColumnValue | ColumnProblem)[]): RolloutFailure | null {
  const bad = values.find((value) => !value.ok);
  return bad === undefined || bad.ok ? null : rolloutFailure("environment_error", bad.problem);
}

/** The fields of a row that scoring makes, beside its times. */
export function scoreFields({ reward, metrics, error }: Pick<State, "reward" | "metrics" | "error">): JsonObject {
  return { reward: reward ?? 0, error: error === null ? null : rowError(error), metrics: { ...metrics }, ...rowChains(error), ...metrics };
}

/** What the row of a rollout says that was written without some of its parts; null where it has them all. */
export function sizeFailure(without: readonly Part[]): RolloutFailure | null {
  if (without.length === 0) return null;
  return rolloutFailure("row_too_large", `the row is larger than ${MAX_RESULT_ROW_BYTES / KIB} KiB and was written without its ${without.join(", ")}`);
}

/**
 * The row of a finished rollout, whole, and its line in the shape asked for, without the newline; of a rollout that came with its row, that one. A row above `MAX_RESULT_ROW_BYTES` loses its completion, and
 * if that is not enough everything else that has no bound.
 */
export function rowOf(state: State, options: RowOptions): Written {
  const given = givenRowOf(state);
  for (const attempt of ATTEMPTS) {
    const written = given === null ? madeRow(state, options, attempt) : givenRow(given, state, options, attempt);
    if (!exceeds(written.line, MAX_RESULT_ROW_BYTES)) return written;
  }
  throw new RangeError(`the row of example ${state.example_id} exceeds ${MAX_RESULT_ROW_BYTES} bytes even without its contents`);
}

function madeRow(state: State, options: RowOptions, attempt: Attempt): Written {
  const row = buildRow(state, options, attempt);
  return { row, line: rowText(options.shape === "0.1.9" ? flatRow(row) : row) };
}

/** Empty as Python sees it: such an `answer` or `info` is left out of the row. */
export function isEmptyField(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A tool as rows and `metadata.json` have it. */
export function rowTool({ name, description, parameters, strict }: Tool): JsonObject {
  return { name, description, parameters, ...(strict === null || strict === undefined ? {} : { strict }) };
}

function rowUsage(state: State): JsonObject {
  if (state.usage === null) return {};
  const { input_tokens, output_tokens } = state.usage;
  return { token_usage: { input_tokens, output_tokens, ...(state.trajectory.length > 0 ? finalTokens(state.trajectory) : {}) } };
}

/** Bytes of a text in UTF-8, counted only where the answer is in doubt. */
export function exceeds(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && new TextEncoder().encode(text).byteLength > bytes;
}

/** The numbers that the ledger keeps of a row; foreign rows are read too. */
export { summaryOfRow as summariseRow } from "../../metrics/row-summary.ts";
