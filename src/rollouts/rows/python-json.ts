/** A character that Python escapes and JSON leaves bare. */
const BARE = /[\u007f-\uffff]/g;

/**
 * JSON as Python's `json.dumps` writes it: a space behind `,` and `:`, and nothing but ASCII. Tool calls stand in rows as such texts, which
 * their readers compare and count as they are.
 */
export function pythonJson(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value).replace(BARE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields.map(([name, field]) => `${pythonJson(name)}: ${pythonJson(field)}`).join(", ")}}`;
}
