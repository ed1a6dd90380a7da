/** A deep copy of JSON data. Runs once per rollout, where `structuredClone` showed in the profile of an executor. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copyJson) as T;
  if (value === null || typeof value !== "object") return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    // A key of this name would set the prototype instead.
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: copyJson((value as Record<string, unknown>)[key]), enumerable: true, writable: true, configurable: true });
    else copy[key] = copyJson((value as Record<string, unknown>)[key]);
  }
  return copy as T;
}
