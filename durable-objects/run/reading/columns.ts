import { MAX_RPC_BYTES } from "../../../src/limits.ts";
import { execute } from "../../counted-sql.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { ColumnsPage, ColumnsRequest } from "./cells-protocol.ts";
import { PushedIds } from "./pushed-ids.ts";

/** Examples of one page, and rollouts of them: some milliseconds of the Run. */
const PAGE_EXAMPLES = 4_096;
const PAGE_ROLLOUTS = 32_768;
/** Characters of their summaries, a byte each: the last of them may have 2 MiB more, and others up to 128 examples more than was thought. */
const PAGE_CHARACTERS = MAX_RPC_BYTES / 4;
/** Rows read by one statement, and by the first: one may have 2 MiB. */
const READ = 128;
const FIRST_READ = 4;
const EVENTS = 64;

type Row = { unit: number; missing: string | null; summary: string };

/** The numbers of done examples, as they are stored, page by page in the order of their units. */
export class ColumnPages {
  readonly #sql: SqlStorage;
  readonly #ledger: Ledger;
  readonly #ids: PushedIds;

  constructor(sql: SqlStorage, ledger: Ledger) {
    this.#sql = sql;
    this.#ledger = ledger;
    this.#ids = new PushedIds(sql);
  }

  forget(): void {
    this.#ids.forget();
  }

  page(request: ColumnsRequest): ColumnsPage | null {
    const head = this.#ledger.head();
    if (head === null) return null;
    const { rows, next } = this.#rowsOf(head, request);
    const order = this.#ledger.order.get();
    const { rollouts_per_example: rollouts } = this.#ledger.config();
    return {
      generation: head.generation,
      seq: head.seq,
      examples: head.n ?? 0,
      rollouts,
      settled: head.phase === "settled",
      metrics: this.#metrics(),
      places: rows.map(({ unit }) => order.rankOf(unit)),
      ids: head.pushed === undefined ? null : this.#ids.of(head, rows),
      missing: rows.map(({ missing }) => missing),
      packed: rows.map(({ summary }) => summary),
      open: next === null ? this.#open(head) : [],
      next,
    };
  }

  #rowsOf(head: RunHead, { after, from }: ColumnsRequest): { readonly rows: readonly Row[]; readonly next: number | null } {
    // What is pushed to an evaluation puts all of its rows into other places.
    if (after === null || head.pushed !== undefined) {
      if (after !== null && from === null && this.#ledger.commitsAfter(after, 1).length === 0) return { rows: [], next: null };
      return this.#unitsFrom(from ?? 0);
    }
    return this.#unitsAfter(from ?? after);
  }

  #unitsFrom(from: number): { readonly rows: readonly Row[]; readonly next: number | null } {
    const room = new Room(this.#ledger.config().rollouts_per_example);
    const rows: Row[] = [];
    for (let at = from; ; ) {
      const limit = room.next;
      if (limit === 0) return { rows, next: at };
      const read = execute<Row>(this.#sql, "SELECT unit, missing, summary FROM done WHERE unit >= ? ORDER BY unit LIMIT ?", at, limit);
      for (const row of read) room.take(row);
      rows.push(...read);
      if (read.length < limit) return { rows, next: null };
      at = (read.at(-1)?.unit ?? at) + 1;
    }
  }

  /** Units of the commits behind an event, each once. */
  #unitsAfter(after: number): { readonly rows: readonly Row[]; readonly next: number | null } {
    const room = new Room(this.#ledger.config().rollouts_per_example);
    const rows: Row[] = [];
    const told = new Set<number>();
    for (let at = after; ; ) {
      const events = this.#ledger.commitsAfter(at, EVENTS);
      for (const { seq, units } of events) {
        if (room.next === 0) return { rows, next: at };
        const fresh = units.filter((unit) => !told.has(unit));
        for (const unit of fresh) told.add(unit);
        for (let first = 0; first < fresh.length; first += READ) {
          const read = this.#units(fresh.slice(first, first + READ));
          for (const row of read) room.take(row);
          rows.push(...read);
        }
        at = seq;
      }
      if (events.length < EVENTS) return { rows, next: null };
    }
  }

  #units(units: readonly number[]): readonly Row[] {
    return execute<Row>(this.#sql, `SELECT unit, missing, summary FROM done WHERE unit IN (${units.map(Math.trunc).join(",")}) ORDER BY unit`);
  }

  #metrics(): readonly string[] {
    const [names] = execute<{ value: string }>(this.#sql, "SELECT value FROM record WHERE key = 'names'");
    return names === undefined ? [] : (JSON.parse(names.value) as string[]);
  }

  #open(head: RunHead): ColumnsPage["open"] {
    const order = this.#ledger.order.get();
    return this.#ledger
      .piecesIn({ lo: 0, hi: head.n ?? 0 })
      .flatMap(({ unit, rollouts }) => rollouts.map((rollout): [number, number] => [order.rankOf(unit), rollout]))
      .sort(([a, i], [b, j]) => a - b || i - j);
  }
}

/** What a page has still room for. */
class Room {
  #examples: number;
  #taken = 0;
  #characters = 0;

  constructor(rollouts: number) {
    this.#examples = Math.min(PAGE_EXAMPLES, Math.max(1, Math.floor(PAGE_ROLLOUTS / rollouts)));
  }

  /** Examples to be read next, if those to come are as long as those so far: the first few show how long they are. */
  get next(): number {
    const left = PAGE_CHARACTERS - this.#characters;
    if (left <= 0) return 0;
    const fitting = this.#taken === 0 ? FIRST_READ : Math.max(1, Math.floor((left * this.#taken) / this.#characters));
    return Math.max(0, Math.min(fitting, READ, this.#examples));
  }

  take({ summary }: Row): void {
    this.#examples--;
    this.#taken++;
    this.#characters += summary.length;
  }
}
