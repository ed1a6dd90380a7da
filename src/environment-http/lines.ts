/** A line goes on beyond what one may have. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";
}

/** The whole lines of a text that comes in pieces: a long one is put together when its end is there, and not at each piece. */
export class Lines {
  readonly #most: number;
  #held: string[] = [];
  #length = 0;

  /** `most`: characters of a line. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a line has begun that is not over. */
  get isOpen(): boolean {
    return this.#length > 0;
  }

  /** The lines that end in `piece`, without their ends. Throws `LineTooLong`. */
  add(piece: string): readonly string[] {
    const [first = "", ...others] = piece.split("\n");
    this.#hold(first);
    if (others.length === 0) return [];
    const lines = [this.#held.join(""), ...others.slice(0, -1)];
    this.#held = [];
    this.#length = 0;
    this.#hold(others.at(-1) ?? "");
    const long = lines.find(({ length }) => length > this.#most);
    if (long !== undefined) throw new LineTooLong(`a line has ${long.length} characters`);
    return lines;
  }

  #hold(piece: string): void {
    if (piece === "") return;
    this.#length += piece.length;
    if (this.#length > this.#most) throw new LineTooLong(`a line has more than ${this.#most} characters`);
    this.#held.push(piece);
  }
}
