import { signal } from "@preact/signals";
import type { Api, Asked } from "../../../api/ask.ts";
import { isPassing } from "../../../api/problem.ts";

/** A row of results.jsonl, of any program. */
export type Row = Readonly<Record<string, unknown>>;

interface Samples {
  readonly samples: readonly Row[];
}

/** Rows that are kept: those of the last examples that somebody looked at. */
const MOST_KEPT = 20;
/** After a look that failed and may go well later. */
const FAILED_MS = 5_000;

const keyOf = (run: string, number: number): string => `${run} ${number}`;

/** Rows of runs by their numbers, from 1. */
export class RowsStore {
  readonly #rows = signal<ReadonlyMap<string, Asked<Row | null>>>(new Map());
  readonly #api: Api;
  readonly #closed = new AbortController();
  readonly #asked = new Set<string>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Null while it is on its way. Its value is null where the run has no such row. */
  row(run: string, number: number): Asked<Row | null> | null {
    return this.#rows.value.get(keyOf(run, number)) ?? null;
  }

  want(run: string, number: number): void {
    const key = keyOf(run, number);
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    void this.#load(key, run, number);
  }

  again(run: string, number: number): void {
    clearTimeout(this.#timers.get(keyOf(run, number)));
    this.#asked.delete(keyOf(run, number));
    this.want(run, number);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#closed.abort();
  }

  async #load(key: string, run: string, number: number): Promise<void> {
    try {
      const answer = await this.#api.ask<Samples>(`/evaluations/${run}/samples`, { query: { page: number, limit: 1 }, signal: this.#closed.signal });
      const rows = new Map(this.#rows.value).set(key, answer.ok ? { ok: true, value: answer.value.samples[0] ?? null } : answer);
      for (const oldest of rows.keys()) {
        if (rows.size <= MOST_KEPT) break;
        rows.delete(oldest);
        this.#asked.delete(oldest);
      }
      this.#rows.value = rows;
      if (!answer.ok && isPassing(answer.problem))
        this.#timers.set(
          key,
          setTimeout(() => this.again(run, number), FAILED_MS),
        );
      else this.#timers.delete(key);
    } catch {
      // The page is left.
    }
  }
}
