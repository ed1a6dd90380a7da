import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { RunHead } from "../../../durable-objects/run/state/head.ts";
import type { Claim, CommitEvent, Done, DonePlace, Ledger, Moved, Span, Spans, Suspect, Ticket } from "../../../durable-objects/run/state/ledger.ts";
import type { BaselineScore, StoppingStore, StoredWatch } from "../../../durable-objects/run/stopping/stopping-store.ts";
import { MemoryBatches } from "./memory-batches.ts";
import { OrderStore } from "../../../durable-objects/run/state/tables/order-store.ts";
import { relocated } from "../../../durable-objects/run/state/relocated.ts";
import type { ClaimDecision, CommitPiece, InputChunk, Piece, UnitRange } from "../../../durable-objects/run/protocol.ts";

/** The tables of a Run as maps. Values are copied on the way in and out, as a database would. */
export class MemoryLedger implements Ledger {
  stored: RunConfig | null = null;
  text: string | null = null;
  readonly ticketRows = new Map<number, string>();
  readonly answers = new Map<number, string>();
  readonly returned = new Map<number, UnitRange>();
  readonly claims = new Map<number, Claim>();
  readonly dones = new Map<number, Done>();
  readonly suspects = new Map<number, Suspect>();
  readonly chunks = new Map<number, InputChunk>();
  /** By segment and unit. */
  readonly pieces = new Map<string, Piece & { readonly generation: number }>();
  readonly moved = new Map<string, Moved>();
  readonly spanRows = new Map<string, Span>();
  readonly spans: Spans = {
    byUnit: () =>
      Map.groupBy(
        [...this.spanRows.values()].sort((a, b) => a.unit - b.unit || a.lo - b.lo),
        ({ unit }) => unit,
      ),
    put: (span) => void this.spanRows.set(`${span.unit}/${span.lo}`, span),
    delete: ({ unit, lo }) => void this.spanRows.delete(`${unit}/${lo}`),
  };
  readonly events: CommitEvent[] = [];
  readonly batching = new MemoryBatches();
  orderText: string | null = null;
  readonly order = new OrderStore({
    get: () => this.orderText,
    put: (text) => {
      this.orderText = text;
    },
    remove: () => {
      this.orderText = null;
    },
  });

  /** Runs `change` as a transaction: a throw leaves everything as it was. */
  transaction<T>(change: () => T): T {
    const copies = [
      this.ticketRows,
      this.answers,
      this.returned,
      this.claims,
      this.dones,
      this.suspects,
      this.chunks,
      this.pieces,
      this.moved,
      this.spanRows,
      this.baseline,
      this.batching.rows,
      this.batching.units,
      this.batching.ranges,
    ].map((map) => [map as Map<unknown, unknown>, new Map(map as Map<unknown, unknown>)] as const);
    const { stored, text, watchText, orderText } = this;
    const events = this.events.length;
    try {
      return change();
    } catch (thrown) {
      for (const [map, copy] of copies) {
        map.clear();
        for (const [key, value] of copy) map.set(key, value);
      }
      this.stored = stored;
      this.text = text;
      this.watchText = watchText;
      this.orderText = orderText;
      this.order.forget();
      this.events.length = events;
      throw thrown;
    }
  }

  config(): RunConfig {
    if (this.stored === null) throw new Error("no config");
    return this.stored;
  }
  putConfig(config: RunConfig): void {
    this.stored = config;
  }
  head(): RunHead | null {
    return this.text === null ? null : (JSON.parse(this.text) as RunHead);
  }
  putHead(head: RunHead): void {
    this.text = JSON.stringify(head);
  }

  tickets(): readonly Ticket[] {
    return [...this.ticketRows.values()].map((text) => JSON.parse(text) as Ticket).sort((a, b) => a.id - b.id);
  }
  ticket(id: number): Ticket | null {
    return this.tickets().find((ticket) => ticket.id === id) ?? null;
  }
  putTicket(ticket: Ticket): void {
    this.ticketRows.set(ticket.id, JSON.stringify(ticket));
  }
  putAnswered(ticket: Ticket, answer: ClaimDecision): void {
    this.putTicket(ticket);
    this.answers.set(ticket.id, JSON.stringify(answer));
  }
  lastAnswer(ticket: number): ClaimDecision | null {
    const text = this.answers.get(ticket);
    return text === undefined ? null : (JSON.parse(text) as ClaimDecision);
  }
  deleteTicket(id: number): void {
    this.ticketRows.delete(id);
    this.answers.delete(id);
  }

  firstReturned(): UnitRange | null {
    const lo = Math.min(...this.returned.keys());
    return this.returned.get(lo) ?? null;
  }
  putReturned(range: UnitRange): void {
    this.returned.set(range.lo, range);
  }
  deleteReturned(lo: number): void {
    this.returned.delete(lo);
  }

  returnedIn(range: UnitRange): readonly UnitRange[] {
    return [...this.returned.values()].filter((each) => each.lo < range.hi && each.hi > range.lo).sort((a, b) => a.lo - b.lo);
  }

  claimsIn(range: UnitRange): readonly Claim[] {
    return [...this.claims.values()].filter((each) => each.lo < range.hi && each.hi > range.lo).sort((a, b) => a.lo - b.lo);
  }
  claimsOf(ticket: number): readonly Claim[] {
    return [...this.claims.values()].filter((claim) => claim.ticket === ticket).sort((a, b) => a.lo - b.lo);
  }
  putClaim(claim: Claim): void {
    this.claims.set(claim.lo, claim);
  }
  deleteClaimsOf(ticket: number): void {
    for (const claim of this.claimsOf(ticket)) this.claims.delete(claim.lo);
  }

  deleteClaim({ ticket, lo }: Claim): boolean {
    return this.claims.get(lo)?.ticket === ticket && this.claims.delete(lo);
  }

  trimClaims(ticket: number, _settled: readonly number[]): void {
    for (const { lo, hi } of this.claimsOf(ticket)) if (this.settledIn({ lo, hi }).length === hi - lo) this.claims.delete(lo);
  }

  done(unit: number): Done | null {
    return this.dones.get(unit) ?? null;
  }
  putDones(dones: readonly Done[]): void {
    for (const done of dones) this.putDone(done);
  }
  putDone(done: Done): void {
    this.dones.set(done.unit, done);
  }
  placesIn(range: UnitRange): readonly DonePlace[] {
    const inside = [...this.dones.values()].filter(({ unit }) => unit >= range.lo && unit < range.hi).sort((a, b) => a.unit - b.unit);
    return inside.map(({ unit, segment, offset, length, owed }) => ({ unit, segment, offset, length, owed }));
  }
  settledIn(range: UnitRange): readonly number[] {
    const units: number[] = [];
    for (let unit = range.lo; unit < range.hi; unit++) if (this.dones.get(unit)?.owed === false) units.push(unit);
    return units;
  }
  owedIn(range: UnitRange): readonly Done[] {
    const rows: Done[] = [];
    for (let unit = range.lo; unit < range.hi; unit++) {
      const row = this.dones.get(unit);
      if (row?.owed === true) rows.push(row);
    }
    return rows;
  }
  placesFrom(unit: number): Iterable<DonePlace> {
    return relocated(this, this.placesIn({ lo: unit, hi: Number.POSITIVE_INFINITY }));
  }
  /** Segments that hold rows which count, or kept rollouts: those after `after`, in order. */
  segmentsAfter(after: string, limit: number): readonly string[] {
    const segments = [...relocated(this, [...this.dones.values()]), ...this.#livePieces()].map(({ segment }) => segment);
    return [...new Set(segments)]
      .filter((segment) => segment > after)
      .sort()
      .slice(0, limit);
  }
  failedIn({ lo, hi }: UnitRange): readonly Done[] {
    const failed = ({ rollouts }: Done): boolean => rollouts.some((rollout) => rollout === null || rollout.error !== null);
    return [...this.doneFrom(lo)].filter((done) => done.unit < hi && failed(done));
  }
  donesOf(units: readonly number[]): readonly Done[] {
    return units.flatMap((unit) => this.dones.get(unit) ?? []);
  }
  doneFrom(unit: number): Iterable<Done> {
    return [...this.dones.values()].filter((done) => done.unit >= unit).sort((a, b) => a.unit - b.unit);
  }

  suspect(unit: number): Suspect | null {
    return this.suspects.get(unit) ?? null;
  }
  waitingSuspects(): readonly Suspect[] {
    return [...this.suspects.values()].filter((suspect) => suspect.waiting).sort((a, b) => a.unit - b.unit);
  }
  putSuspect(suspect: Suspect): void {
    this.suspects.set(suspect.unit, suspect);
  }
  suspectsIn({ lo, hi }: UnitRange): readonly Suspect[] {
    return [...this.suspects.values()].filter(({ unit }) => unit >= lo && unit < hi);
  }
  deleteSuspect(unit: number): void {
    this.suspects.delete(unit);
  }

  piecesIn(range: UnitRange): readonly Piece[] {
    const inside = this.#livePieces().filter(({ unit }) => unit >= range.lo && unit < range.hi);
    return inside.sort((a, b) => a.unit - b.unit || (a.segment < b.segment ? -1 : 1)).map(({ generation: _, ...piece }) => piece);
  }
  keptRollouts(): number {
    return this.#livePieces().reduce((sum, { rollouts }) => sum + rollouts.length, 0);
  }
  putPieces(segment: string, pieces: readonly CommitPiece[]): void {
    const generation = this.head()?.generation ?? 0;
    for (const piece of pieces) this.pieces.set(`${segment}/${piece.unit}`, { ...piece, segment, generation });
  }
  passTurns(unit: number, rollouts: readonly number[]): void {
    for (const [key, piece] of this.pieces) {
      if (piece.unit !== unit || piece.begun === undefined) continue;
      const { begun, unscored = [], ...rest } = piece;
      const others = (each: readonly number[]): number[] => each.filter((rollout) => !rollouts.includes(rollout));
      const [left, generated] = [others(begun), others(unscored)];
      if (left.length > 0) this.pieces.set(key, { ...rest, begun: left, ...(generated.length === 0 ? {} : { unscored: generated }) });
      else if (rest.rollouts.length > 0) this.pieces.set(key, rest);
      else this.pieces.delete(key);
    }
  }
  dropPieces(units: readonly number[]): void {
    for (const [key, { unit }] of this.pieces) if (units.includes(unit)) this.pieces.delete(key);
  }
  renewPieces(generation: number): void {
    const live = this.#livePieces();
    this.pieces.clear();
    for (const piece of live) this.pieces.set(`${piece.segment}/${piece.unit}`, { ...piece, generation });
  }
  #livePieces() {
    const generation = this.head()?.generation ?? 0;
    return [...this.pieces.values()].filter((piece) => piece.generation === generation && this.dones.get(piece.unit)?.owed !== false);
  }

  chunksIn(range: UnitRange): readonly InputChunk[] {
    return [...this.chunks.values()].filter((chunk) => chunk.lo < range.hi && chunk.hi > range.lo).sort((a, b) => a.lo - b.lo);
  }
  watchText: string | null = null;
  readonly baseline = new Map<number, { readonly score: BaselineScore; readonly pairs: boolean }>();
  readonly stopping: StoppingStore = {
    watch: () => JSON.parse(this.watchText ?? "null") as StoredWatch | null,
    putWatch: (watch) => {
      this.watchText = JSON.stringify(watch);
    },
    forgetWatch: () => {
      this.watchText = null;
    },
    putBaseline: (lo, { scores, pairs }) => {
      for (const unit of [...this.baseline.keys()]) if (unit >= lo) this.baseline.delete(unit);
      for (const [index, score] of scores.entries()) this.baseline.set(lo + index, { score, pairs });
    },
    baselineOf: (unit) => this.baseline.get(unit)?.score ?? null,
    baselinePairs: () => this.baseline.size > 0 && [...this.baseline.values()].every(({ pairs }) => pairs),
  };
  get pushed(): never {
    throw new Error("a ledger in memory holds nothing that is pushed: test/workers/travel/pushes.test.ts");
  }
  clearDone(): void {
    throw new Error("a ledger in memory holds nothing that is pushed: test/workers/travel/pushes.test.ts");
  }
  clearInputs(): void {
    for (const table of [this.chunks, this.returned, this.suspects, this.pieces]) table.clear();
    this.order.clear();
  }
  putChunks(chunks: readonly InputChunk[]): void {
    for (const chunk of chunks) this.chunks.set(chunk.lo, chunk);
  }

  putMoved(moves: readonly Moved[]): void {
    for (const move of moves) if (!this.moved.has(move.segment)) this.moved.set(move.segment, move);
  }
  movedOf(segments: readonly string[]): ReadonlyMap<string, Moved> {
    return new Map([...this.moved].filter(([segment]) => segments.includes(segment)));
  }

  putEvent(event: CommitEvent): void {
    this.events.push(event);
  }
  commitsAfter(after: number, limit: number): readonly CommitEvent[] {
    return this.events.filter(({ seq, units }) => seq > after && units.length > 0).slice(0, limit);
  }
}
