import { batch, effect, signal } from "@preact/signals";
import type { SamplesView } from "../address/samples-view.ts";
import { listExamples, listRows } from "./columns/list-rows.ts";
import { Slices } from "./columns/slices.ts";
import { type Checked, checkFilter, columnsOf, searchesOf } from "./filter/check.ts";
import type { FilterProblem, Outcome } from "./filter/filter.ts";
import { parseFilter } from "./filter/parse.ts";
import { predicateOf } from "./filter/predicate.ts";
import type { SamplesSource } from "./samples-source.ts";
import type { TextSearches } from "./text-searches.ts";

/** What of a view says which rollouts are listed, and in which order. */
export type Listed = Pick<SamplesView, "filter" | "sort" | "order" | "attempts">;

/** The rollouts of a view, in its order: made anew as the run goes on and as texts are found. */
export class SamplesList {
  /** Rows of the source's table; with `attempts` the first row of each example. Null until the first time; what is shown stays until the next is there. */
  readonly rows = signal<Uint32Array | null>(null);
  /** What is wrong with the filter: nothing is listed by it then. */
  readonly problem = signal<FilterProblem | null>(null);
  readonly searches: TextSearches;

  readonly #source: SamplesSource;
  readonly #listed = signal<Listed | null>(null);
  #work: AbortController | null = null;
  #again = false;
  readonly #stop: () => void;

  constructor(source: SamplesSource, searches: TextSearches) {
    this.#source = source;
    this.searches = searches;
    this.#stop = effect(() => {
      // Whatever of these is another one: the list is.
      void this.#listed.value;
      void source.version.value;
      void source.isWhole.value;
      void searches.version.value;
      this.#refresh();
    });
  }

  show({ filter, sort, order, attempts }: Listed): void {
    const next = { filter, sort, order, attempts };
    if (JSON.stringify(next) === JSON.stringify(this.#listed.peek())) return;
    // Work for another view is for nothing.
    this.#work?.abort();
    this.#listed.value = next;
  }

  close(): void {
    this.#stop();
    this.#work?.abort();
    this.searches.close();
  }

  #refresh(): void {
    if (this.#work !== null && !this.#work.signal.aborted) this.#again = true;
    else void this.#made();
  }

  async #made(): Promise<void> {
    const work = new AbortController();
    this.#work = work;
    this.#again = false;
    try {
      // What comes in one go is listed once.
      await Promise.resolve();
      await this.#make(work.signal);
    } catch (error) {
      if (!work.signal.aborted) throw error;
      return;
    }
    if (this.#work !== work) return;
    this.#work = null;
    if (this.#again) void this.#made();
  }

  async #make(abort: AbortSignal): Promise<void> {
    const listed = this.#listed.peek();
    const table = this.#source.table.peek();
    if (listed === null || table === null) return;
    const checked = this.#checked(listed.filter);
    // Before everything is there the names of metrics may not be.
    if (!checked.ok) {
      if (!this.#source.isWhole.peek()) return;
      batch(() => {
        this.problem.value = checked.problem;
        // While somebody types, what was found before stays.
        this.rows.value ??= new Uint32Array(0);
      });
      return;
    }
    this.#source.need([...columnsOf(checked.value), ...(listed.sort === "" ? [] : [listed.sort])]);
    // What is not in the table yet would count as done since, and be looked through again.
    const findings = this.searches.look(this.#source.isWhole.peek() ? searchesOf(checked.value) : [], table);
    const predicate = checked.value === null ? null : predicateOf(checked.value, table, findings);
    const make = listed.attempts ? listExamples : listRows;
    const rows = await make(table, { predicate, sort: listed.sort === "" ? null : listed.sort, order: listed.order }, new Slices(abort));
    abort.throwIfAborted();
    batch(() => {
      this.problem.value = null;
      this.rows.value = rows;
    });
  }

  #checked(text: string): Outcome<Checked | null> {
    const parsed = parseFilter(text);
    const table = this.#source.table.peek();
    if (!parsed.ok || parsed.value === null) return parsed as Outcome<null>;
    return checkFilter(parsed.value, { metrics: table?.metrics ?? [], errorCodes: table?.errorCodes ?? [null] });
  }
}
