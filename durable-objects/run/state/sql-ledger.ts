import { NAMES_SOMETHING, packUnit, unpackUnit } from "../../../r2-layout/done-codec.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { EdgewiseError, type Result } from "../../../src/errors/result.ts";
import { execute } from "../../counted-sql.ts";
import { EventTable } from "./tables/event-table.ts";
import { GrantTables } from "./tables/grant-tables.ts";
import { BATCHING_HEAD_VERSION, KNOWN_HEADS, type RunHead } from "./head.ts";
import type { SamplePlace } from "../control.ts";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";
import { type DoneRecord, placeOf, readSuspect } from "./done-record.ts";
import type { Claim, CommitEvent, Done, DonePlace, Ledger, Moved, Suspect, Ticket } from "./ledger.ts";
import { PieceTable } from "./tables/piece-table.ts";
import type { ClaimDecision, CommitPiece, InputChunk, Piece, UnitRange } from "../protocol.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { BatchTable } from "../batching/batch-table.ts";
import { StoppingTable } from "../stopping/stopping-table.ts";
import { PushedTable } from "../pushed/pushed-table.ts";
import { MovedTable } from "./tables/moved-table.ts";
import { OrderStore } from "./tables/order-store.ts";
import { RecordTable } from "./tables/record-table.ts";
import { RowCounts } from "./row-counts.ts";
import { KNOWN_SCHEMAS, MOVED_SCHEMA_VERSION, ORDER_SCHEMA_VERSION, SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { storedByAnother } from "./stored-version.ts";
import { SpanTable } from "./tables/span-table.ts";

type Value = SqlStorageValue;
const INSERT_DONE = `INSERT OR REPLACE INTO done (unit, segment, start, length, owed, missing, summary)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 FROM json_each(?)`;
/** A row that is larger than this goes alone; it is under the size of a row by itself (done-codec.ts). */
const DONE_BATCH_CHARACTERS = 500_000;

/** Rows of a scan read at once: bounds memory, and lets the reader write between pages. */
const PAGE = 512;

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new EdgewiseError(result.error.code, result.error.message);
  return result.value;
}

/** The Run's tables in the SQLite storage of its Durable Object. Rows read and written are counted (operations.ts). */
export class SqlLedger implements Ledger {
  readonly #sql: SqlStorage;
  readonly #grants: GrantTables;
  readonly #pieces: PieceTable;
  readonly spans: SpanTable;
  readonly pushed: PushedTable;
  readonly stopping: StoppingTable;
  readonly batching: BatchTable;
  readonly #moved: MovedTable;
  readonly #events: EventTable;
  #names: readonly string[] | null = null;
  readonly #records: RecordTable;
  readonly order: OrderStore;
  #config: RunConfig | null = null;
  #exists = false;
  /** Of all done units; counted anew where `putDones` was. */
  readonly rowCounts = new RowCounts((lo, hi) => this.#countRows(lo, hi));

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#records = new RecordTable(sql);
    this.#moved = new MovedTable(sql);
    this.order = new OrderStore({
      get: () => this.#records.get("order"),
      put: (text) => this.#putOrder(text),
      remove: () => this.#records.remove("order"),
    });
    this.spans = new SpanTable(sql, { ticket: (id) => this.#grants.get(id), claimsIn: (range) => this.#grants.claimsIn(range) });
    this.#events = new EventTable(sql);
    this.pushed = new PushedTable(sql, { get: () => this.#records.get("pushed"), put: (text) => this.#records.put("pushed", text) });
    this.stopping = new StoppingTable(sql);
    this.batching = new BatchTable(sql);
    this.#grants = new GrantTables(sql, (range) => this.settledIn(range).length);
    this.#pieces = new PieceTable(sql, { generation: () => this.head()?.generation ?? 0, settledIn: (range) => this.settledIn(range) });
  }

  /** Creates the tables; called before a first write only, so that calls on a run that never was write nothing. */
  migrate(): void {
    this.#sql.exec(SCHEMA);
    this.#records.put("schema", String(SCHEMA_VERSION));
  }

  /** True when the tables exist. Throws `stored_version_unknown` when they were made by a version this one does not know. */
  exists(): boolean {
    if (this.#exists) return true;
    const table = this.#rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'record'");
    if (table.length === 0) return false;
    const version = this.#records.get("schema");
    if (version !== null && !KNOWN_SCHEMAS.includes(version)) throw storedByAnother("was stored with schema", version, ORDER_SCHEMA_VERSION);
    this.#exists = version !== null;
    return this.#exists;
  }

  /** Tombstone: from here on every call finds no run, while alarms remove what is left of it. */
  bury(): void {
    this.#records.put("tombstone", "1");
  }
  isBuried(): boolean {
    return this.#records.get("tombstone") !== null;
  }
  /** Counts an attempt to remove what is left that failed, and returns how many there were. */
  failRemoval(): number {
    const failures = Number(this.#records.get("tombstone"));
    this.#records.put("tombstone", String(failures + 1));
    return failures;
  }

  config(): RunConfig {
    if (this.#config !== null) return this.#config;
    const text = this.#records.get("config");
    if (text === null) throw new EdgewiseError("internal", "the run has no config");
    const config = JSON.parse(text) as RunConfig;
    if (config.version !== 1) throw storedByAnother("has a config of version", String(config.version), 1);
    this.#config = config;
    return config;
  }
  putConfig(config: RunConfig): void {
    this.#config = null;
    this.#records.put("config", JSON.stringify(config));
  }
  head(): RunHead | null {
    const text = this.#records.get("head");
    if (text === null) return null;
    const head = JSON.parse(text) as RunHead;
    if (!KNOWN_HEADS.includes(head.version)) throw storedByAnother("has a head of version", String(head.version), BATCHING_HEAD_VERSION);
    return head;
  }
  putHead(head: RunHead): void {
    this.#records.put("head", JSON.stringify(head));
  }

  tickets(): readonly Ticket[] {
    return this.#grants.all();
  }
  ticket(id: number): Ticket | null {
    return this.#grants.get(id);
  }
  putTicket(ticket: Ticket): void {
    this.#grants.put(ticket);
  }
  putAnswered(ticket: Ticket, answer: ClaimDecision): void {
    this.#grants.putAnswered(ticket, answer);
  }
  lastAnswer(ticket: number): ClaimDecision | null {
    return this.#grants.lastAnswer(ticket);
  }
  deleteTicket(id: number): void {
    this.#grants.delete(id);
  }

  firstReturned(): UnitRange | null {
    return this.#rows<{ lo: number; hi: number }>("SELECT lo, hi FROM returned ORDER BY lo LIMIT 1")[0] ?? null;
  }
  putReturned({ lo, hi }: UnitRange): void {
    this.#rows("INSERT INTO returned (lo, hi) VALUES (?, ?)", lo, hi);
  }
  deleteReturned(lo: number): void {
    this.#rows("DELETE FROM returned WHERE lo = ?", lo);
  }
  returnedIn({ lo, hi }: UnitRange): readonly UnitRange[] {
    return this.#rows<{ lo: number; hi: number }>("SELECT lo, hi FROM returned WHERE lo < ? AND hi > ? ORDER BY lo", hi, lo);
  }

  claimsOf(ticket: number): readonly Claim[] {
    return this.#grants.claimsOf(ticket);
  }
  claimsIn(range: UnitRange): readonly Claim[] {
    return this.#grants.claimsIn(range);
  }
  putClaim(claim: Claim): void {
    this.#grants.putClaim(claim);
  }
  deleteClaimsOf(ticket: number): void {
    this.#grants.deleteClaimsOf(ticket);
  }
  deleteClaim(claim: Claim): boolean {
    return this.#grants.deleteClaim(claim);
  }
  trimClaims(ticket: number, settled: readonly number[]): void {
    this.#grants.trimClaims(ticket, settled);
  }

  clearDone(): void {
    this.#rows("DELETE FROM done");
    this.#moved.clear();
    this.rowCounts.forget();
  }
  done(unit: number): Done | null {
    const row = this.#rows<DoneRecord>("SELECT * FROM done WHERE unit = ?", unit)[0];
    return row === undefined ? null : this.#readDone(row);
  }
  putDone(done: Done): void {
    this.putDones([done]);
  }
  /** One statement for all rows of a commit. Cut so that no text nears the size of a row. */
  putDones(dones: readonly Done[]): void {
    let rows: string[] = [];
    let size = 0;
    const flush = (): void => {
      if (rows.length > 0) this.#rows(INSERT_DONE, `[${rows.join(",")}]`);
      rows = [];
      size = 0;
    };
    for (const done of dones) {
      this.rowCounts.touch(done.unit);
      const row = JSON.stringify(this.#packDone(done));
      if (size + row.length > DONE_BATCH_CHARACTERS) flush();
      rows.push(row);
      size += row.length;
    }
    flush();
  }
  #packDone(done: Done): Value[] {
    const names = this.#metricNames();
    const present = done.rollouts.filter((rollout): rollout is RolloutSummary => rollout !== null);
    const packed = unwrap(packUnit(present, names));
    if (packed.names !== names) {
      this.#names = packed.names;
      this.#records.put("names", JSON.stringify(packed.names));
    }
    const missing = done.rollouts.flatMap((rollout, index) => (rollout === null ? [index] : []));
    return [done.unit, done.segment, done.offset, done.length, done.owed ? 1 : 0, missing.length === 0 ? null : JSON.stringify(missing), packed.text];
  }
  placesIn({ lo, hi }: UnitRange): readonly DonePlace[] {
    const rows = this.#rows<DoneRecord>("SELECT unit, segment, start, length, owed FROM done WHERE unit >= ? AND unit < ? ORDER BY unit", lo, hi);
    return rows.map(placeOf);
  }
  samplePlaces(lo: number, hi: number): readonly SamplePlace[] {
    const r = this.config().rollouts_per_example;
    return this.#rows<{ unit: number; segment: string; offset: number; length: number; missing: number }>(
      `SELECT unit, segment, start AS "offset", length, coalesce(json_array_length(missing), 0) AS missing FROM ${this.#moved.located} WHERE unit >= ? AND unit < ? ORDER BY unit`,
      lo,
      hi,
    ).map(({ missing, ...place }) => ({ ...place, rows: r - missing }));
  }
  #countRows(lo: number, hi: number): number {
    const [{ units, missing } = { units: 0, missing: 0 }] = this.#rows<{ units: number; missing: number }>(
      "SELECT count(*) AS units, coalesce(sum(json_array_length(missing)), 0) AS missing FROM done WHERE unit >= ? AND unit < ?",
      lo,
      hi,
    );
    return units * this.config().rollouts_per_example - missing;
  }
  settledIn({ lo, hi }: UnitRange): readonly number[] {
    return this.#rows<{ unit: number }>("SELECT unit FROM done WHERE unit >= ? AND unit < ? AND owed = 0 ORDER BY unit", lo, hi).map(({ unit }) => unit);
  }
  owedIn({ lo, hi }: UnitRange): readonly Done[] {
    return this.#rows<DoneRecord>("SELECT * FROM done WHERE unit >= ? AND unit < ? AND owed = 1 ORDER BY unit", lo, hi).map((row) => this.#readDone(row));
  }
  *placesFrom(unit: number): Iterable<DonePlace> {
    for (let from = unit; ; ) {
      const page = this.#rows<DoneRecord>(
        `SELECT unit, segment, start, length, owed FROM ${this.#moved.located} WHERE unit >= ? ORDER BY unit LIMIT ?`,
        from,
        PAGE,
      );
      yield* page.map(placeOf);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      from = last.unit + 1;
    }
  }
  failedIn({ lo, hi }: UnitRange): readonly Done[] {
    const select = `SELECT * FROM done WHERE unit >= ? AND unit < ? AND (missing IS NOT NULL OR instr(summary, '${NAMES_SOMETHING}') > 0) ORDER BY unit`;
    return this.#rows<DoneRecord>(select, lo, hi).map((row) => this.#readDone(row));
  }
  donesOf(units: readonly number[]): readonly Done[] {
    // Named in the statement two rows count as read for each, in a list that is passed three (counted in workerd).
    const rows = this.#rows<DoneRecord>(`SELECT * FROM done WHERE unit IN (${units.map(Math.trunc).join(",")})`);
    const byUnit = new Map(rows.map((row) => [row.unit, row]));
    return units.flatMap((unit) => byUnit.get(unit) ?? []).map((row) => this.#readDone(row));
  }
  *doneFrom(unit: number): Iterable<Done> {
    for (let from = unit; ; ) {
      const page = this.#rows<DoneRecord>("SELECT * FROM done WHERE unit >= ? ORDER BY unit LIMIT ?", from, PAGE);
      for (const row of page) yield this.#readDone(row);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      from = last.unit + 1;
    }
  }
  /** Segments that hold kept rollouts. */
  pieceSegments(): readonly string[] {
    return this.#pieces.segments();
  }
  piecesIn(range: UnitRange): readonly Piece[] {
    return this.#pieces.in(range);
  }
  keptRollouts(): number {
    return this.#pieces.count();
  }
  putPieces(segment: string, pieces: readonly CommitPiece[]): void {
    this.#pieces.put(segment, pieces);
  }
  passTurns(unit: number, rollouts: readonly number[]): void {
    this.#pieces.passTurns(unit, rollouts);
  }
  dropPieces(units: readonly number[]): void {
    this.#pieces.drop(units);
  }
  renewPieces(generation: number): void {
    this.#pieces.renew(generation);
  }

  suspect(unit: number): Suspect | null {
    return this.#rows<Record<string, Value>>("SELECT * FROM suspect WHERE unit = ?", unit).map(readSuspect)[0] ?? null;
  }
  waitingSuspects(): readonly Suspect[] {
    return this.#rows<Record<string, Value>>("SELECT * FROM suspect WHERE waiting = 1 ORDER BY unit").map(readSuspect);
  }
  putSuspect({ unit, lapses, alone, waiting }: Suspect): void {
    this.#rows("INSERT OR REPLACE INTO suspect (unit, lapses, alone, waiting) VALUES (?, ?, ?, ?)", unit, lapses, alone, waiting ? 1 : 0);
  }
  suspectsIn({ lo, hi }: UnitRange): readonly Suspect[] {
    return this.#rows<Record<string, Value>>("SELECT * FROM suspect WHERE unit >= ? AND unit < ?", lo, hi).map(readSuspect);
  }
  deleteSuspect(unit: number): void {
    this.#rows("DELETE FROM suspect WHERE unit = ?", unit);
  }

  chunksIn({ lo, hi }: UnitRange): readonly InputChunk[] {
    return this.#rows<{ lo: number; hi: number; digest: string; bytes: number }>("SELECT * FROM chunk WHERE lo < ? AND hi > ? ORDER BY lo", hi, lo);
  }
  putChunks(chunks: readonly InputChunk[]): void {
    for (const { lo, hi, digest, bytes } of chunks)
      this.#rows("INSERT OR REPLACE INTO chunk (lo, hi, digest, bytes) VALUES (?, ?, ?, ?)", lo, hi, digest, bytes);
  }

  clearInputs(): void {
    for (const table of ["chunk", "returned", "suspect"]) this.#rows(`DELETE FROM ${table}`);
    this.#pieces.clear();
    this.order.clear();
  }

  putMoved(moves: readonly Moved[]): void {
    // A version that knows nothing of it would look for rows where they no longer are: it refuses this run by name.
    if (!this.#moved.exists) this.#needSchema(MOVED_SCHEMA_VERSION);
    this.#moved.put(moves);
  }
  #putOrder(text: string): void {
    this.#needSchema(ORDER_SCHEMA_VERSION);
    this.#records.put("order", text);
  }
  #needSchema(version: number): void {
    if (Number(this.#records.get("schema")) < version) this.#records.put("schema", String(version));
  }
  movedOf(segments: readonly string[]): ReadonlyMap<string, Moved> {
    return this.#moved.of(segments);
  }

  putEvent(event: CommitEvent): void {
    this.#events.put(event);
  }
  /** Events with `seq > after`, oldest first, without what only followers of rows need. */
  eventsAfter(after: number, limit: number): StoredEvent[] {
    return this.#events.after(after, limit);
  }
  /** The newest log events, oldest first. */
  logTail(limit: number): StoredEvent[] {
    return this.#events.logTail(limit);
  }
  commitsAfter(after: number, limit: number): CommitEvent[] {
    return this.#events.commitsAfter(after, limit);
  }
  /** Time and segment of an event: two copies of a run that went on apart agree in no later one. */
  markOf(seq: number): string | null {
    return this.#events.markOf(seq);
  }

  #metricNames(): readonly string[] {
    this.#names ??= JSON.parse(this.#records.get("names") ?? "[]") as string[];
    return this.#names;
  }
  /** What was learned in a transaction that was rolled back must not be remembered, nor what was there before everything was deleted. */
  forgetCached(): void {
    this.#names = null;
    this.#records.forget();
    this.order.forget();
    this.#config = null;
    this.#exists = false;
    this.#grants.forget();
    this.#pieces.forget();
    this.spans.forget();
    this.stopping.forget();
    this.batching.forget();
    this.#moved.forget();
    this.rowCounts.forget();
  }

  #readDone(row: DoneRecord): Done {
    const present = unwrap(unpackUnit(row.summary, this.#metricNames()));
    const rollouts: (RolloutSummary | null)[] = [...present];
    if (row.missing !== null) for (const index of JSON.parse(row.missing) as number[]) rollouts.splice(index, 0, null);
    return { unit: row.unit, segment: row.segment, offset: row.start, length: row.length, owed: row.owed === 1, rollouts };
  }

  #rows<Row extends Record<string, Value> = Record<string, Value>>(statement: string, ...bindings: Value[]): Row[] {
    return execute<Row>(this.#sql, statement, ...bindings);
  }
}
