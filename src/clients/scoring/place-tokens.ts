/** Where a token stands in a text, in JavaScript's string units. */
export interface Span {
  readonly offset: number;
  readonly end: number;
}

/** A part of a token that stands in the text as it is, or one that stands for a part of a character or more: what, cannot be told by it. */
interface Piece {
  readonly token: number;
  /** Empty where it is unknown. */
  readonly literal: string;
  /** An unknown one that stands for something; else the character may come whole with a later token. */
  readonly covers: boolean;
}

const REPLACEMENT = "\ufffd";
/** A single byte, as OpenAI and SentencePiece write what is no character of its own. */
const BYTES = /^(?:bytes:(?:\\x[0-9a-f]{2})+|<0x[0-9A-F]{2}>)$/;
/** A token that stands for no text: a beginning of text by its name. */
const SPECIAL = /^(?:<[^<>]*>|\[[A-Z]+\])$/;
const NOT_ASCII = /^[^\0-\x7f]*$/;

/**
 * Where tokens stand in the text that they are of, found by walking them through it: what servers say of offsets is in characters, bytes or
 * units as the server counts, from the beginning of text or behind it, and some begin anew. What follows the text is no part of it:
 * the answer has an entry for each token of the text alone. Tokens that share a character, or of which nothing is known but
 * that they stand together for several, all cover it. Null where the tokens are not of this text, or do not reach its end.
 *
 * `generated`: how many of the last tokens the model made; null = at most one, which is not known.
 */
export function placeTokens(text: string, tokens: readonly string[], generated: number | null): readonly Span[] | null {
  const whole = text.toWellFormed();
  const own = generated === null ? tokens : tokens.slice(0, Math.max(0, tokens.length - generated));
  const written = inThisSpelling(whole, own);
  const first = beginningOf(whole, written);
  const walk = new Walk(whole, first.pieces, written.length);
  const reached = walk.run(first.skipped);
  if (reached === null) return null;
  const left = tokens.length - reached;
  const surplus = generated ?? (left > 0 ? 1 : 0);
  if (left !== surplus) return null;
  return walk.spans(reached, first.skipped);
}

/** Tokenizers' own marks for a space and a line break, where the text has none of them. */
function inThisSpelling(text: string, tokens: readonly string[]): readonly string[] {
  const marks = [
    ["▁", " "],
    ["Ġ", " "],
    ["Ċ", "\n"],
  ] as const;
  const used = marks.filter(([mark]) => !text.includes(mark) && tokens.some((token) => token.includes(mark)));
  return used.length === 0 ? tokens : tokens.map((token) => used.reduce((spelt, [mark, meant]) => spelt.replaceAll(mark, meant), token));
}

/** Tokens before the text, and the pieces of the rest; a space that a tokenizer put before the text is none of it. */
function beginningOf(text: string, tokens: readonly string[]): { readonly skipped: number; readonly pieces: readonly Piece[] } {
  let skipped = 0;
  while (skipped < tokens.length && !text.startsWith(tokens[skipped] ?? "", 0) && SPECIAL.test(tokens[skipped] ?? "") && !BYTES.test(tokens[skipped] ?? ""))
    skipped++;
  // A beginning of text without a name; before a character of several bytes it may be a part of that.
  if (skipped === 0 && tokens[0] === "" && !NOT_ASCII.test(text.slice(0, 1))) skipped = 1;
  const rest = tokens.slice(skipped);
  const [head = ""] = rest;
  const spaced = head.startsWith(" ") && !text.startsWith(head[0] ?? "");
  return { skipped, pieces: rest.flatMap((token, at) => piecesOf(at === 0 && spaced ? token.slice(1) : token, skipped + at, text)) };
}

function piecesOf(token: string, at: number, text: string): readonly Piece[] {
  if (token === "" || (BYTES.test(token) && !text.includes(token))) return [{ token: at, literal: "", covers: token !== "" }];
  if (!token.includes(REPLACEMENT)) return [{ token: at, literal: token, covers: true }];
  const parts = token.split(new RegExp(`(${REPLACEMENT}+)`)).filter((part) => part !== "");
  return parts.map((part) => ({ token: at, literal: part.startsWith(REPLACEMENT) ? "" : part, covers: true }));
}

/** One pass over the pieces. */
class Walk {
  readonly #text: string;
  readonly #pieces: readonly Piece[];
  readonly #offsets: number[];
  readonly #ends: number[];

  constructor(text: string, pieces: readonly Piece[], tokens: number) {
    this.#text = text;
    this.#pieces = pieces;
    this.#offsets = Array.from({ length: tokens }, () => -1);
    this.#ends = Array.from({ length: tokens }, () => 0);
  }

  /** Gives the number of tokens that reach the end of the text; null when they do not. */
  run(skipped: number): number | null {
    let position = 0;
    let at = 0;
    let reached = skipped;
    while (at < this.#pieces.length && position < this.#text.length) {
      const from = at;
      while (this.#pieces[at]?.literal === "") at++;
      const end = at > from ? this.#afterUnknown(position, from, at) : this.#afterLiteral(position, this.#pieces[at++] as Piece);
      if (end === null) return null;
      for (const { token } of this.#pieces.slice(from, at)) this.#cover(token, position, end);
      reached = (this.#pieces[at - 1]?.token ?? 0) + 1;
      position = end;
    }
    return position === this.#text.length ? reached : null;
  }

  spans(count: number, skipped: number): readonly Span[] {
    const spans = Array.from(
      { length: count },
      (_, at): Span => (at < skipped ? { offset: 0, end: 0 } : { offset: this.#offsets[at] ?? 0, end: this.#ends[at] ?? 0 }),
    );
    // A part of a character that was written with a later token: it covers that character.
    for (let at = count - 2; at >= skipped; at--) {
      const { offset, end } = spans[at] as Span;
      const next = spans[at + 1] as Span;
      if (offset === end && next.offset === offset && next.end > offset) spans[at] = { offset, end: Math.min(next.end, offset + this.#widthAt(offset)) };
    }
    return spans;
  }

  /** Units of the character there. */
  #widthAt(position: number): number {
    return (this.#text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
  }

  #cover(token: number, offset: number, end: number): void {
    if (this.#offsets[token] === -1) this.#offsets[token] = offset;
    this.#ends[token] = Math.max(this.#ends[token] ?? 0, end);
  }

  /** A token that lost its space, as it is written alone, begins with it. */
  #afterLiteral(position: number, { literal }: Piece): number | null {
    if (this.#text.startsWith(literal, position)) return position + literal.length;
    if (this.#text[position] === " " && this.#text.startsWith(literal, position + 1)) return position + 1 + literal.length;
    return null;
  }

  /** The text goes on as it is known again from piece `next` on; what lies between is made of characters of several bytes. */
  #afterUnknown(position: number, first: number, next: number): number | null {
    const covers = this.#pieces.slice(first, next).some((piece) => piece.covers);
    const least = position + (covers ? this.#widthAt(position) : 0);
    let known = "";
    for (let at = next; at < this.#pieces.length && this.#pieces[at]?.literal !== ""; at++) known += this.#pieces[at]?.literal;
    const place = known === "" ? -1 : this.#text.indexOf(known, least);
    const found = place >= 0 ? place : this.#tailBefore(least, known);
    return found !== null && NOT_ASCII.test(this.#text.slice(position, found)) ? found : null;
  }

  /** Where the text ends within what is known, which goes on into what the model made. */
  #tailBefore(position: number, known: string): number | null {
    for (let at = position; at < this.#text.length; at++) if (known !== "" && known.startsWith(this.#text.slice(at))) return at;
    return this.#text.length;
  }
}
