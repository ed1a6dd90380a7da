/** How text fills a terminal: an approximation of Unicode's widths that is right for what evaluations print. */

const NO_WIDTH = /^(?:\p{M}|\p{Cf})$/u;
const TWO_WIDE = /^[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]$/u;

/** Columns that one code point takes. */
function columnsOf(character: string): number {
  if (character.length === 1 && character < "\u0300") return 1;
  if (NO_WIDTH.test(character)) return 0;
  return TWO_WIDE.test(character) ? 2 : 1;
}

export const textWidth = (text: string): number => [...text].reduce((sum, character) => sum + columnsOf(character), 0);

/** `text` with spaces up to `width` columns. */
export const padTo = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - textWidth(text)));

/** The beginning of a text that is wider than `width` columns, and `…`; a text that fits as it is. */
export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = "";
  let columns = 0;
  for (const character of text) {
    columns += columnsOf(character);
    if (columns > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Lines of at most `width` columns: broken at spaces, and inside a word that is longer than a line. `width` >= 2. */
export const wrap = (text: string, width: number): string[] => text.split("\n").flatMap((line) => wrapLine(line, width));

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let open = "";
  let columns = 0;
  for (const character of line) {
    const own = columnsOf(character);
    if (columns + own > width) {
      const space = character === " " ? open.length : open.lastIndexOf(" ");
      const rest = space > 0 ? open.slice(space + 1) : "";
      lines.push(space > 0 ? open.slice(0, space) : open);
      open = rest;
      columns = textWidth(rest);
      // The space at which the line broke is not repeated at the start of the next.
      if (character === " ") continue;
    }
    open += character;
    columns += own;
  }
  return [...lines, open];
}
