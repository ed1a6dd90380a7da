import { clip } from "../../../cells/clip.ts";

/** Characters of a long text that are shown at first, and that each step adds. */
export const FIRST_CHARACTERS = 20_000;
export const STEP_CHARACTERS = 200_000;

/** A part of a text. */
export interface Piece {
  /** Where it begins. */
  readonly at: number;
  readonly text: string;
}

/** Pieces of a text as they are shown after so many steps: no half of a surrogate pair at their ends. */
export function shownPieces(text: string, steps: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (let step = 0; step <= steps && at < text.length; step++) {
    const piece = clip(text.slice(at, at + STEP_CHARACTERS + 1), step === 0 ? FIRST_CHARACTERS : STEP_CHARACTERS);
    pieces.push({ at, text: piece });
    at += piece.length;
  }
  return pieces;
}
