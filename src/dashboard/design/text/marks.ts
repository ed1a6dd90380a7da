import type { Piece } from "./text-steps.ts";

/** A text as it is: characters that nobody sees, or that act, stand there by their numbers. */

/** A run of the same character that is not shown as itself. */
export interface Mark {
  /** Where it begins. */
  readonly at: number;
  /** `\u{202e}`. */
  readonly name: string;
  readonly count: number;
}

// Controls but tab and line feed, what reorders the text around it, spaces without a width, the invisible letters in which prompts are hidden, and halves of surrogate pairs. Joiners (U+200C, U+200D) stay: letters and emoji hang on them.
const MARKED = /((?![\t\n\u{200c}\u{200d}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])\1*/gu;
/** Marks of one piece that are elements; further ones are characters of the text. */
const MOST_MARKS = 2_000;

const nameOf = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`;

/** Parts of a text in their order. */
export function markedParts(text: string): readonly (Piece | Mark)[] {
  const parts: (Piece | Mark)[] = [];
  let at = 0;
  let marks = 0;
  for (const match of text.matchAll(MARKED)) {
    const [run, character = ""] = match;
    if (match.index > at) parts.push({ at, text: text.slice(at, match.index) });
    at = match.index;
    if (++marks > MOST_MARKS) break;
    parts.push({ at, name: nameOf(character), count: run.length / character.length });
    at += run.length;
  }
  if (at < text.length) parts.push({ at, text: marks > MOST_MARKS ? text.slice(at).replace(MARKED, (run) => [...run].map(nameOf).join("")) : text.slice(at) });
  return parts;
}
