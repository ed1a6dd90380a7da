import type { CommitPiece } from "../../../durable-objects/run/protocol.ts";
import type { LoosePiece } from "../../../src/executor/session/session-events.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

/** What a row says of the code that made it, and, as a metric, which it was. */
export type Made = Pick<RolloutSummary, "metrics" | "env_digest">;

/** A rollout as one executor has it, or as it is kept: so many turns are answered, and what it came to once all are. */
export interface Standing {
  readonly turns: number;
  /** Null between two turns. */
  readonly said: RolloutSummary | null;
  /** It waits for scores of its own: a later form of it counts in place of this one. */
  readonly unscored?: true;
}

/** A piece of a segment with what its lines hold. */
export interface PackedPiece extends CommitPiece {
  readonly lines: ReadonlyMap<number, Standing>;
}

const PIECE = { offset: 0, length: 10 };

/** What an executor has under one grant of rollouts whose units have no rows, as `LooseRollouts` does: what of them goes into a segment. */
export class Loose {
  /** By unit and rollout. */
  readonly #units = new Map<number, Map<number, Standing>>();
  readonly #turns = new Map<number, Map<number, Standing>>();
  /** When what a rollout has said was last written, or it began. Milliseconds. */
  readonly #writtenAt = new Map<string, number>();

  ended(unit: number, rollout: number, standing: Standing): void {
    of(this.#units, unit).set(rollout, standing);
    this.#turns.get(unit)?.delete(rollout);
  }

  begins(unit: number, rollout: number, now: number): void {
    if (!this.#writtenAt.has(`${unit}/${rollout}`)) this.#writtenAt.set(`${unit}/${rollout}`, now);
  }

  /** Returns how long nothing of the rollout was written. */
  turned(unit: number, rollout: number, turns: number, now: number): number {
    of(this.#turns, unit).set(rollout, { turns, said: null });
    return now - (this.#writtenAt.get(`${unit}/${rollout}`) ?? now);
  }

  get hasTurns(): boolean {
    return [...this.#turns.values()].some((turns) => turns.size > 0);
  }

  /** The unit has its rows, or its span is over. */
  letGo(unit: number): void {
    this.#units.delete(unit);
    this.#turns.delete(unit);
  }

  pack(pieces: readonly LoosePiece[], turns: boolean, now: number): PackedPiece[] {
    const asked = new Map(pieces.map(({ unit, rollouts }) => [unit, rollouts]));
    const units = turns ? new Set([...this.#turns.keys(), ...asked.keys()]) : asked.keys();
    return [...units].flatMap((unit) => {
      const lines = new Map<number, Standing>();
      for (const rollout of asked.get(unit) ?? []) {
        const standing = this.#units.get(unit)?.get(rollout);
        if (standing !== undefined) lines.set(rollout, standing);
      }
      for (const [rollout, standing] of turns ? (this.#turns.get(unit) ?? []) : []) {
        lines.set(rollout, standing);
        this.#writtenAt.set(`${unit}/${rollout}`, now);
      }
      if (turns) this.#turns.delete(unit);
      if (lines.size === 0) return [];
      const those = (is: (standing: Standing) => boolean): number[] => [...lines].flatMap(([rollout, standing]) => (is(standing) ? [rollout] : []));
      const begun = those(({ said, unscored }) => said === null || unscored === true);
      const unscored = those((standing) => standing.unscored === true);
      return [
        {
          unit,
          ...PIECE,
          rollouts: those(({ said, unscored: waits }) => said !== null && waits !== true),
          ...(begun.length === 0 ? {} : { begun }),
          ...(unscored.length === 0 ? {} : { unscored }),
          lines,
        },
      ];
    });
  }
}

function of(units: Map<number, Map<number, Standing>>, unit: number): Map<number, Standing> {
  const known = units.get(unit) ?? new Map<number, Standing>();
  units.set(unit, known);
  return known;
}
