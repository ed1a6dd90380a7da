/** A longer text is shown as it is: laying it out takes the page's time. */
const MOST_CHARACTERS = 200_000;

/** A JSON text with a line for each value; any other text as it is. */
export function readableJson(text: string): string {
  if (text.length > MOST_CHARACTERS || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
