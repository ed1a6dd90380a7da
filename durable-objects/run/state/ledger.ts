import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { RunHead } from "./head.ts";
import type { Allowance, ClaimDecision, CommitPiece, InputChunk, Piece, TicketTask, UnitRange } from "../protocol.ts";
import type { Place } from "../../../r2-layout/place.ts";
import type { ResponseModels } from "../../../src/metrics/response-models.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { BatchStore } from "../batching/batch-store.ts";
import type { PushedStore } from "../pushed/pushed-store.ts";
import type { StoppingStore } from "../stopping/stopping-store.ts";
import type { OrderStore } from "./tables/order-store.ts";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";

/** A live grant. Deleted when it ends; its claims end in the same transaction. A change is a new value: ledgers remember what they gave out. */
export interface Ticket {
  readonly id: number;
  readonly epoch: number;
  readonly executor: string;
  /** Number of the join that made it. */
  readonly joined: number;
  readonly boot: string;
  /** Life of its process; absent in tickets of versions that do not tell. */
  readonly runtime?: string;
  readonly task: TicketTask;
  /** This and the next three fall when the executor gives some of it back, and rise with what it is allowed anew, and by nothing else. */
  readonly lanes: number;
  readonly requests: number;
  /** Its part of `max_concurrent_generation`; absent = no such limit. */
  readonly generation?: number;
  /** Requests of judges at once; absent = no limit, and in tickets of versions without one. */
  readonly scoring?: number;
  /** What its executor said that it can carry; absent in tickets of versions that keep no word of it = what was granted. */
  readonly room?: number;
  /** It takes another allowance; absent = it does not. */
  readonly steers?: true;
  /** The newest allowance, in place of what was granted: more is counted above already, less is not yet. Absent = there was none. */
  readonly allows?: Allowance;
  /** Requests answered, as last reported; it and the time absent in tickets of versions that report none. */
  readonly progress?: number;
  /** What answers said of the model, as last reported; absent = nothing, and in tickets of versions that report none. */
  readonly response_models?: ResponseModels;
  /** When that number last grew, or the grant began. Unix milliseconds, as are all times here, of the Run's clock. */
  readonly progressed_at?: number;
  /** Its executor met a refusal that every further call would meet; absent = not. */
  readonly refused?: boolean;
  /** Its executor had a rollout end without a connection; absent = not. */
  readonly unconnected?: boolean;
  readonly lease_until: number;
  /** Units begun and not committed, as last reported. */
  readonly started: readonly number[];
  /** True while it holds a suspect unit and nothing else. */
  readonly alone: boolean;
  /** That unit is not alone in its isolate; absent = it is, as far as is known. */
  readonly beside?: true;
  /** Last claim; its answer is kept beside the ticket, since the same `seq` gets the same answer. */
  readonly seq: number;
}

export interface Claim extends UnitRange {
  readonly ticket: number;
  readonly epoch: number;
}

/** Rollouts `[lo, hi)` of a unit that is divided (grants/spans.ts), as one grant has them. */
export interface Span {
  readonly unit: number;
  readonly lo: number;
  readonly hi: number;
  readonly ticket: number;
  readonly epoch: number;
}

export interface Spans {
  /** Of all divided units, those of each by their first rollout. */
  byUnit(): ReadonlyMap<number, readonly Span[]>;
  put(span: Span): void;
  delete(span: Span): void;
}

/** Its place is the one that it was committed with. */
export interface Done extends Place {
  readonly unit: number;
  /** Null: a rollout that an adopted folder lacks; such a unit is owed. */
  readonly rollouts: readonly (RolloutSummary | null)[];
  /** Waiting to be replaced by a repair; its rows count until then. */
  readonly owed: boolean;
}

export type DonePlace = Pick<Done, "unit" | "segment" | "offset" | "length" | "owed">;

/** `lapses`: tickets that lapsed with the unit started; `alone`: lapses while nothing else was open beside it, a half for each that others lapsed with. */
export interface Suspect {
  readonly unit: number;
  readonly lapses: number;
  readonly alone: number;
  /** Waiting to be claimed, apart from the ordinary pending ranges. */
  readonly waiting: boolean;
}

/** The first `length` bytes of `segment` are at `start` of `target` as well, which holds those of many. */
export interface Moved {
  readonly segment: string;
  readonly target: string;
  readonly start: number;
  readonly length: number;
}

export interface CommitEvent extends StoredEvent {
  /** Accepted units of the commit, in order; their rows are in `segment`. */
  readonly units: readonly number[];
  readonly segment: string | null;
}

/**
 * The tables of one Run as the transitions see them. Synchronous, and inside one transaction per transition: the caller
 * provides atomicity (`transactionSync` in the Durable Object, snapshot and rollback in the simulator).
 */
export interface Ledger {
  config(): RunConfig;
  putConfig(config: RunConfig): void;
  head(): RunHead | null;
  putHead(head: RunHead): void;

  /** By id. */
  tickets(): readonly Ticket[];
  ticket(id: number): Ticket | null;
  putTicket(ticket: Ticket): void;
  /** Stores a ticket together with the answer to its claim `ticket.seq`. */
  putAnswered(ticket: Ticket, answer: ClaimDecision): void;
  lastAnswer(ticket: number): ClaimDecision | null;
  deleteTicket(id: number): void;

  /** Lowest returned range, or null. Ranges never touch a done, claimed or suspect unit, nor each other. */
  firstReturned(): UnitRange | null;
  putReturned(range: UnitRange): void;
  deleteReturned(lo: number): void;
  /** Returned ranges that reach into `range`. */
  returnedIn(range: UnitRange): readonly UnitRange[];

  claimsOf(ticket: number): readonly Claim[];
  /** Claims of any ticket that reach into `range`. */
  claimsIn(range: UnitRange): readonly Claim[];
  putClaim(claim: Claim): void;
  /**
   * `settled`: units of a ticket that this transaction settled. Claims of it without an open unit are forgotten: a repeat of what was
   * committed needs none, and a run has as many claims as are under way, not as there ever were.
   */
  trimClaims(ticket: number, settled: readonly number[]): void;
  deleteClaimsOf(ticket: number): void;
  /** False when its ticket has no claim that begins there. */
  deleteClaim(claim: Claim): boolean;
  readonly spans: Spans;

  /** Of a pushed evaluation alone. */
  readonly pushed: PushedStore;
  /** Of a run with a rule to stop by. */
  readonly stopping: StoppingStore;
  /** Of a run whose requests go out in batches. */
  readonly batching: BatchStore;

  /** How the pinned examples stand. */
  readonly order: Pick<OrderStore, "get" | "permute">;

  /** Forgets all done units, and where their rows were merged. */
  clearDone(): void;
  done(unit: number): Done | null;
  putDone(done: Done): void;
  /** The same for all units of a commit at once. */
  putDones(dones: readonly Done[]): void;
  /** In which segment the done units of `[lo, hi)` were committed, and where in it, ascending. `relocated` tells where that is now. */
  placesIn(range: UnitRange): readonly DonePlace[];
  /** Units of `[lo, hi)` that are done and not owed, ascending. */
  settledIn(range: UnitRange): readonly number[];
  /** Done rows of `[lo, hi)` that are owed to a repair, ascending. */
  owedIn(range: UnitRange): readonly Done[];
  /** Where the rows of all done units from `unit` on are now, ascending; a lazy scan that unpacks nothing. */
  placesFrom(unit: number): Iterable<DonePlace>;
  /** All done rows from `unit` on, ascending; a lazy scan. */
  doneFrom(unit: number): Iterable<Done>;
  /** The done ones of these units, in the order in which they are named. */
  donesOf(units: readonly number[]): readonly Done[];
  /** Done rows of `[lo, hi)` with a rollout that is missing or ended in an error, ascending, those without unread; others may be among them. */
  failedIn(range: UnitRange): readonly Done[];

  suspect(unit: number): Suspect | null;
  waitingSuspects(): readonly Suspect[];
  putSuspect(suspect: Suspect): void;
  suspectsIn(range: UnitRange): readonly Suspect[];
  deleteSuspect(unit: number): void;

  /** Generated rollouts of the units of `[lo, hi)` that are not done, by unit. */
  piecesIn(range: UnitRange): readonly Piece[];
  /** How many rollouts there are in all pieces. */
  keptRollouts(): number;
  putPieces(segment: string, pieces: readonly CommitPiece[]): void;
  /** Rollouts of a unit that are generated now, or stand further on: where they stood before is forgotten. */
  passTurns(unit: number, rollouts: readonly number[]): void;
  /** Of units that are done now. */
  dropPieces(units: readonly number[]): void;
  /** Carries what there is for units that are not done over into a new generation; pieces of no other generation count. */
  renewPieces(generation: number): void;

  chunksIn(range: UnitRange): readonly InputChunk[];
  putChunks(chunks: readonly InputChunk[]): void;
  /** Forgets the pinned inputs and everything that is known of units which are not done. */
  clearInputs(): void;

  /** Remembers copies; of a segment that has one already the first counts. */
  putMoved(moves: readonly Moved[]): void;
  /** Of these segments those that were copied, by name. */
  movedOf(segments: readonly string[]): ReadonlyMap<string, Moved>;

  putEvent(event: CommitEvent): void;
  /** Events with rows and `seq > after`, oldest first. */
  commitsAfter(after: number, limit: number): readonly CommitEvent[];
}
