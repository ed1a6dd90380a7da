/**
 * Floats as Python writes them: a fraction even where it is 0. JSON has one kind of number and its readers have two: a column that is
 * whole in the first 10 MB of a file is one of integers to `datasets`, which then refuses the first fraction.
 */

/** A number as text that every reader takes for a float; `null` where JSON has no text for it. */
export function floatText(value: number): string {
  if (!Number.isInteger(value)) return Number.isFinite(value) ? String(value) : "null";
  if (Object.is(value, -0)) return "-0.0";
  // From 1e21 on there is an exponent, which only floats have.
  return Math.abs(value) < 1e21 ? `${value}.0` : String(value);
}

/** JSON of `value` in which the numbers that `isFloat` names are floats; it is told their key, that of the list for numbers in one. */
export function jsonWithFloats(value: unknown, isFloat: (key: string) => boolean, key = ""): string {
  if (typeof value === "number" && isFloat(key)) return floatText(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((item) => jsonWithFloats(item, isFloat, key)).join(",")}]`;
  const fields: string[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (item !== undefined) fields.push(`${JSON.stringify(name)}:${jsonWithFloats(item, isFloat, name)}`);
  }
  return `{${fields.join(",")}}`;
}
