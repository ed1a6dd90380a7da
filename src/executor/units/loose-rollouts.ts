import { keptLine, readKeptLine } from "../../../r2-layout/kept-line.ts";
import { linesAt, type SegmentBuffer, type SegmentContents } from "../../../r2-layout/segment.ts";
import type { JsonProblem } from "../../rollouts/kept/json-problem.ts";
import { type KeptBase, StateSnapshot } from "../../rollouts/kept/kept-state.ts";
import type { State } from "../../rollouts/types.ts";
import type { LoosePiece } from "../session/session-events.ts";
import type { SavedRows } from "./saved-rows.ts";

export interface LooseBase extends KeptBase {
  /** What rows of the unit depend on beside it (saved-rows.ts). */
  readonly terms: string;
}

interface Unit {
  readonly base: LooseBase;
  readonly rollouts: Map<number, State | StateSnapshot>;
  /** Those that were on their way and did not arrive. */
  readonly texts: Map<number, string>;
}

/** Generated rollouts of units that have no rows yet: what is written of them when they are kept. */
export class LooseRollouts {
  readonly #units = new Map<number, Unit>();

  add(unit: number, base: LooseBase, rollout: number, state: State): void {
    const known = this.#units.get(unit);
    if (known === undefined) this.#units.set(unit, { base, rollouts: new Map([[rollout, state]]), texts: new Map() });
    else known.rollouts.set(rollout, state);
  }

  /** The unit's states are about to be changed by their scoring: what is kept of them is what they are now. */
  freeze(unit: number): void {
    const known = this.#units.get(unit);
    if (known === undefined) return;
    for (const [rollout, state] of known.rollouts) if (!(state instanceof StateSnapshot)) known.rollouts.set(rollout, new StateSnapshot(state, known.base));
  }

  /** False when there was nothing of the unit. */
  letGo(unit: number): boolean {
    return this.#units.delete(unit);
  }

  /** The text of a rollout; null when there is none any more, or it cannot be kept. */
  #textOf(unit: number, rollout: number, refuse: (problem: JsonProblem) => void): string | null {
    const known = this.#units.get(unit);
    const state = known?.rollouts.get(rollout);
    if (known === undefined || state === undefined) return null;
    const keeping = (state instanceof StateSnapshot ? state : new StateSnapshot(state, known.base)).text();
    if (keeping.ok) return keeping.text;
    refuse(keeping);
    return null;
  }

  /** Moves these rollouts into `buffer`; returns those that it has no room for. `refuse` is told why one cannot be kept. */
  moveInto(buffer: SegmentBuffer, pieces: readonly LoosePiece[], refuse: (problem: JsonProblem) => void): LoosePiece[] {
    return pieces.flatMap(({ unit, rollouts }) => {
      const lines = rollouts.flatMap((rollout) => {
        const text = this.#textOf(unit, rollout, refuse);
        return text === null ? [] : [{ rollout, line: keptLine(rollout, text) }];
      });
      const taken = buffer.addPiece(unit, lines);
      for (const { rollout } of lines.slice(0, taken)) this.#units.get(unit)?.rollouts.delete(rollout);
      const left = lines.slice(taken).map(({ rollout }) => rollout);
      return left.length === 0 ? [] : [{ unit, rollouts: left }];
    });
  }

  /** Takes back what was moved into a segment that was not committed. */
  restore({ bytes, pieces }: SegmentContents): void {
    for (const place of pieces) {
      const lines = linesAt(bytes, place);
      const known = this.#units.get(place.unit);
      if (!lines.ok || known === undefined) continue;
      for (const line of lines.value) {
        const kept = readKeptLine(line);
        if (kept !== null) known.texts.set(kept.rollout, kept.text);
      }
    }
  }

  /** Everything that is not kept goes to the next grant of this executor. */
  saveInto(saved: SavedRows): void {
    for (const [unit, { base, rollouts, texts }] of this.#units) {
      for (const rollout of rollouts.keys()) {
        const text = this.#textOf(unit, rollout, () => undefined);
        if (text !== null) texts.set(rollout, text);
      }
      saved.keepRollouts(unit, base.terms, texts);
    }
    this.#units.clear();
  }
}
