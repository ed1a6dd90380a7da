import { fileBytes } from "./file-bytes.ts";

const LINE_FEED = 0x0a;

/** A line of a file that is not blank. */
export interface FoundLine {
  /** Bytes before it. */
  readonly at: number;
  /** Bytes of it, without its end. */
  readonly length: number;
  /** Null where it is longer than was wanted. */
  readonly bytes: Buffer | null;
  /** False of the last line of a file that may go on. */
  readonly isEnded: boolean;
}

/** The lines from byte `from` to byte `to`, one in memory at a time, none of more than `most` bytes. */
export async function* linesFrom(path: string, from: number, to: number, most: number): AsyncGenerator<FoundLine> {
  const line = new OpenLine(most);
  let at = from;
  for await (const chunk of fileBytes(path, { offset: from, length: to - from })) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      line.take(chunk.subarray(start, end));
      if (!line.isBlank) yield { at, ...line.closed(), isEnded: true };
      at += line.length + 1;
      line.begin();
      start = end + 1;
    }
    line.take(chunk.subarray(start));
  }
  if (!line.isBlank) yield { at, ...line.closed(), isEnded: false };
}

/** A line as its bytes come. */
class OpenLine {
  readonly #most: number;
  #parts: Buffer[] = [];
  length = 0;
  isBlank = true;

  constructor(most: number) {
    this.#most = most;
  }

  begin(): void {
    this.#parts = [];
    this.length = 0;
    this.isBlank = true;
  }

  take(bytes: Buffer): void {
    this.length += bytes.byteLength;
    // Space, tab, carriage return.
    this.isBlank &&= bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
    if (this.length > this.#most) this.#parts = [];
    else this.#parts.push(bytes);
  }

  closed(): { readonly length: number; readonly bytes: Buffer | null } {
    const { length } = this;
    return { length, bytes: length > this.#most ? null : this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts) };
  }
}
