import { SampleRoom } from "../pushed/sample-room.ts";
import type { BatchScanner, ScannedSample } from "../pushed/scanned-sample.ts";

const LF = 0x0a;
const BLANK: ReadonlySet<number> = new Set([0x20, 0x09, 0x0b, 0x0c, 0x0d]);

/** Finds the lines of JSON in a body as it comes, a line in memory at a time; blank ones are none. The last may lack its newline. */
export class LineScanner implements BatchScanner {
  readonly #room = new SampleRoom();
  #at = 0;
  #start = 0;
  #position = 0;

  get samples(): number {
    return this.#position;
  }

  *push(chunk: Uint8Array): Generator<ScannedSample> {
    for (let from = 0; from < chunk.length; ) {
      const found = chunk.indexOf(LF, from);
      const end = found < 0 ? chunk.length : found;
      this.#take(chunk.subarray(from, end));
      this.#at += end - from;
      if (found < 0) return;
      yield* this.end();
      this.#at++;
      from = end + 1;
    }
  }

  *end(): Generator<ScannedSample> {
    if (!this.#room.isEmpty) yield { position: this.#position++, offset: this.#start, bytes: this.#room.empty() };
  }

  /** What stands before a line's first character is no part of it, so that a blank line has nothing. */
  #take(bytes: Uint8Array): void {
    let from = 0;
    if (this.#room.isEmpty) {
      while (from < bytes.length && BLANK.has(bytes[from] ?? 0)) from++;
      this.#start = this.#at + from;
    }
    if (from < bytes.length) this.#room.take(bytes.subarray(from), () => `traces.${this.#position}`);
  }
}
