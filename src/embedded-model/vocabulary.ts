/** Ids of the two tokens that are no character. */
export const UNKNOWN = 0;
export const END_OF_TEXT = 1;

/** Characters and their ids. A character the model does not know becomes the unknown token; no text is refused. */
export class Vocabulary {
  readonly tokens: readonly string[];
  readonly #ids: ReadonlyMap<string, number>;

  /** `tokens` by id; the first two are the unknown token and the end of text. */
  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
    this.#ids = new Map(tokens.slice(2).map((token, index) => [token, index + 2]));
  }

  get size(): number {
    return this.tokens.length;
  }

  /** One id per character (Unicode code point). */
  encode(text: string): number[] {
    return Array.from(text, (character) => this.#ids.get(character) ?? UNKNOWN);
  }

  /** Text of the ids; the end of text is nothing, the unknown token is U+FFFD. Throws `RangeError` for an id there is not. */
  decode(ids: Iterable<number>): string {
    let text = "";
    for (const id of ids) text += this.text(id);
    return text;
  }

  /** Text of one token, as in `decode`. */
  text(id: number): string {
    if (id === UNKNOWN) return "\uFFFD";
    if (id === END_OF_TEXT) return "";
    const token = this.tokens[id];
    if (token === undefined) throw new RangeError(`there is no token ${id}; the vocabulary has ${this.size}`);
    return token;
  }
}
