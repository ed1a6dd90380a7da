const LINE_FEED = 0x0a;
const COMMA = 0x2c;

/**
 * Turns rows as they lie in segments (JSON Lines) into elements of a JSON array: of all rows pushed, those from number `skip` on,
 * `count` of them. Works in place on the bytes and looks for nothing but line feeds, which a row has none of inside.
 */
export class JsonRows {
  #skip: number;
  #left: number;

  constructor(skip: number, count: number) {
    this.#skip = skip;
    this.#left = count;
  }

  /** True once all wanted rows have come out. */
  get isComplete(): boolean {
    return this.#left === 0;
  }

  /** The part of `bytes` that belongs to the array. A row may be cut anywhere between two calls. */
  push(bytes: Uint8Array): Uint8Array {
    let start = 0;
    for (; this.#skip > 0; this.#skip--) {
      const end = bytes.indexOf(LINE_FEED, start);
      if (end < 0) return bytes.subarray(bytes.byteLength);
      start = end + 1;
    }
    for (let position = start; this.#left > 0; ) {
      const end = bytes.indexOf(LINE_FEED, position);
      if (end < 0) return bytes.subarray(start);
      this.#left--;
      if (this.#left === 0) return bytes.subarray(start, end);
      bytes[end] = COMMA;
      position = end + 1;
    }
    return bytes.subarray(bytes.byteLength);
  }
}
