import { batch, signal } from "@preact/signals";
import type { ComparedExamples, Comparison, ListedEvaluation } from "../../api/answers.ts";
import type { Api, Asked } from "../../api/ask.ts";
import { isPassing, type Problem } from "../../api/problem.ts";
import { type CompareQuery, comparisonQuestionOf, examplesQuestionOf, PAGE_EXAMPLES } from "./compare-query.ts";

/** What a run is called and how it stands, or why that is not known. */
export type Face = Asked<Pick<ListedEvaluation, "evaluation_id" | "name" | "model_name" | "status" | "environment_names">>;

/** A page of examples, and of which view it is. */
export interface ListedExamples {
  readonly answer: ComparedExamples;
  readonly page: number;
  /** The question that it answers. */
  readonly key: string;
}

const pageQuestion = (query: CompareQuery): Readonly<Record<string, unknown>> | null =>
  examplesQuestionOf(query, { offset: (query.page - 1) * PAGE_EXAMPLES, limit: PAGE_EXAMPLES });

/** Whether a comparison is of these runs in their order: one of before has numbers of others. */
const isOf = ({ baseline, comparisons }: Comparison, runs: readonly string[]): boolean =>
  [baseline.run, ...comparisons.map(({ candidate }) => candidate.run)].join() === runs.join();

/** After a look that failed and may go well later. */
const FAILED_MS = 5_000;

/** The comparison of one view: what its runs are, its numbers, and a page of its examples. */
export class CompareStore {
  readonly faces = signal<ReadonlyMap<string, Face>>(new Map());
  /** Of the view before until the answer of this one, which stays while nobody answers. */
  readonly comparison = signal<Comparison | null>(null);
  readonly examples = signal<ListedExamples | null>(null);
  /** Why there is no comparison of this view. */
  readonly problem = signal<Problem | null>(null);
  readonly examplesProblem = signal<Problem | null>(null);
  readonly isLoading = signal(false);
  /** When the newest answer came, in Unix milliseconds. */
  readonly seenAt = signal(0);

  readonly #api: Api;
  readonly #asked: Record<"comparison" | "examples", { readonly key: string; readonly abort: AbortController } | null> = { comparison: null, examples: null };
  readonly #closed = new AbortController();
  #query: CompareQuery | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Shows another view. What is shown stays until the answer is there. */
  show(query: CompareQuery): void {
    this.#query = query;
    for (const id of query.runs) if (!this.faces.value.has(id)) void this.#look(id);
    void this.#compare(query);
    void this.#list(query);
  }

  /** The comparison of these runs, where it is there: under other rules until its answer comes. */
  comparisonOf({ runs }: CompareQuery): Comparison | null {
    const known = this.comparison.value;
    return known !== null && isOf(known, runs) ? known : null;
  }

  /** What is listed of these runs; `isCurrent`: as this view wants it. */
  examplesOf(query: CompareQuery): (ListedExamples & { readonly isCurrent: boolean }) | null {
    const listed = this.examples.value;
    if (listed === null || listed.answer.runs.join() !== query.runs.join()) return null;
    return { ...listed, isCurrent: listed.key === JSON.stringify(pageQuestion(query)) };
  }

  /** Why what is shown is not of this view and now, where that passes. */
  staleOf(query: CompareQuery): Problem | null {
    const problem = this.problem.value ?? this.examplesProblem.value;
    return problem !== null && isPassing(problem) && this.comparisonOf(query) !== null ? problem : null;
  }

  /** Asks again for what could not be had. */
  again(): void {
    this.#asked.comparison = null;
    this.#asked.examples = null;
    // A run that goes on may have settled meanwhile.
    for (const [id, face] of this.faces.value) if (!face.ok || face.value.status !== "COMPLETED") void this.#look(id);
    if (this.#query !== null) this.show(this.#query);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.abort();
    this.#asked.comparison?.abort.abort();
    this.#asked.examples?.abort.abort();
  }

  /** A part of the examples that is not the page which is shown. */
  async part(query: CompareQuery, offset: number, limit: number): Promise<Asked<ComparedExamples>> {
    const body = examplesQuestionOf(query, { offset, limit }) ?? {};
    return await this.#api.ask<ComparedExamples>("/comparisons/examples", { method: "POST", body, signal: this.#closed.signal });
  }

  async #look(id: string): Promise<void> {
    try {
      const face: Face = await this.#api.ask(`/evaluations/${id}`, { signal: this.#closed.signal });
      const keeps = !face.ok && isPassing(face.problem) && this.faces.value.get(id)?.ok === true;
      if (!keeps) this.faces.value = new Map(this.faces.value).set(id, face);
    } catch {
      // The page is left.
    }
  }

  async #compare(query: CompareQuery): Promise<void> {
    const question = comparisonQuestionOf(query);
    const answer = await this.#once<Comparison>("comparison", "/comparisons", question);
    if (answer === null) return;
    batch(() => {
      this.isLoading.value = false;
      this.problem.value = answer.ok ? null : answer.problem;
      if (answer.ok) this.comparison.value = answer.value;
      else if (!isPassing(answer.problem)) this.comparison.value = null;
      if (answer.ok) this.seenAt.value = Date.now();
    });
    this.#tryLater(answer);
  }

  async #list(query: CompareQuery): Promise<void> {
    const question = pageQuestion(query);
    const answer = await this.#once<ComparedExamples>("examples", "/comparisons/examples", question);
    if (answer === null) return;
    batch(() => {
      this.examplesProblem.value = answer.ok ? null : answer.problem;
      if (answer.ok) this.examples.value = { answer: answer.value, page: query.page, key: JSON.stringify(question) };
      else if (!isPassing(answer.problem)) this.examples.value = null;
      if (answer.ok) this.seenAt.value = Date.now();
    });
    this.#tryLater(answer);
  }

  /** Null: it was asked already, there is nothing to ask, or something else is asked since. */
  async #once<T>(which: "comparison" | "examples", path: string, question: Readonly<Record<string, unknown>> | null): Promise<Asked<T> | null> {
    const key = JSON.stringify(question);
    if (this.#asked[which]?.key === key) return null;
    this.#asked[which]?.abort.abort();
    const abort = new AbortController();
    this.#asked[which] = { key, abort };
    if (question === null) {
      batch(() => {
        this[which].value = null;
        (which === "comparison" ? this.problem : this.examplesProblem).value = null;
      });
      return null;
    }
    if (which === "comparison") this.isLoading.value = true;
    try {
      return await this.#api.ask<T>(path, { method: "POST", body: question, signal: abort.signal });
    } catch {
      return null;
    }
  }

  #tryLater(answer: Asked<unknown>): void {
    if (answer.ok || !isPassing(answer.problem)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.again(), FAILED_MS);
  }
}
