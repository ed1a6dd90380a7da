/** Steps of the microtask queue in which messages that belong together come: rollouts that were answered together go on in step. */
const STEPS = 8;
/** Characters of text in one batch, about: platforms bound a message by 32 MiB. */
const BATCH_CHARACTERS = 4 * 1024 * 1024;

type Made = { readonly message: object; readonly characters: number };
/** Says a message when it is sent, not before: until then a newer one may take its place. Null = nothing is to be said any more. */
export type Word = () => Made | null;

export interface OutboxOptions {
  readonly send: (batch: readonly unknown[]) => void;
  /** How long words that may be replaced wait, in milliseconds. */
  readonly waitMs: number;
}

/**
 * Messages on their way to the other side: in their order, and in batches, since each batch costs much more than a message. What can wait for a newer word
 * waits.
 */
export class Outbox {
  readonly #send: OutboxOptions["send"];
  readonly #waitMs: number;
  #queue: Made[] = [];
  #steps = 0;
  readonly #words = new Map<string, Word>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor({ send, waitMs }: OutboxOptions) {
    this.#send = send;
    this.#waitMs = waitMs;
  }

  /** Sends `message` with all that comes in this moment. `characters`: of its large texts, for the size of the batch. */
  put(message: object, characters = 0): void {
    if (this.#closed) return;
    this.#queue.push({ message, characters });
    if (this.#steps > 0) return;
    this.#steps = STEPS;
    queueMicrotask(this.#step);
  }

  /** Says `word` in a while, under `name`; one of the same name takes its place. */
  later(name: string, word: Word): void {
    if (this.#closed) return;
    this.#words.set(name, word);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const each of [...this.#words.keys()]) this.now(each);
    }, this.#waitMs);
  }

  /** Says the word of that name now, if it waits. */
  now(name: string): void {
    const word = this.#words.get(name);
    if (word === undefined) return;
    this.#words.delete(name);
    const made = word();
    if (made !== null) this.put(made.message, made.characters);
  }

  /** The word of that name is not said. Whether it waited. */
  unsay(name: string): boolean {
    return this.#words.delete(name);
  }

  /** Sends what is there. */
  flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    let [from, characters] = [0, 0];
    for (const [at, made] of queue.entries()) {
      if (at > from && characters + made.characters > BATCH_CHARACTERS) {
        this.#send(queue.slice(from, at).map(({ message }) => message));
        [from, characters] = [at, 0];
      }
      characters += made.characters;
    }
    if (from < queue.length) this.#send(queue.slice(from).map(({ message }) => message));
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#closed = true;
    this.#queue = [];
    this.#words.clear();
    clearTimeout(this.#timer);
  }

  readonly #step = (): void => {
    if (--this.#steps > 0) return queueMicrotask(this.#step);
    this.flush();
  };
}
