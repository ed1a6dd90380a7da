import { printable } from "./printable.ts";

/** Single quotes where a shell would take the word apart. */
export const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** Whether a text can be copied into a terminal as it is shown: quotes keep a shell from it, but not the terminal, for which a control character is a key that is pressed. */
export const isSayable = (text: string): boolean => printable(text) === text && !text.includes("\n");
