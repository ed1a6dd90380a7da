import type { Sleep } from "../../clients/client.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import type { StoredStateOptions } from "../../rollouts/state/stored-state.ts";
import type { Client, RolloutInput } from "../../rollouts/types.ts";
import type { Playable } from "./playable.ts";
import { turn } from "./play-unit.ts";
import { scoreStates } from "./score-states.ts";
import { type KeptRollout, type Stored, storedOf } from "./stored-rollout.ts";
import { UnitScope } from "./unit-scope.ts";

/** How rollouts are scored that are there as rows alone. */
export interface ScoreStoredOptions extends Pick<StoredStateOptions, "rowOnly" | "forgets" | "countsAnswers"> {
  /** For reward functions that ask the model themselves. */
  readonly client: Client | null;
  readonly model: string;
  /** The run's own. */
  readonly sampling_args: JsonObject;
  /** Score each rollout by itself. */
  readonly independent: boolean;
  /** Columns of the rows that are keys of the state. */
  readonly stateColumns: readonly string[];
  /** Waited for before anything is scored. */
  readonly scoringTurn?: () => Promise<void>;
  readonly signal: AbortSignal;
  /** Milliseconds from now after which rows that are not scored yet stay as they are; null = none. */
  readonly deadlineMs: number | null;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
}

/** Scores the states that rows make; null where that was cut off. Rejects only for a fault of this library, and for rows that are none. */
export async function scoreStored(
  environment: Playable,
  input: RolloutInput,
  rows: readonly KeptRollout[],
  options: ScoreStoredOptions,
): Promise<readonly Stored[] | null> {
  const { client, model, stateColumns, independent, signal, rowOnly, forgets, countsAnswers } = options;
  const samplingArgs = environment.mergeSamplingArgs(options.sampling_args);
  const part = {
    ...(rowOnly === undefined ? {} : { rowOnly }),
    ...(forgets === undefined ? {} : { forgets }),
    ...(countsAnswers === undefined ? {} : { countsAnswers }),
  };
  const all = rows.map((kept) => storedOf(input, kept, stateColumns, { client, model, samplingArgs, ...part }));
  const scope = new UnitScope({ signal, deadlineMs: options.deadlineMs, sleep: options.sleep, now: options.now, alone: rows.length === 1 });
  try {
    if (options.scoringTurn !== undefined) await turn(options.scoringTurn, scope);
    const states = all.map(({ state }) => state);
    if (!scope.cancelled) {
      if (independent) await Promise.all(states.map((state) => scoreStates(environment, [state], options, scope)));
      else await scoreStates(environment, states, options, scope);
    }
    return scope.cancelled ? null : all;
  } finally {
    scope.close();
  }
}
