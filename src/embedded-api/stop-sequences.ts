/** A token and what it adds to the text. */
export interface TextToken {
  readonly text: string;
}

/**
 * Ends a text before the first of its stop sequences. Tokens that may be the beginning of one are held back until that is known;
 * each token is given out once, in order.
 */
export class StopSequences<Token extends TextToken> {
  readonly #stops: readonly string[];
  #held: Token[] = [];

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Tokens that are certain to be part of the text, and whether it ends here. */
  push(token: Token): { readonly tokens: readonly Token[]; readonly stopped: boolean } {
    this.#held.push(token);
    const text = textOf(this.#held);
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
    if (found.length > 0) return { tokens: this.#release(Math.min(...found)), stopped: true };
    return { tokens: this.#release(text.length - this.#open(text)), stopped: false };
  }

  /** What is left when the text ends by itself. */
  flush(): readonly Token[] {
    return this.#release(Number.POSITIVE_INFINITY);
  }

  /** Length of the longest end of `text` that a stop sequence begins with. */
  #open(text: string): number {
    const longest = Math.max(0, ...this.#stops.map((stop) => stop.length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.#stops.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  /** The held tokens whose text ends at or before `end`. */
  #release(end: number): readonly Token[] {
    let length = 0;
    const count = this.#held.findIndex(({ text }) => {
      length += text.length;
      return length > end;
    });
    return this.#held.splice(0, count < 0 ? this.#held.length : count);
  }
}

const textOf = (tokens: readonly TextToken[]): string => tokens.map(({ text }) => text).join("");
