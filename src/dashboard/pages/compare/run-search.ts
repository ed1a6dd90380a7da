import { signal } from "@preact/signals";
import type { EvaluationList, ListedEvaluation } from "../../api/answers.ts";
import type { Api } from "../../api/ask.ts";

/** Runs that are shown at once. */
const MOST_FOUND = 12;
/** After the last key. */
const TYPING_MS = 150;
const ENDED = "COMPLETED,FAILED,TIMEOUT,CANCELLED";

/** Runs that could be compared, by words. */
export class RunSearch {
  /** Null until the first answer. */
  readonly found = signal<readonly ListedEvaluation[] | null>(null);
  readonly problem = signal<string | null>(null);
  readonly #api: Api;
  #asked: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /** `environment`: of which alone; null = of any. */
  look(text: string, environment: string | null): void {
    this.close();
    this.#timer = setTimeout(() => void this.#find(text.trim().slice(0, 200), environment), this.found.value === null ? 0 : TYPING_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
  }

  async #find(search: string, environment: string | null): Promise<void> {
    const asked = new AbortController();
    this.#asked = asked;
    const query = { limit: MOST_FOUND, status: ENDED, search: search || undefined, environment_name: environment ?? undefined };
    try {
      const answer = await this.#api.ask<EvaluationList>("/evaluations/", { query, signal: asked.signal });
      this.problem.value = answer.ok ? null : answer.problem.text;
      if (answer.ok) this.found.value = answer.value.evaluations;
    } catch {
      // Given up: something else is looked for.
    }
  }
}
