import type { RolloutSummary } from "../../metrics/rollout-summary.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { nameRollout } from "../../rollouts/state/asked-questions.ts";
import { type StoredState, storedState } from "../../rollouts/state/stored-state.ts";
import type { RolloutInput } from "../../rollouts/types.ts";

/** A rollout of a unit that is done again in part: its row stays as it is. */
export interface KeptRollout {
  readonly index: number;
  readonly line: string;
  readonly summary: RolloutSummary;
}

/** A rollout that has its row, with the state which that makes. */
export interface Stored extends StoredState {
  readonly kept: KeptRollout;
  readonly row: JsonObject;
  /** Of the rollout itself, not of its scoring. */
  readonly hadError: boolean;
}

/** The state of a rollout from its row, to be scored again. Throws for what is no row. */
export function storedOf(input: RolloutInput, kept: KeptRollout, stateColumns: readonly string[], options: Parameters<typeof storedState>[3]): Stored {
  const row = readForeignRow(kept.line).value;
  const stored = storedState(input, row, stateColumns, options);
  nameRollout(stored.state, kept.index);
  return { ...stored, kept, row, hadError: stored.own.error !== null };
}
