/**
 * Text that came from a model, a server or a data set, made safe to print: what it says stays, what it would do to a terminal or
 * to a line format goes.
 */

// ESC [ … letter, ESC ] … BEL or ST, and two-character escapes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const LINE_ENDS = /\r\n|[\n\r\u2028\u2029]/g;
// C0 without tab and line feed, DEL, C1, and the marks that reorder the text around them.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// Of those, what may stand in a JSON text, and the line ends of Unicode.
const JSON_CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Several lines: line ends become `\n`, tabs four spaces; escape sequences and control characters go. */
export const printable = (text: string): string => text.replace(ESCAPES, "").replace(LINE_ENDS, "\n").replace(/\t/g, "    ").replace(CONTROLS, "");

/** One line: as `printable`, with each line end written as the two characters `\n`. */
export const singleLine = (text: string): string => printable(text).replaceAll("\n", "\\n");

/** A value as JSON text of which no character acts on a terminal: what JSON itself leaves as it is, is escaped too. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(JSON_CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
