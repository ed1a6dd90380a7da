import type { Seat } from "./isolate.ts";
import type { UnitTimes, Wall } from "./unit-times.ts";
import type { BeatAnswer, Block, ClaimAnswer, CommitAnswer, Holding } from "../../../durable-objects/run/protocol.ts";

/** What a session is told and what it asks for (session.ts). Times are milliseconds of the executor's own clock. */
export interface UnitWork {
  readonly unit: number;
  readonly block: Block;
}

/** Generated rollouts of a unit that has no rows. */
export interface LoosePiece {
  readonly unit: number;
  readonly rollouts: readonly number[];
}

/** A call that failed: how long to leave it alone (retry-waits.ts). Milliseconds. */
interface Failed {
  readonly wait: number;
}

export type SessionEvent =
  | { readonly type: "tick" }
  | { readonly type: "claimed"; readonly seq: number; readonly sentAt: number; readonly answer: ClaimAnswer }
  | ({ readonly type: "claim-failed"; readonly seq: number } & Failed)
  /** The unit's rows are in the buffer; `full` when the buffer is. */
  | { readonly type: "unit-finished"; readonly unit: number; readonly full: boolean }
  /** One of its rollouts is generated, and with `keeps` to be kept; told where there is a `wall`, or it has to wait for its scores. */
  | { readonly type: "rollout-ended"; readonly unit: number; readonly rollout: number; readonly keeps: boolean }
  /** One of its rollouts was scored by itself, while others are not, and is to be kept with its scores. */
  | { readonly type: "rollout-scored"; readonly unit: number; readonly rollout: number }
  /** Its rows come in a moment, and its rollouts with them. */
  | { readonly type: "unit-scoring"; readonly unit: number }
  /** Rollouts that there was no room for in the segment that was to take them. */
  | ({ readonly type: "rollouts-left" } & LoosePiece)
  /** Where rollouts stand between two turns is worth a place in a segment. */
  | { readonly type: "turns-due" }
  /** All its rollouts are generated, and wait to be scored (only with `hold`). */
  | { readonly type: "unit-generated"; readonly unit: number }
  /** All rollouts of its span (`Block.span`) are generated, and are to be kept as `rollout-ended` and `rollout-scored` have said. */
  | { readonly type: "span-ended"; readonly unit: number }
  /** Given up without rows (aborted). */
  | { readonly type: "unit-dropped"; readonly unit: number }
  /** The segment of flush `n` is in R2 (put, or found there with the same digest). */
  | { readonly type: "stored"; readonly n: number }
  | ({ readonly type: "store-failed"; readonly n: number } & Failed)
  | { readonly type: "committed"; readonly n: number; readonly sentAt: number; readonly answer: CommitAnswer }
  | ({ readonly type: "commit-failed"; readonly n: number } & Failed)
  | { readonly type: "beaten"; readonly sentAt: number; readonly answer: BeatAnswer }
  | ({ readonly type: "beat-failed"; readonly sentAt: number } & Failed)
  /** The buffer has no room for the next unit: what is in it must go first. */
  | { readonly type: "flush" }
  /** No more than so many requests are to be under way from now on, and as they become fewer: so many of the model and of judges are. */
  | { readonly type: "narrow"; readonly requests: number }
  | { readonly type: "narrowed"; readonly requests: number; readonly scoring?: number }
  /** What was to be given back and is under way still is kept: nobody needs it any more. */
  | { readonly type: "keep" }
  /** The driver wants out: slice over (`drain`), yield (`drain`), parent gone or fatal error (`abort`). */
  | { readonly type: "stop"; readonly how: "drain" | "abort" };

export type Effect =
  | { readonly type: "claim"; readonly seq: number; readonly free: number; readonly soon: number; readonly open: number; readonly started: readonly number[] }
  | { readonly type: "start"; readonly work: UnitWork }
  /** Score these units, which wait for it: nothing is generated meanwhile. */
  | { readonly type: "score"; readonly units: readonly number[] }
  /** Take everything buffered, these rollouts, and with `turns` where all others stand, and put it as segment number `n`; repeated for the same `n` after a failure. */
  | { readonly type: "store"; readonly n: number; readonly units: readonly number[]; readonly pieces: readonly LoosePiece[]; readonly turns: boolean }
  /** `started` of this, of a claim and of a beat: what the Run is told to have begun. */
  | {
      readonly type: "commit";
      readonly n: number;
      readonly units: readonly number[];
      readonly pieces: readonly LoosePiece[];
      /** Units of which nothing of this grant is left open with it, but for their rows. */
      readonly spans: readonly number[];
      readonly started: readonly number[];
    }
  | { readonly type: "beat"; readonly started: readonly number[] }
  /** Abort every request of this grant, now. `closes`: nobody goes on with what is open. */
  | { readonly type: "abort"; readonly closes: boolean }
  /** Abort what is being generated, for good; what is generated is scored still. */
  | { readonly type: "end-generation" }
  /** Let this be under way at most, less than before or more, and say (`narrowed`) how much is as it becomes less. */
  | { readonly type: "narrow"; readonly holding: Holding }
  /** The run has this weight from now on. */
  | { readonly type: "weigh"; readonly priority: number }
  | { readonly type: "leave" }
  /** The session is over; no further effects. */
  | { readonly type: "over" };

export interface SessionTiming {
  /** Distance kept from the end of the lease (self-fencing). */
  readonly margin: number;
  /** Wait after an empty claim. */
  readonly idle: number;
  /** Units that may be generated before the first of them is scored; absent = each is scored as soon as it can be. */
  readonly hold?: number;
  /** Units whose rows are here already, from a grant that ended before they were committed; absent = none. */
  readonly saved?: (unit: number) => boolean;
  /** What is open then is lost; absent = nothing ends the executor. */
  readonly wall?: Wall;
  /** Its place among the grants that share its isolate; absent = it has it for itself. */
  readonly seat?: Seat;
  /** Of what is open: whether others can go on with it, and whether any of it is being scored; absent = they can, and none is. */
  readonly open?: { keeps(): boolean; isScoring(): boolean };
  /** Whether calls of what is open wait that no budget will pay for, and none is under way; absent = never. */
  readonly isUnpaid?: () => boolean;
  /** Model requests that its executor could carry for the run now; absent = as many as it is given. */
  readonly room?: () => number;
  /** What is known from earlier grants; absent = nothing. */
  readonly times?: UnitTimes;
}
