import type { Failure } from "../../errors/result.ts";
import type { KeptBase, KeptTurn } from "../../rollouts/kept/kept-state.ts";
import type { State } from "../../rollouts/types.ts";

/** What the ticket that holds a unit hears of it, and what ends the unit. */
export interface UnitWatch {
  readonly signal: AbortSignal;
  /** Aborted no later: nothing more is generated. */
  readonly generation: AbortSignal;
  /** Rollouts that are generated already, as this executor has them. */
  readonly generated: ReadonlyMap<number, string>;
  readonly scoringTurn?: () => Promise<void>;
  readonly onRollout: (rollout: number, state: State, base: KeptBase) => void;
  /** Rollouts that were generated before, that are to be, and that have no scores yet. */
  readonly onPlay: (generated: number, missing: number, unscored: number) => void;
  readonly onTurn: (rollout: number, state: State, turn: KeptTurn, base: KeptBase) => "kept" | "unkept" | "leave";
  readonly onScoring: (rollout: number | null) => void;
  readonly onScored: (rollout: number, state: State, base: KeptBase) => void;
  /** No rollout of the run may be begun any more. */
  readonly onFull: () => void;
  readonly refused: (failure: Failure) => Promise<void>;
}
