import type { UnitOptions } from "../../../src/environments/unit/run-unit.ts";
import type { KeptTurn } from "../../../src/rollouts/kept/kept-state.ts";
import type { State } from "../../../src/rollouts/types.ts";

export interface Told {
  readonly events: string[];
  readonly options: Pick<UnitOptions, "onRollout" | "onScoring" | "onScored" | "onTurn">;
  readonly turns: { readonly index: number; readonly state: State; readonly turn: KeptTurn }[];
}

/** Notes what whoever asked for a unit is told. */
export function listening(answer: (turns: number) => "kept" | "unkept" | "leave" = () => "kept"): Told {
  const events: string[] = [];
  const turns: { index: number; state: State; turn: KeptTurn }[] = [];
  return {
    events,
    turns,
    options: {
      onRollout: (index, state) => void events.push(`generated ${index} ${state.trajectory.length}`),
      onScoring: (index) => void events.push(`scoring ${index ?? "all"}`),
      onScored: (index, state) => void events.push(`scored ${index} ${state.reward}`),
      onTurn: (index, state, turn) => {
        turns.push({ index, state, turn });
        return answer(turns.length);
      },
    },
  };
}
