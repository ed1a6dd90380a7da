/** Of a row that has nothing under a key. */
export const MISSING = "(missing)";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * What a row has under `key`, as text: a field of the row, or of its `info` (which some programs write as JSON in a text); dots lead into objects.
 * `MISSING` where there is nothing, or null.
 */
export function valueUnder(row: Fields, key: string): string {
  const found = at(row, key) ?? at(fieldsOfInfo(row.info), key);
  if (found === undefined || found === null) return MISSING;
  return typeof found === "string" ? found : JSON.stringify(found);
}

/** The fields of a row's `info`, which some programs write as JSON in a text; none of what is no object. */
export function fieldsOfInfo(info: unknown): Fields {
  if (typeof info !== "string") return isFields(info) ? info : {};
  try {
    const parsed: unknown = JSON.parse(info);
    return isFields(parsed) ? parsed : {};
  } catch {
    // A text that is no JSON has no fields.
    return {};
  }
}

function at(fields: Fields, key: string): unknown {
  if (Object.hasOwn(fields, key)) return fields[key];
  let value: unknown = fields;
  for (const name of key.split(".")) {
    if (!isFields(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
