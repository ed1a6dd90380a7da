import type { ToEngineOf } from "../environment-protocol/to-engine.ts";
import type { Stored } from "../environments/unit/stored-rollout.ts";
import type { RolloutErrorCode } from "../errors/codes.ts";
import { keepCacheUsage } from "../rollouts/state/cache-meter.ts";
import { keepJudgements } from "../rollouts/state/judgements.ts";
import { keepJudgeUsage } from "../rollouts/state/judge-usage.ts";
import { marksOf } from "../rollouts/state/time-marks.ts";
import type { RolloutFailure } from "../rollouts/types.ts";
import { checkScores, checkTiming } from "./believed-state.ts";
import type { StandIns } from "./stand-ins.ts";

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export interface ScoresWith {
  /** State columns of the rows. */
  readonly columns: readonly string[];
  readonly wasRefused: (code: RolloutErrorCode) => boolean;
  readonly standIns: StandIns;
}

/** Gives the state of a row the scores that an environment behind a wall has made of it. Throws `NotBelieved`. */
export function applyScores(stored: Stored, scores: ToEngineOf<"rescored">["scores"], { columns, wasRefused, standIns }: ScoresWith): void {
  const { own, state } = stored;
  const { timing, scoring, lacks, state: number } = scores;
  checkTiming(timing);
  const { reward, metrics, advantage } = scores;
  const believed = { reward, metrics, advantage, error: scores.error as RolloutFailure | null };
  checkScores(believed, wasRefused, isRecord(stored.row.metrics) && Object.hasOwn(stored.row.metrics, "reward"));
  Object.assign(own, believed, { timing: { ...own.timing, scoring_ms: timing.scoring_ms, total_ms: timing.total_ms } });
  for (const name of columns) if (Object.hasOwn(scores.columns, name) && !Object.hasOwn(FIXED, name)) own[name] = scores.columns[name];
  marksOf(state).scoring = scoring;
  // Whoever asked the row for it on the other side was refused it as here.
  for (const name of lacks) (stored.lacks as Set<string>).add(name.slice(0, 200));
  const usage = standIns.usageOf(number, null);
  const cache = standIns.cacheOf(number, null);
  const judgements = standIns.judgementsOf(number, null);
  standIns.settle(number);
  if (usage !== null) keepJudgeUsage(state, usage);
  keepJudgements(state, judgements);
  if (cache !== null) keepCacheUsage(state, cache);
}

/** Keys of a state that no column of scores replaces. */
const FIXED: Readonly<Record<string, true>> = {
  example_id: true,
  input: true,
  prompt: true,
  completion: true,
  timing: true,
  error: true,
  reward: true,
  metrics: true,
};
