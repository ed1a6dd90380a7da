/** Sent unless a mapping says otherwise: lets a server keep the requests of an example together. */
const DEFAULT_HEADERS = { "x-session-id": "example_id" };

/** Characters of a value that are sent; servers refuse requests whose headers are much larger. */
const MAX_VALUE = 2048;

/**
 * Headers that carry a state key's value. Read at every request, so that a rollout can change what it sends. Names come in lower
 * case: two spellings of one name would be sent as two values.
 */
export function stateHeaders(mapping: Readonly<Record<string, string>> | undefined, state: Readonly<Record<string, unknown>>): Record<string, string> {
  const keys: Record<string, string> = { ...DEFAULT_HEADERS };
  for (const [name, key] of Object.entries(mapping ?? {})) keys[name.toLowerCase()] = key;
  const headers: Record<string, string> = {};
  for (const [name, key] of Object.entries(keys)) {
    const value = Object.hasOwn(state, key) ? state[key] : null;
    if (value !== undefined && value !== null) headers[name] = headerText(value);
  }
  return headers;
}

/** A state may hold anything; what no header can carry is percent-encoded, since it would fail every request of the rollout. */
function headerText(value: unknown): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const plain = text.toWellFormed().replace(/[^\x20-\x7e]+/gu, encodeURIComponent);
  return plain.slice(0, MAX_VALUE).trim();
}
