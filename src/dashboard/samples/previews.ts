import { batch, signal } from "@preact/signals";
import type { Previews } from "../api/answers.ts";
import type { Api } from "../api/ask.ts";
import { isPassing, type Problem } from "../api/problem.ts";
import { ABSENT, type ColumnTable } from "./columns/column-table.ts";

/** After the last turn of the wheel: rows that only pass by are not read. */
const STILL_MS = 80;
const FAILED_MS = 5_000;
/** Rows whose texts are kept; a row has some hundred characters of each field. */
const MOST_ROWS = 2_000;
/** Rows of one question, so that the first texts are there soon. */
const ROWS = 60;
/** As the API takes them. */
const MOST_FIELDS = 16;
const CHARACTERS = 400;

export type PreviewCell = string | number | boolean | null;
interface KeptRow {
  readonly exampleId: unknown;
  /** Why nothing of it can be read; null where it can. */
  readonly fault: string | null;
  readonly values: Map<string, PreviewCell>;
}

/** What rows say beside their numbers, read for those that are seen. */
export class PreviewStore {
  /** Another number each time something was read. */
  readonly version = signal(0);
  readonly problem = signal<Problem | null>(null);

  readonly #id: string;
  readonly #api: Api;
  readonly #kept = new Map<number, KeptRow>();
  #table: ColumnTable | null = null;
  #rows: readonly number[] = [];
  #fields: readonly string[] = [];
  #asking: { readonly rows: readonly number[]; readonly abort: AbortController } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, api: Api) {
    this.#id = id;
    this.#api = api;
  }

  /** Undefined: not read yet. */
  value(table: ColumnTable, row: number, field: string): PreviewCell | undefined {
    return this.#known(table, row)?.values.get(field);
  }

  /** Why a row cannot be read; null where it can, or is not read yet. */
  fault(table: ColumnTable, row: number): string | null {
    return this.#known(table, row)?.fault ?? null;
  }

  /** These rows are seen, with these fields. */
  want(table: ColumnTable, rows: readonly number[], fields: readonly string[]): void {
    if (this.#table !== table) this.#kept.clear();
    this.#table = table;
    this.#rows = rows;
    this.#fields = fields;
    // An answer that no row waits for any more is in the way of those that do.
    if (this.#asking !== null && !this.#asking.rows.some((row) => rows.includes(row))) {
      this.#asking.abort.abort();
      this.#asking = null;
    }
    this.#soon(STILL_MS);
  }

  /** After a question that failed. */
  again(): void {
    this.problem.value = null;
    this.#soon(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#rows = [];
    this.#asking?.abort.abort();
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#asking === null) void this.#ask();
    }, ms);
  }

  #known(table: ColumnTable, row: number): KeptRow | null {
    const kept = this.#kept.get(row);
    // What is pushed to an evaluation puts rows into other places.
    return kept !== undefined && kept.exampleId === table.exampleId(table.exampleOf(row)) ? kept : null;
  }

  #missing(table: ColumnTable): { readonly rows: readonly number[]; readonly fields: readonly string[] } {
    // What is not there yet says nothing, and nothing is kept of it.
    const isThere = (row: number): boolean => table.state(row) !== ABSENT;
    const lacks = (row: number): readonly string[] => this.#fields.filter((field) => this.#known(table, row)?.values.has(field) !== true);
    const rows = this.#rows.filter((row) => isThere(row) && lacks(row).length > 0).slice(0, ROWS);
    return { rows, fields: [...new Set(rows.flatMap(lacks))].slice(0, MOST_FIELDS) };
  }

  async #ask(): Promise<void> {
    const table = this.#table;
    if (table === null) return;
    const { rows, fields } = this.#missing(table);
    if (rows.length === 0) return;
    const asking = { rows, abort: new AbortController() };
    this.#asking = asking;
    const places = rows.map((row) => [table.exampleOf(row), row % table.rollouts]);
    try {
      const body = { places, fields, characters: CHARACTERS };
      const answer = await this.#api.ask<Previews>(`/evaluations/${this.#id}/previews`, { method: "POST", body, signal: asking.abort.signal });
      if (asking.abort.signal.aborted) return;
      batch(() => {
        this.problem.value = answer.ok ? null : answer.problem;
        if (answer.ok) this.#take(table, rows, fields, answer.value);
        this.version.value++;
      });
    } catch {
      // Given up: other rows are seen.
      return;
    }
    this.#asking = null;
    const problem = this.problem.peek();
    if (problem === null) void this.#ask();
    else if (isPassing(problem)) this.#soon(FAILED_MS);
  }

  #take(table: ColumnTable, rows: readonly number[], fields: readonly string[], { previews }: Previews): void {
    for (const [index, row] of rows.entries()) {
      const preview = previews[index] ?? null;
      if (preview !== null && "unread" in preview) continue;
      const exampleId = table.exampleId(table.exampleOf(row));
      const values = this.#known(table, row)?.values ?? new Map<string, PreviewCell>();
      const said = preview !== null && "values" in preview ? preview.values : {};
      for (const field of fields) values.set(field, Object.hasOwn(said, field) ? (said[field] ?? null) : null);
      this.#kept.delete(row);
      this.#kept.set(row, { exampleId, fault: preview !== null && "unreadable" in preview ? preview.unreadable.reason : null, values });
    }
    for (const [row] of this.#kept) {
      if (this.#kept.size <= MOST_ROWS) break;
      this.#kept.delete(row);
    }
  }
}
