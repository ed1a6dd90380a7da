/** The newest lines of a log, numbered from its beginning. However long the log, a line costs the same and memory stays bounded. */
export interface TailLine {
  /** As it came: made harmless only where it is shown. */
  readonly text: string;
  readonly level: "DEBUG" | "INFO" | "WARNING" | "ERROR";
  /** Unix milliseconds. */
  readonly time: number;
}

/** Lines that are kept, and characters of one. */
const LINES = 1000;
const CHARACTERS = 2000;

export class LogTail {
  #lines: TailLine[] = [];
  #dropped = 0;

  push(line: TailLine): void {
    this.#lines.push({ ...line, text: line.text.slice(0, CHARACTERS) });
    // Dropped by the thousand, since each time moves the rest.
    if (this.#lines.length < 2 * LINES) return;
    this.#dropped += this.#lines.length - LINES;
    this.#lines = this.#lines.slice(-LINES);
  }

  /** Lines that there have been. */
  get count(): number {
    return this.#dropped + this.#lines.length;
  }

  /** Number of the oldest line that can still be shown. */
  get first(): number {
    return Math.max(this.#dropped, this.count - LINES);
  }

  /** Lines `from` to before `end`, by number. */
  between(from: number, end: number): readonly TailLine[] {
    return this.#lines.slice(Math.max(0, from - this.#dropped), Math.max(0, end - this.#dropped));
  }
}
