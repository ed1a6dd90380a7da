import type { SegmentBuffer, SegmentContents } from "../../../r2-layout/segment.ts";
import { isInfrastructureError, ROLLOUT_ERRORS } from "../../errors/codes.ts";
import { TOO_LARGE } from "../../rollouts/kept/json-problem.ts";
import type { State } from "../../rollouts/types.ts";
import type { LoosePiece, SessionEvent } from "../session/session-events.ts";
import { type LooseBase, LooseRollouts } from "./loose-rollouts.ts";
import type { SavedRows } from "./saved-rows.ts";

/** Scoring that takes no longer is nothing to keep unscored rollouts for. Milliseconds. */
const QUICK_MS = 250;

export interface KeeperHost {
  readonly now: () => number;
  readonly feed: (event: SessionEvent) => void;
  readonly note: (level: "INFO", message: string) => void;
}

/** One that infrastructure ended is drawn again by whoever has the unit next; all others are what the model said. */
const isKeepable = ({ error }: State): boolean => error === null || !(isInfrastructureError(error.code) || ROLLOUT_ERRORS[error.code].fatal);

/** Keeps generated rollouts of one ticket until their units have rows, and tells its session of those that are worth a place in a segment. */
export class RolloutKeeper {
  readonly #host: KeeperHost;
  readonly #loose = new LooseRollouts();
  /** When units that are being scored began with it; whether the last one was done in a moment. */
  readonly #scoringSince = new Map<number, number>();
  #scoresQuickly = false;
  /** States of this environment can be kept, as far as is known. */
  #canKeep = true;

  constructor(host: KeeperHost) {
    this.#host = host;
  }

  /** A rollout is generated. `last`: it is the last of its unit, which is scored next. Returns whether the session was told to keep it. */
  add(unit: number, rollout: number, state: State, base: LooseBase, last: boolean): boolean {
    const keeps = this.#canKeep && !(last && this.#scoresQuickly) && isKeepable(state);
    if (!keeps) return false;
    this.#loose.add(unit, base, rollout, state);
    this.#host.feed({ type: "rollout-ended", unit, rollout, keeps });
    return true;
  }

  /** States are about to change: what is worth keeping of them is what they are now, but where their rows will be there in a moment. */
  beginScoring(unit: number): void {
    this.#scoringSince.set(unit, this.#host.now());
    if (!this.#scoresQuickly) return this.#loose.freeze(unit);
    if (this.#loose.letGo(unit)) this.#host.feed({ type: "unit-scoring", unit });
  }

  /** The unit has its rows. */
  finish(unit: number): void {
    const since = this.#scoringSince.get(unit);
    if (since !== undefined) this.#scoresQuickly = this.#host.now() - since < QUICK_MS;
    this.#scoringSince.delete(unit);
    this.#loose.letGo(unit);
  }

  /** The unit has no rows: what is generated of it goes to whoever has it next. */
  drop(unit: number): void {
    this.#scoringSince.delete(unit);
  }

  /** Moves rollouts into `buffer`, beside the rows there; what it has no room for waits for the next segment. */
  moveInto(buffer: SegmentBuffer, pieces: readonly LoosePiece[]): LoosePiece[] {
    return this.#loose.moveInto(buffer, pieces, ({ path, problem }) => {
      if (problem === TOO_LARGE.problem) return this.#host.note("INFO", "A rollout is kept with its whole example only, since its state is too large");
      if (this.#canKeep) this.#host.note("INFO", `Rollouts are kept with their whole example only, since their state is no JSON: ${path} ${problem}`);
      this.#canKeep = false;
    });
  }

  /** Hands on what is not kept when the grant ends, `segments` being those that were not committed. */
  saveInto(saved: SavedRows, segments: Iterable<SegmentContents>): void {
    for (const contents of segments) this.#loose.restore(contents);
    this.#loose.saveInto(saved);
  }
}
