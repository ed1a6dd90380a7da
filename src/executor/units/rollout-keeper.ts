import type { SegmentBuffer, SegmentContents } from "../../../r2-layout/segment.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { isScoredAlone } from "../../environments/hosted/traits.ts";
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

const nameOf = (unit: number, rollout: number | null): number | string => (rollout === null ? unit : `${unit}/${rollout}`);

type Host = Pick<TicketHost, "ports" | "budget" | "note" | "times" | "environment">;

/** Keeps generated rollouts of one ticket until their units have rows, and tells its session of those that are worth a place in a segment. */
export class RolloutKeeper {
  readonly #host: Host;
  readonly #feed: (event: SessionEvent) => void;
  readonly #loose: LooseRollouts;
  /** Scores wait until nothing more is to be generated; or each rollout is scored by itself when it is generated. */
  readonly #postponed: boolean;
  readonly #alone: boolean;
  /** Rollouts of open units that are to be generated yet, and to be scored. */
  readonly #left = new Map<number, { missing: number; unscored: number }>();
  /** When units, or single rollouts of them, that are being scored began with it; whether the last one was done in a moment. */
  readonly #scoringSince = new Map<number | string, number>();
  #scoresQuickly = false;
  /** Rollouts stop at their next turn: others go on with them. */
  #leaving = false;
  /** What is told late, by an environment whose code is elsewhere, has nothing to wait for either. */
  #hurries = false;
  /** States of this environment can be kept, as far as is known. */
  #canKeep: boolean;
  #toldSize = false;
  /** Units of which this grant has a span, with those of its rollouts that have the form in which they are kept. */
  readonly #spans = new Map<number, Set<number>>();
  readonly #cannot: () => void;

  /** `cannot`: called when a rollout of a span cannot be kept, so that the span is never over. */
  constructor(host: Host, config: RunConfig, feed: (event: SessionEvent) => void, cannot: () => void) {
    this.#host = host;
    this.#loose = new LooseRollouts(host.ports.bytes);
    this.#cannot = cannot;
    this.#postponed = config.no_interleave_scoring === true;
    this.#alone = !this.#postponed && isScoredAlone(host.environment.traits, { independent: config.independent_scoring });
    this.#canKeep = !host.environment.traits.whole;
    this.#feed = feed;
  }

  /** Whether others can go on with what is open: a rollout from its last turn, and an example of which some rollouts are generated. */
  keeps(): boolean {
    return this.#canKeep && this.#host.environment.traits.resumable;
  }

  isScoring(): boolean {
    return this.#scoringSince.size > 0;
  }

  /** The unit is played: so many of its rollouts are to be generated, and so many to be scored. */
  expect(unit: number, missing: number, unscored: number): void {
    this.#left.set(unit, { missing, unscored });
  }

  /** Of the unit this grant has a span: all its rollouts are kept, whatever they ended in. */
  beginSpan(unit: number): void {
    this.#spans.set(unit, new Set());
  }

  /** A rollout of a span has its last form here. A second time for the same one says nothing new. */
  keepInSpan(unit: number, rollout: number, state: State, base: LooseBase, kind: "generated" | "scored"): void {
    const kept = this.#spans.get(unit);
    if (kept === undefined || kept.has(rollout) || (state.error !== null && ROLLOUT_ERRORS[state.error.code].fatal)) return;
    kept.add(rollout);
    this.#loose.add(unit, base, rollout, state, kind);
    this.#feed({ type: "rollout-scored", unit, rollout });
  }

  /** The span is over: all of it is kept. */
  endSpan(unit: number): void {
    this.#spans.delete(unit);
    this.finish(unit);
  }

  /** A rollout is generated. Returns whether the session was told to keep it. */
  add(unit: number, rollout: number, state: State, base: LooseBase): boolean {
    if (this.#spans.has(unit) && !this.#alone) {
      this.keepInSpan(unit, rollout, state, base, "generated");
      return false;
    }
    const left = this.#left.get(unit);
    // The unit is scored next.
    const last = left !== undefined && --left.missing === 0 && !this.#postponed;
    const comesSoon = this.#scoresQuickly && (last || this.#alone);
    const keeps = this.#canKeep && !comesSoon && isKeepable(state);
    if (!keeps) return false;
    this.#loose.add(unit, base, rollout, state, this.#alone ? "unscored" : "generated");
    this.#feed({ type: "rollout-ended", unit, rollout, keeps });
    return true;
  }

  /** Where a rollout stands between two turns. What is answered while the executor goes on is written once it is worth it. */
  turn(unit: number, rollout: number, state: State, turn: KeptTurn, base: LooseBase): "kept" | "unkept" | "leave" {
    if (!this.#canKeep) return "unkept";
    const snapshot = new StateSnapshot(state, base, turn);
    if (snapshot.problem !== null) {
      this.#refuse(snapshot.problem, unit);
      return "unkept";
    }
    const unsaved = this.#loose.addTurn(unit, base, rollout, { snapshot, elapsed: turn.elapsed_ms });
    this.#host.times.resume();
    if (this.#hurries || unsaved >= this.#host.budget.keepTurns) this.#feed({ type: "turns-due" });
    return this.#leaving ? "leave" : "kept";
  }

  /** The executor is to end soon: rollouts that others can go on with stop at their next turn, and what is known of all is kept at once. */
  leave(): void {
    this.#leaving = true;
    this.keepAll();
  }

  /** Has all turns written that are not. */
  keepAll(): void {
    this.#hurries = true;
    if (this.#loose.hasTurns) this.#feed({ type: "turns-due" });
  }

  /** States are about to change: what is worth keeping of them is what they are now, but where their rows will be there in a moment. */
  beginScoring(unit: number, rollout: number | null): void {
    const one = this.#alone ? rollout : null;
    const name = nameOf(unit, one);
    if (!this.#scoringSince.has(name)) this.#scoringSince.set(name, this.#host.ports.now());
    if (!this.#scoresQuickly) return this.#loose.freeze(unit, one);
    if (one === null && this.#loose.letGo(unit)) this.#feed({ type: "unit-scoring", unit });
  }

  /** A rollout was scored by itself. */
  scored(unit: number, rollout: number, state: State, base: LooseBase): void {
    if (!this.#alone) return;
    this.#measure(nameOf(unit, rollout));
    if (this.#spans.has(unit)) return this.keepInSpan(unit, rollout, state, base, "scored");
    const left = this.#left.get(unit);
    // The unit has its rows in a moment.
    const last = left !== undefined && --left.unscored === 0;
    if (last || !this.#canKeep || !isKeepable(state)) return;
    this.#loose.add(unit, base, rollout, state, "scored");
    this.#feed({ type: "rollout-scored", unit, rollout });
  }

  #measure(name: number | string): void {
    const since = this.#scoringSince.get(name);
    if (since !== undefined) this.#scoresQuickly = this.#host.ports.now() - since < QUICK_MS;
    this.#scoringSince.delete(name);
  }

  /** The unit has its rows. */
  finish(unit: number): void {
    this.#measure(unit);
    this.#left.delete(unit);
    this.#loose.letGo(unit);
  }

  /** The unit has no rows: what is generated of it goes to whoever has it next. */
  drop(unit: number): void {
    this.#scoringSince.delete(unit);
    this.#left.delete(unit);
    this.#spans.delete(unit);
  }

  /** Moves rollouts into `buffer`, beside the rows there; what it has no room for waits for the next segment. */
  moveInto(buffer: SegmentBuffer, pieces: readonly LoosePiece[], turns: boolean): LoosePiece[] {
    const left = this.#loose.moveInto(buffer, pieces, turns, (problem, unit) => this.#refuse(problem, unit));
    if (turns && this.#loose.hasTurns) this.#feed({ type: "turns-due" });
    return left;
  }

  #refuse({ path, problem }: JsonProblem, unit: number): void {
    if (this.#spans.has(unit)) this.#cannot();
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
