import type { SegmentBuffer, SegmentContents } from "../../../r2-layout/segment.ts";
import { isInfrastructureError, ROLLOUT_ERRORS } from "../../errors/codes.ts";
import { type JsonProblem, TOO_LARGE } from "../../rollouts/kept/json-problem.ts";
import { type KeptTurn, StateSnapshot } from "../../rollouts/kept/kept-state.ts";
import type { State } from "../../rollouts/types.ts";
import type { LoosePiece, SessionEvent } from "../session/session-events.ts";
import { type LooseBase, LooseRollouts } from "./loose-rollouts.ts";
import type { SavedRows } from "./saved-rows.ts";
import type { TicketHost } from "./ticket-host.ts";

/** Scoring that takes no longer is nothing to keep unscored rollouts for. Milliseconds. */
const QUICK_MS = 250;

/** One that infrastructure ended is drawn again by whoever has the unit next; all others are what the model said. */
const isKeepable = ({ error }: State): boolean => error === null || !(isInfrastructureError(error.code) || ROLLOUT_ERRORS[error.code].fatal);

/** Keeps generated rollouts of one ticket until their units have rows, and tells its session of those that are worth a place in a segment. */
export class RolloutKeeper {
  readonly #host: Pick<TicketHost, "ports" | "budget" | "note" | "times">;
  readonly #feed: (event: SessionEvent) => void;
  readonly #loose = new LooseRollouts();
  /** When units that are being scored began with it; whether the last one was done in a moment. */
  readonly #scoringSince = new Map<number, number>();
  #scoresQuickly = false;
  /** Rollouts stop at their next turn: others go on with them. */
  #leaving = false;
  /** States of this environment can be kept, as far as is known. */
  #canKeep = true;
  #toldSize = false;

  constructor(host: Pick<TicketHost, "ports" | "budget" | "note" | "times">, feed: (event: SessionEvent) => void) {
    this.#host = host;
    this.#feed = feed;
  }

  /** A rollout is generated. `last`: it is the last of its unit, which is scored next. Returns whether the session was told to keep it. */
  add(unit: number, rollout: number, state: State, base: LooseBase, last: boolean): boolean {
    const keeps = this.#canKeep && !(last && this.#scoresQuickly) && isKeepable(state);
    if (!keeps) return false;
    this.#loose.add(unit, base, rollout, state);
    this.#feed({ type: "rollout-ended", unit, rollout, keeps });
    return true;
  }

  /** Where a rollout stands between two turns. What is answered while the executor goes on is written once it is worth it. */
  turn(unit: number, rollout: number, state: State, turn: KeptTurn, base: LooseBase): "kept" | "unkept" | "leave" {
    if (!this.#canKeep) return "unkept";
    const snapshot = new StateSnapshot(state, base, turn);
    if (snapshot.problem !== null) {
      this.#refuse(snapshot.problem);
      return "unkept";
    }
    const unsaved = this.#loose.addTurn(unit, base, rollout, { snapshot, elapsed: turn.elapsed_ms });
    this.#host.times.resume();
    if (this.#leaving || unsaved >= this.#host.budget.keepTurns) this.#feed({ type: "turns-due" });
    return this.#leaving ? "leave" : "kept";
  }

  /** The executor is to end soon: rollouts that others can go on with stop at their next turn, and what is known of all is kept at once. */
  leave(): void {
    this.#leaving = true;
    this.keepAll();
  }

  /** Has all turns written that are not. */
  keepAll(): void {
    if (this.#loose.hasTurns) this.#feed({ type: "turns-due" });
  }

  /** States are about to change: what is worth keeping of them is what they are now, but where their rows will be there in a moment. */
  beginScoring(unit: number): void {
    this.#scoringSince.set(unit, this.#host.ports.now());
    if (!this.#scoresQuickly) return this.#loose.freeze(unit);
    if (this.#loose.letGo(unit)) this.#feed({ type: "unit-scoring", unit });
  }

  /** The unit has its rows. */
  finish(unit: number): void {
    const since = this.#scoringSince.get(unit);
    if (since !== undefined) this.#scoresQuickly = this.#host.ports.now() - since < QUICK_MS;
    this.#scoringSince.delete(unit);
    this.#loose.letGo(unit);
  }

  /** The unit has no rows: what is generated of it goes to whoever has it next. */
  drop(unit: number): void {
    this.#scoringSince.delete(unit);
  }

  /** Moves rollouts into `buffer`, beside the rows there; what it has no room for waits for the next segment. */
  moveInto(buffer: SegmentBuffer, pieces: readonly LoosePiece[], turns: boolean): LoosePiece[] {
    const left = this.#loose.moveInto(buffer, pieces, turns, (problem) => this.#refuse(problem));
    if (turns && this.#loose.hasTurns) this.#feed({ type: "turns-due" });
    return left;
  }

  #refuse({ path, problem }: JsonProblem): void {
    if (problem === TOO_LARGE.problem) {
      if (!this.#toldSize) this.#host.note("INFO", "A rollout is kept with its whole example only, since its state is too large");
      this.#toldSize = true;
      return;
    }
    if (this.#canKeep) this.#host.note("INFO", `Rollouts are kept with their whole example only, since their state is no JSON: ${path} ${problem}`);
    this.#canKeep = false;
  }

  /** Hands on what is not kept when the grant ends, `segments` being those that were not committed. */
  saveInto(saved: SavedRows, segments: Iterable<SegmentContents>): void {
    for (const contents of segments) this.#loose.restore(contents);
    this.#loose.saveInto(saved);
  }
}
