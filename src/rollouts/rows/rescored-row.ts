import type { CacheUsage } from "../../metrics/cache-usage.ts";
import type { JudgeUsage } from "../../metrics/rollout-summary.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { JUDGE_COLUMN, judgeFields } from "../../metrics/judge-fields.ts";
import { columnValue } from "./column.ts";
import { objectText, type RawField, rawFields } from "./raw-fields.ts";
import { cacheFields, scoreFields } from "./row.ts";
import { rowText } from "./row-text.ts";
import type { Span } from "../state/time-marks.ts";
import type { State } from "../types.ts";

export interface RescoredOptions {
  readonly stateColumns: readonly string[];
  /** Digest of the code that scored, where rows carry one. */
  readonly envDigest?: string | undefined;
  /** As new rows of the unit have it; absent = the row keeps what it has. */
  readonly scoredAnew?: boolean | undefined;
  /** What judges took for the rollout in all, this scoring included. */
  readonly judges: JudgeUsage;
  /** Whether rows say what judges took: then `judges` takes the place of what the row says, or that goes. Absent = it stays where there is nothing new. */
  readonly saysJudges?: boolean | undefined;
  /** How calls were answered, in all; null = the row says nothing of that. Absent = what it says stays. */
  readonly cache?: CacheUsage | null | undefined;
  /** When it was scored. */
  readonly scoring: Span | null;
  /** The row ended in an error that is none of scoring: it stays. */
  readonly keepsError: boolean;
}

const CHAINS: readonly string[] = ["error_chain", "long_error_chain"];

/**
 * The line of a rollout with the scores of `state`: reward, metrics, a scorer's error, the time that scoring took, what judges took and how calls were answered are new, and so is
 * a state column that scoring changed. Everything else is there byte for byte.
 */
export function rescoredLine(line: string, row: JsonObject, state: State, options: RescoredOptions): string {
  const { stateColumns, envDigest, scoredAnew, judges, keepsError, saysJudges, cache } = options;
  const putsJudges = saysJudges ?? judges.requests > 0;
  const scores = new Map(rawFields(rowText(scoreFields(state))));
  const flat = metricNames(row).filter((name) => Object.hasOwn(row, name));
  const timing = timingFields(state, options.scoring);
  const out: RawField[] = [];
  let place = -1;
  for (const [name, text] of rawFields(line)) {
    const stays = keepsError && (name === "error" || CHAINS.includes(name));
    const old = !stays && (CHAINS.includes(name) || flat.includes(name));
    if (place === -1 && (old || name === "rollout_index" || stateColumns.includes(name))) place = out.length;
    if (old) continue;
    if (name === "timing") out.push([name, replacedIn(text, timing)]);
    else if (name === "env_digest" && envDigest !== undefined) continue;
    else if (name === "scored_anew" && scoredAnew !== undefined) continue;
    else if (name === "judge_usage" && (putsJudges || saysJudges === false)) continue;
    else if (name === "cache_usage" && cache !== undefined) continue;
    else if (!stays && (name === "reward" || name === "error" || name === "metrics")) out.push([name, scores.get(name) ?? "null"]);
    else if (timing.has(name) && row.timing === undefined) out.push([name, timing.get(name) ?? text]);
    else out.push([name, stateColumns.includes(name) ? columnText(name, text, row, state) : text]);
    if (name === "rollout_index" && envDigest !== undefined) out.push(["env_digest", JSON.stringify(envDigest)]);
    if (name === "rollout_index" && putsJudges) out.push(...rawFields(rowText({ judge_usage: judgeFields(judges) })));
    if (name === "rollout_index" && scoredAnew !== undefined) out.push(["scored_anew", JSON.stringify(scoredAnew)]);
    if (name === "rollout_index" && cache !== undefined && cache !== null) out.push(["cache_usage", JSON.stringify(cacheFields(cache))]);
  }
  const made = [...(keepsError ? [] : CHAINS), ...Object.keys(state.metrics ?? {})].flatMap((name): RawField[] => {
    const text = scores.get(name);
    return text === undefined ? [] : [[name, text]];
  });
  // Scoring makes it, and rows that were made without it have it from now on, all of them.
  if (stateColumns.includes(JUDGE_COLUMN) && !Object.hasOwn(row, JUDGE_COLUMN)) out.push([JUDGE_COLUMN, columnText(JUDGE_COLUMN, "null", row, state)]);
  out.splice(place === -1 ? out.length : place, 0, ...made);
  return objectText(out, line);
}

const metricNames = ({ metrics }: JsonObject): string[] =>
  typeof metrics === "object" && metrics !== null && !Array.isArray(metrics) ? Object.keys(metrics) : [];

/** The times that scoring changes, in the words of either shape. */
function timingFields({ timing }: State, span: Span | null): ReadonlyMap<string, string> {
  const { scoring_ms, total_ms } = timing;
  const start = (span?.start ?? 0) / 1_000;
  const end = (span?.end ?? 0) / 1_000;
  const fields = { scoring_ms, total_ms, scoring: { start, end, duration: end - start }, total: total_ms / 1_000 };
  const [[, text] = ["timing", "{}"]] = rawFields(rowText({ timing: fields }));
  return new Map(rawFields(text));
}

/** The object with those of its fields that `values` has in their place. */
function replacedIn(object: string, values: ReadonlyMap<string, string>): string {
  if (!object.startsWith("{")) return object;
  return objectText(
    rawFields(object).map(([name, text]): RawField => [name, values.get(name) ?? text]),
    object,
  );
}

/** A column that scoring left alone keeps its text. */
function columnText(name: string, text: string, row: JsonObject, state: State): string {
  const now = columnValue(state, name);
  if (!now.ok || JSON.stringify(now.value) === JSON.stringify(row[name])) return text;
  return new Map(rawFields(rowText({ [name]: now.value }))).get(name) ?? text;
}
