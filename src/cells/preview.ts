import { clip } from "./clip.ts";
import { type Cell, fieldOf } from "./row-field.ts";

/** What a grid shows of a row beside its numbers. */
export interface Preview {
  readonly values: Readonly<Record<string, Cell>>;
  /** Fields whose text is longer than what stands there; absent = none is. */
  readonly cut?: readonly string[];
}

/** These fields of a row (row-field.ts), texts to `characters`. */
export function previewOf(row: Readonly<Record<string, unknown>>, fields: readonly string[], characters: number): Preview {
  const values: Record<string, Cell> = {};
  const cut: string[] = [];
  for (const name of fields) {
    const value = fieldOf(row, name);
    if (typeof value === "string" && value.length > characters) cut.push(name);
    // A field may be called anything.
    Object.defineProperty(values, name, {
      value: typeof value === "string" ? clip(value, characters) : value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return cut.length === 0 ? { values } : { values, cut };
}
