import type { Outbox } from "../environment-protocol/outbox.ts";
import { type KeptBase, type KeptTurn, StateSnapshot } from "../rollouts/kept/kept-state.ts";
import type { State } from "../rollouts/types.ts";

/** Scoring that takes no longer is nothing to tell of beforehand. Milliseconds. */
const QUICK_MS = 250;

/** How units of one session get on: what they have in common. */
export interface Pace {
  scoresQuickly: boolean;
  /** Rollouts stop at their next turn. */
  leaving: boolean;
  /** Nobody keeps turns. */
  unkept: boolean;
  /** It was told that states of this environment cannot be kept. */
  toldUnkept: boolean;
}

export interface ProgressOf {
  readonly unit: number;
  readonly base: KeptBase;
  readonly indices: readonly number[];
  /** Of them, those that have no scores yet. */
  readonly unscored: number;
  readonly tellsAll: boolean;
}

/**
 * Tells how the rollouts of one unit get on, so that nobody has to make them again. What is over in a moment is not told: a text per rollout is nearly all
 * that a walled environment costs.
 */
export class Progress {
  readonly #outbox: Outbox;
  readonly #pace: Pace;
  readonly #of: ProgressOf;
  readonly #now: () => number;
  /** What is generated and not told: its state does not change before it is scored. */
  readonly #generated = new Map<number, State>();
  readonly #scoringSince = new Map<number | null, number>();
  #unscored: number;

  constructor(outbox: Outbox, pace: Pace, of: ProgressOf, now: () => number) {
    this.#outbox = outbox;
    this.#pace = pace;
    this.#of = of;
    this.#now = now;
    this.#unscored = of.unscored;
  }

  #name(rollout: number): string {
    return `${this.#of.unit}/${rollout}`;
  }

  #word(type: "generated" | "scored", rollout: number, snapshot: StateSnapshot) {
    const made = snapshot.text();
    if (!made.ok) return null;
    return { message: { type, unit: this.#of.unit, rollout, text: made.text }, characters: made.text.length };
  }

  generated(rollout: number, state: State): void {
    this.#generated.set(rollout, state);
    const name = this.#name(rollout);
    this.#outbox.later(name, () => {
      this.#generated.delete(rollout);
      return this.#word("generated", rollout, new StateSnapshot(state, this.#of.base));
    });
    if (this.#of.tellsAll) this.#outbox.now(name);
  }

  /** States are about to change. */
  scoring(rollout: number | null): void {
    this.#scoringSince.set(rollout, this.#now());
    const { scoresQuickly } = this.#pace;
    for (const [each, state] of this.#generated) {
      if (rollout !== null && each !== rollout) continue;
      this.#generated.delete(each);
      const name = this.#name(each);
      if (scoresQuickly) {
        this.#outbox.unsay(name);
        continue;
      }
      const snapshot = new StateSnapshot(state, this.#of.base);
      this.#outbox.later(name, () => this.#word("generated", each, snapshot));
    }
    const { unit } = this.#of;
    const word = this.#scoringName(rollout);
    if (this.#of.tellsAll || !scoresQuickly) this.#outbox.later(word, () => ({ message: { type: "scoring", unit, rollout }, characters: 0 }));
    if (!this.#of.tellsAll) return;
    if (rollout !== null) this.#outbox.now(this.#name(rollout));
    else for (const each of this.#of.indices) this.#outbox.now(this.#name(each));
    this.#outbox.now(word);
  }

  #scoringName(rollout: number | null): string {
    return `${this.#of.unit}/scoring/${rollout ?? "all"}`;
  }

  scored(rollout: number, state: State): void {
    this.#measure(rollout);
    // The unit is over in a moment.
    if (--this.#unscored === 0) return void this.#outbox.unsay(this.#name(rollout));
    this.#outbox.later(this.#name(rollout), () => this.#word("scored", rollout, new StateSnapshot(state, this.#of.base, "scored")));
  }

  turn(rollout: number, state: State, turn: KeptTurn): "kept" | "unkept" | "leave" {
    const { unit } = this.#of;
    if (this.#pace.unkept) return "unkept";
    const snapshot = new StateSnapshot(state, this.#of.base, turn);
    if (snapshot.problem !== null) {
      if (!this.#pace.toldUnkept) this.#outbox.put({ type: "turn", unit, rollout, text: null, problem: snapshot.problem });
      this.#pace.toldUnkept = true;
      return "unkept";
    }
    this.#outbox.later(this.#name(rollout), () => {
      const made = snapshot.text();
      if (made.ok) return { message: { type: "turn", unit, rollout, text: made.text }, characters: made.text.length };
      const { path, problem } = made;
      return { message: { type: "turn", unit, rollout, text: null, problem: { path, problem } }, characters: 0 };
    });
    if (!this.#pace.leaving) return "kept";
    this.#outbox.now(this.#name(rollout));
    return "leave";
  }

  /** The unit is over: its last forms say it all. */
  end(wasCut: boolean): void {
    for (const since of [...this.#scoringSince.keys()]) this.#measure(since);
    for (const rollout of this.#of.indices) {
      if (wasCut) this.#outbox.now(this.#name(rollout));
      else this.#outbox.unsay(this.#name(rollout));
    }
  }

  #measure(rollout: number | null): void {
    const since = this.#scoringSince.get(rollout);
    if (since === undefined) return;
    this.#scoringSince.delete(rollout);
    this.#outbox.unsay(this.#scoringName(rollout));
    this.#pace.scoresQuickly = this.#now() - since < QUICK_MS;
  }
}
