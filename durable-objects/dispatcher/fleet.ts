import { CONSUMER_WALL_MS, SLICE_MS } from "../../src/limits.ts";

/** The shortest slice of an executor while runs want more lanes than there are. */
export const FIRST_SLICE_MS = 20_000;
/** Who asks no more for so long is gone; executors ask every `NEXT_POLL_MS`. */
const SILENT_MS = 60_000;
/** Lanes that nobody wanted for so long are no shortage that goes on. */
const QUIET_MS = 60_000;

interface Member {
  /** When it asked for the first time, and when for the last. Unix milliseconds. */
  readonly born: number;
  heard: number;
}

/**
 * The executors that ask for runs, as far as their questions tell; in memory only. The platform decides on more consumers when one ends,
 * so slices are short where there may be more of them, and grow long once that has been tried.
 */
export class Fleet {
  /** The longest silent first. */
  readonly #members = new Map<string, Member>();
  #most = 0;
  #grewAt = 0;
  #hungrySince = 0;
  #hungryAt = 0;
  #sent = 0;
  #sentAt = 0;

  get size(): number {
    return this.#members.size;
  }

  /** Wake-ups that nobody has come of yet, as far as one can know. */
  expected(now: number): number {
    // No message stays in a queue for longer than the consumers before it take.
    return now - this.#sentAt > CONSUMER_WALL_MS ? 0 : this.#sent;
  }

  sent(messages: number, now: number): void {
    this.#sent = this.expected(now) + messages;
    this.#sentAt = now;
  }

  /** It ends: who comes after it is no growth. */
  left(executor: string): void {
    this.#members.delete(executor);
  }

  /** An executor asks, `age` milliseconds after its start; `wanted`: lanes that nobody has. Answers how long its slice is while there are some. */
  heard(executor: string, age: number, wanted: number, now: number): number {
    const known = this.#members.get(executor);
    const member = known ?? { born: now - age, heard: now };
    member.heard = now;
    this.#members.delete(executor);
    this.#members.set(executor, member);
    this.#forgetSilent(now);
    if (known === undefined) this.#sent = Math.max(0, this.#sent - 1);
    // One that is not young was there before this object was.
    if (known === undefined && this.size > this.#most && age < FIRST_SLICE_MS) this.#grewAt = now;
    this.#most = Math.max(this.#most, this.size);
    if (wanted > 0) {
      if (this.#hungryAt > 0 && now - this.#hungryAt > QUIET_MS) this.#hungrySince = now;
      this.#hungryAt = now;
    }
    return this.#sliceOf(member);
  }

  /** Short for those from before the shortage, or the growth: their end is what the platform waits for. Afterwards each takes twice as long. */
  #sliceOf({ born }: Member): number {
    const since = Math.max(this.#grewAt, this.#hungrySince);
    return Math.min(SLICE_MS, Math.max(FIRST_SLICE_MS, 2 * (born - since)));
  }

  #forgetSilent(now: number): void {
    for (const [executor, { heard }] of this.#members) {
      if (now - heard <= SILENT_MS) break;
      this.#members.delete(executor);
    }
    // What has become small may grow again.
    if (this.size < this.#most / 2) this.#most = this.size;
  }
}
