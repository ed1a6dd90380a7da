/**
 * Content of the last `\boxed{…}`, braces matched. Without one, or when its braces never close: the text itself, or
 * `""` when `strict`.
 */
export function extractBoxedAnswer(text: string, options: { strict?: boolean } = {}): string {
  const otherwise = options.strict === true ? "" : text;
  const open = "\\boxed{";
  const at = text.lastIndexOf(open);
  if (at < 0) return otherwise;
  const start = at + open.length;
  let depth = 1;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === "{") depth++;
    if (char === "}") depth--;
    if (depth === 0) return text.slice(start, i);
  }
  return otherwise;
}

/** Trimmed text between the first and the second `####` (GSM8K's mark); the text itself when there is no mark. */
export function extractHashAnswer(text: string): string {
  const parts = text.split("####", 2);
  return parts[1] === undefined ? text : parts[1].trim();
}
