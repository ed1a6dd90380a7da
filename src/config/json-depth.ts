import { MAX_JSON_DEPTH } from "../limits.ts";

/**
 * How deep the brackets outside of texts go; looked at before parsing. Parsing goes down without a stack, and nearly all that walks what was
 * parsed does not.
 */
export function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at + 1);
    else if (code === BRACE || code === BRACKET) deepest = Math.max(deepest, ++depth);
    else if (code === BRACE_END || code === BRACKET_END) depth--;
  }
  return deepest;
}

/** Where the quote is that ends a text, or the end. Texts are most of what is long, and are passed by from quote to quote. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d] as const;

/** Whether a value that did not come as JSON goes deeper than `levels`. Looks no deeper than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels <= 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

/** Whether a text has more opening brackets than `levels`, wherever they stand: without, it cannot go deeper, and most texts are told by this alone. */
function hasBrackets(text: string, levels: number): boolean {
  let found = 0;
  for (const bracket of "{[") {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (++found > levels) return true;
  }
  return false;
}

/** `JSON.parse` for what comes from outside. Throws `SyntaxError`, also for what goes deeper than `levels`. */
export function parseShallow(text: string, levels = MAX_JSON_DEPTH): unknown {
  if (hasBrackets(text, levels) && depthOf(text) > levels) throw new SyntaxError(`nested deeper than ${levels} levels`);
  return JSON.parse(text);
}
