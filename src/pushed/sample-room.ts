import { MAX_SAMPLE_BYTES, MIB } from "../limits.ts";
import { BatchError } from "./scanned-sample.ts";

const FIRST_ROOM = 16 * 1024;

/** Bytes of the sample that is being read: what a scanner holds of a body. */
export class SampleRoom {
  #bytes = new Uint8Array(FIRST_ROOM);
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  /** Adds bytes. `field`: of the sample, for the `BatchError` of one that is too large. */
  take(bytes: Uint8Array, field: () => string): void {
    const length = this.#length + bytes.length;
    if (length > MAX_SAMPLE_BYTES) throw new BatchError(field(), `is larger than ${MAX_SAMPLE_BYTES / MIB} MiB`, "body_too_large");
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.min(MAX_SAMPLE_BYTES, Math.max(2 * this.#bytes.length, length)));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  /** What was added, as bytes of their own, and room for the next sample. */
  empty(): Uint8Array {
    const sample = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return sample;
  }
}
