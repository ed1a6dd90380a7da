import { signal } from "@preact/signals";
import type { SearchLine } from "../api/answers.ts";
import type { Api } from "../api/ask.ts";
import type { Problem } from "../api/problem.ts";
import { BROKEN_OFF } from "./broken-off.ts";
import { type ColumnTable, DONE } from "./columns/column-table.ts";
import { readLines } from "./columns/read-lines.ts";
import { searchKey, type SearchTerm } from "./filter/check.ts";
import type { Findings } from "./filter/predicate.ts";

/** Texts whose findings stay when the filter is another one. */
const MOST_KEPT = 8;
/** Between two tellings of what was found. */
const TELL_MS = 150;
/** Before the rows that were done since are looked through too: the service reads all of them again. */
const AGAIN_MS = 10_000;

/** Where texts of a filter are: the service reads the rows, and tells what it finds as it finds it. One text at a time. */
export class TextSearches {
  /** Another number each time something was found, or a search ended. */
  readonly version = signal(0);
  readonly problem = signal<Problem | null>(null);
  /** Rows that the search that goes on has looked at; null = none goes on. */
  readonly scanned = signal<number | null>(null);

  readonly #id: string;
  readonly #api: Api;
  readonly #known = new Map<string, TextFindings>();
  #terms: readonly SearchTerm[] = [];
  #table: ColumnTable | null = null;
  #work: AbortController | null = null;
  #working: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, api: Api) {
    this.#id = id;
    this.#api = api;
  }

  /** What was found of these so far; what was not looked for is. By `searchKey`. */
  look(terms: readonly SearchTerm[], table: ColumnTable): ReadonlyMap<string, Findings> {
    if (this.#table !== table) {
      // Rows are others now.
      this.#stop();
      this.#known.clear();
      this.#table = table;
    }
    this.#terms = terms;
    if (this.#working !== null && !terms.some((term) => searchKey(term) === this.#working)) this.#stop();
    if (this.#work === null && this.problem.peek() === null) void this.#next();
    return this.#known;
  }

  /** Rows that may have one of these texts, and cannot be read. */
  get unreadable(): number {
    void this.version.value;
    return new Set(this.#terms.flatMap((term) => [...(this.#known.get(searchKey(term))?.unreadable ?? [])])).size;
  }

  /** After a search that failed. */
  again(): void {
    this.problem.value = null;
    if (this.#work === null) void this.#next();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#terms = [];
    this.#stop();
  }

  #stop(): void {
    this.#work?.abort();
    this.#work = null;
    this.#working = null;
    this.scanned.value = null;
    this.problem.value = null;
  }

  async #next(): Promise<void> {
    const table = this.#table;
    const term = this.#terms.find((each) => this.#isOwed(each));
    if (term === undefined || table === null) return;
    const work = new AbortController();
    this.#work = work;
    this.#working = searchKey(term);
    try {
      const problem = await this.#search(term, table, work.signal);
      if (work.signal.aborted) return;
      this.problem.value = problem;
    } catch (error) {
      if (work.signal.aborted) return;
      this.problem.value = BROKEN_OFF;
      if (!(error instanceof TypeError)) throw error;
    }
    this.#work = null;
    this.#working = null;
    this.scanned.value = null;
    this.version.value++;
    if (this.problem.value === null) void this.#next();
  }

  /** Not looked for yet, or not in what was done since. */
  #isOwed(term: SearchTerm): boolean {
    const known = this.#known.get(searchKey(term));
    if (known === undefined || known.doneBefore === null) return true;
    if (known.doneBefore === this.#table?.done) return false;
    const wait = known.endedAt + AGAIN_MS - Date.now();
    if (wait <= 0) return true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#work === null && this.problem.peek() === null) void this.#next();
    }, wait);
    return false;
  }

  async #search(term: SearchTerm, table: ColumnTable, signal: AbortSignal): Promise<Problem | null> {
    const key = searchKey(term);
    const findings = this.#known.get(key) ?? new TextFindings();
    this.#known.delete(key);
    this.#known.set(key, findings);
    for (const [old] of [...this.#known].slice(0, -MOST_KEPT)) if (!this.#terms.some((each) => searchKey(each) === old)) this.#known.delete(old);
    const states = table.statesNow();
    const { done } = table;
    let scanned = 0;
    let told = 0;
    for (let after: number | undefined; ; ) {
      const opened = await this.#api.open(`/evaluations/${this.#id}/search`, { query: { ...questionOf(term), after }, signal });
      if (!opened.ok) return opened.problem;
      let next: number | null | undefined;
      for await (const text of readLines(opened.value)) {
        const line = JSON.parse(text) as SearchLine;
        const row = line.kind === "match" || line.kind === "unreadable" ? table.rowOf(line) : null;
        if (row !== null && line.kind === "match") findings.found.add(row);
        if (row !== null && line.kind === "unreadable") findings.unreadable.add(row);
        if (line.kind === "progress") this.scanned.value = scanned + line.scanned;
        if (line.kind === "end") {
          next = line.next;
          scanned += line.scanned;
        }
        if (signal.aborted) return null;
        if (Date.now() - told < TELL_MS) continue;
        told = Date.now();
        this.version.value++;
      }
      if (next === undefined) return BROKEN_OFF;
      if (next === null) break;
      after = next;
    }
    findings.end(states, done);
    return null;
  }
}

const questionOf = ({ field, text, how }: SearchTerm): Readonly<Record<string, string>> =>
  how === "is" && field !== null ? { field, value: text } : { text, ...(field === null ? {} : { in: field }) };

class TextFindings implements Findings {
  readonly found = new Set<number>();
  /** Looked at, and cannot be read. */
  readonly unreadable = new Set<number>();
  /** Rollouts that were done when the last whole search began; null = none ended. */
  doneBefore: number | null = null;
  /** Unix milliseconds. */
  endedAt = 0;
  #states = new Uint8Array(0);

  has(row: number): boolean {
    return this.found.has(row);
  }

  isThrough(row: number): boolean {
    return this.#states[row] === DONE;
  }

  end(states: Uint8Array<ArrayBuffer>, done: number): void {
    this.#states = states;
    this.doneBefore = done;
    this.endedAt = Date.now();
  }
}
