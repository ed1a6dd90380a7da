/** A field of a JSON object: its name, and its value as it is written. */
export type RawField = readonly [name: string, text: string];

const SPACE = /\s*/y;

/**
 * The fields of a JSON object in their order, with their values as they are written: numbers, escapes and spaces differ between
 * writers, and whoever replaces one field leaves the bytes of the others alone. `text` must be a valid object.
 */
export function rawFields(text: string): RawField[] {
  const fields: RawField[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const colon = endOfString(text, at);
    const name = JSON.parse(text.slice(at, colon)) as string;
    const begin = skipSpace(text, skipSpace(text, colon) + 1);
    const end = endOfValue(text, begin);
    fields.push([name, text.slice(begin, end)]);
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
  return fields;
}

/** The object again, with the spaces that `like` has after its commas and colons. */
export function objectText(fields: readonly RawField[], like: string): string {
  const [comma, colon] = /^\{\s*"[^"]*":\s/.test(like) ? [", ", ": "] : [",", ":"];
  return `{${fields.map(([name, text]) => `${JSON.stringify(name)}${colon}${text}`).join(comma)}}`;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

/** Behind the text that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError("a text in a row does not end");
}

/** Behind the value that begins at `at`. */
function endOfValue(text: string, at: number): number {
  let depth = 0;
  for (let next = at; next < text.length; ) {
    const char = text[next];
    if (char === '"') {
      next = endOfString(text, next);
      if (depth === 0) return next;
      continue;
    }
    if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") {
      // The end of the object that holds a bare value, or of the value itself.
      if (depth === 0) return next;
      if (--depth === 0) return next + 1;
    } else if (depth === 0 && (char === "," || (char !== undefined && /\s/.test(char)))) return next;
    next++;
  }
  throw new SyntaxError("a value in a row does not end");
}
