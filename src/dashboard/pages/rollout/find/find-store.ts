import { batch, signal } from "@preact/signals";
import type { MessageStore } from "../message-store.ts";
import { countIn, outlinedText, searchedText } from "./found-text.ts";

/** After the last key of what is looked for. */
const PAUSE_MS = 150;
/** Between two breaths, so that keys are heard. */
const SLICE_MS = 12;

/** Looks through all messages of a rollout for a text, those that nobody has seen yet too. */
export class FindStore {
  readonly text = signal("");
  /** Numbers of messages that have it, ascending. */
  readonly found = signal<readonly number[]>([]);
  readonly times = signal(0);
  /** Messages that were looked through. */
  readonly looked = signal(0);
  readonly isLooking = signal(false);
  readonly #messages: MessageStore;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #work: AbortController | null = null;

  constructor(messages: MessageStore) {
    this.#messages = messages;
  }

  look(text: string): void {
    this.#work?.abort();
    clearTimeout(this.#timer);
    batch(() => {
      this.text.value = text;
      this.found.value = [];
      this.times.value = 0;
      this.looked.value = 0;
      this.isLooking.value = text !== "";
    });
    if (text !== "") this.#timer = setTimeout(() => void this.#run(text.toLowerCase()), PAUSE_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#work?.abort();
  }

  async #run(wanted: string): Promise<void> {
    const work = new AbortController();
    this.#work = work;
    try {
      await this.#through(wanted, work.signal);
    } catch (error) {
      // Something else is looked for, or the page is left.
      if (!work.signal.aborted) throw error;
      return;
    }
    this.isLooking.value = false;
  }

  async #through(wanted: string, signal: AbortSignal): Promise<void> {
    const { outlines } = this.#messages;
    const found: number[] = [];
    let times = 0;
    let until = performance.now() + SLICE_MS;
    const say = (looked: number): void =>
      batch(() => {
        if (found.length !== this.found.value.length) this.found.value = [...found];
        this.times.value = times;
        this.looked.value = looked;
      });
    for (let number = 0; number < outlines.length; ) {
      const outline = outlines[number];
      const small = outline === undefined ? null : outlinedText(outline);
      const texts = small === null ? (await this.#messages.read(number, signal))?.map(searchedText) : [small];
      signal.throwIfAborted();
      if (texts === undefined) break;
      for (const text of texts) {
        const count = countIn(text, wanted);
        if (count > 0) found.push(number);
        times += count;
        number++;
      }
      if (performance.now() < until) continue;
      say(number);
      await new Promise((resolve) => setTimeout(resolve));
      signal.throwIfAborted();
      until = performance.now() + SLICE_MS;
    }
    say(outlines.length);
  }
}
