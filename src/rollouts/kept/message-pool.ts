import type { Message } from "../types.ts";

/** Messages as places in a pool: pairs of the first place and how many follow it, itself included. */
export type Runs = readonly number[];

/**
 * The messages of a rollout, each once. The prompt of every call repeats the conversation so far, the same objects among them: written out, a
 * rollout of n turns would have n²/2 messages.
 */
export class MessagePool {
  readonly #places = new Map<unknown, number>();
  readonly #added: Message[] = [];
  #size = 0;

  /** `known` are the first places; whoever reads has those messages. */
  constructor(known: readonly Message[]) {
    for (const message of known) this.#put(message);
  }

  /** In the order of their places, without those that were known. */
  get added(): readonly Message[] {
    return this.#added;
  }

  /** Null for what is no list of messages. */
  runsOf(list: unknown): Runs | null {
    if (!Array.isArray(list) || !list.every((each) => typeof each === "object" && each !== null)) return null;
    const runs: number[] = [];
    for (const message of list as readonly Message[]) {
      const place = this.#placeOf(message);
      const last = runs.length - 2;
      if (last >= 0 && (runs[last] as number) + (runs[last + 1] as number) === place) (runs[last + 1] as number)++;
      else runs.push(place, 1);
    }
    return runs;
  }

  #placeOf(message: Message): number {
    const known = this.#places.get(message);
    if (known !== undefined) return known;
    this.#added.push(message);
    return this.#put(message);
  }

  #put(message: Message): number {
    if (!this.#places.has(message)) this.#places.set(message, this.#size);
    return this.#size++;
  }
}

/** The messages at `runs` of a pool. Throws a `RangeError` for places that it does not have. */
export function messagesAt(pool: readonly Message[], runs: Runs): Message[] {
  const messages: Message[] = [];
  for (let pair = 0; pair < runs.length; pair += 2) {
    const [first, count] = [runs[pair] as number, runs[pair + 1] as number];
    const run = pool.slice(first, first + count);
    if (!(first >= 0) || run.length !== count) throw new RangeError(`${count} messages from place ${first} of ${pool.length}`);
    messages.push(...run);
  }
  return messages;
}
