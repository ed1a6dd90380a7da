import { z } from "zod";

/** Text that may stand in a list, a file name and a line of a log: no control characters, and no half of a surrogate pair. */
export const isPlainText = (text: string): boolean => text.isWellFormed() && ![...text].some((character) => character < " " || character === "\x7f");

export const plainText = (most: number) => z.string().max(most).refine(isPlainText, "must hold no control characters");
