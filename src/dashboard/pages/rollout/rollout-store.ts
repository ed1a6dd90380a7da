import { batch, signal } from "@preact/signals";
import type { RolloutOutline } from "../../api/answers.ts";
import type { SamplePlace } from "../../address/samples-view.ts";
import { type Api, type Asked, wholeOf } from "../../api/ask.ts";
import { isPassing, type Problem } from "../../api/problem.ts";
import { MessageStore } from "./message-store.ts";

/** After a look that failed, and while a rollout is not there yet. */
const AGAIN_MS = 5_000;
/** A larger row is not loaded to be looked at as a tree; it can be downloaded. */
export const MOST_ROW_BYTES = 32 * 1_024 * 1_024;

/** One rollout: first what it is like, then its messages, and its whole row only when somebody asks. */
export class RolloutStore {
  readonly id: string;
  readonly place: SamplePlace;
  /** Null until the first answer. */
  readonly outline = signal<RolloutOutline | null>(null);
  readonly messages = signal<MessageStore | null>(null);
  /** Of the last look; what is there stays. */
  readonly problem = signal<Problem | null>(null);
  readonly row = signal<Readonly<Record<string, unknown>> | null>(null);
  readonly rowProblem = signal<Problem | null>(null);
  readonly #api: Api;
  readonly #closed = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;
  #isRowAsked = false;

  constructor(api: Api, id: string, place: SamplePlace) {
    this.#api = api;
    this.id = id;
    this.place = place;
  }

  /** Below `/api/v1`. */
  get path(): string {
    return `/evaluations/${encodeURIComponent(this.id)}/rollouts/${this.place.example}/${this.place.rollout}`;
  }

  /** Looks at it, again where it was looked at before. */
  async load(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    try {
      const answer = await this.#api.ask<RolloutOutline>(`${this.path}/outline`, { signal: this.#closed.signal });
      batch(() => {
        this.problem.value = answer.ok ? null : answer.problem;
        if (answer.ok) this.#show(answer.value);
      });
      if (!answer.ok && isPassing(answer.problem)) this.#timer = setTimeout(() => void this.load(), AGAIN_MS);
    } catch (error) {
      // The page is left.
      if (!this.#closed.signal.aborted) throw error;
    } finally {
      this.#isAsking = false;
    }
  }

  /** Asks for the whole row, once. */
  async loadRow(): Promise<void> {
    if (this.#isRowAsked || (this.outline.value?.bytes ?? 0) > MOST_ROW_BYTES) return;
    this.#isRowAsked = true;
    try {
      const answer = await this.#api.ask<Readonly<Record<string, unknown>>>(this.path, { signal: this.#closed.signal });
      batch(() => {
        this.rowProblem.value = answer.ok ? null : answer.problem;
        if (answer.ok) this.row.value = answer.value;
        else this.#isRowAsked = false;
      });
    } catch (error) {
      if (!this.#closed.signal.aborted) throw error;
    }
  }

  /** The row byte for byte, to be kept in a file. */
  /** The row's bytes, to the end even where the page is left meanwhile. */
  async download(): Promise<Asked<ArrayBuffer>> {
    const opened = await this.#api.open(this.path);
    return opened.ok ? wholeOf(opened.value) : opened;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.abort();
    this.messages.value?.close();
  }

  #show(outline: RolloutOutline): void {
    this.messages.value?.close();
    this.outline.value = outline;
    this.messages.value = new MessageStore(this.#api, this.path, outline);
    this.row.value = null;
    this.#isRowAsked = false;
  }
}
