const FIRST_CAPACITY = 64 * 1024;

/** Bytes that are collected for one object. Holds at most `most`, or the single text that is larger; grows by doubling, so that half as much again is held for a moment. */
export class GrowingBytes {
  readonly #most: number;
  #bytes: Uint8Array = new Uint8Array(0);
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Memory held, in bytes. */
  get capacity(): number {
    return this.#bytes.byteLength;
  }

  /** Whether so many more are within what it holds; anything is while it is empty. */
  fits(bytes: number): boolean {
    return this.#length === 0 || this.#length + bytes <= this.#most;
  }

  /** Appends what fits. */
  append(bytes: Uint8Array): void {
    const length = this.#length + bytes.byteLength;
    if (length > this.#bytes.byteLength) {
      if (bytes.byteLength >= this.#most) {
        this.#bytes = bytes;
        this.#length = length;
        return;
      }
      const grown = new Uint8Array(Math.min(this.#most, Math.max(FIRST_CAPACITY, 2 * length)));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }

  /** What was collected; it is empty afterwards and shares no memory with that. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return taken;
  }
}
