import { isSchema, type Schema } from "./values-text.ts";

/** How a value is written into a form: what its schema says, as far as that makes sense. */
export type FieldShape =
  | { readonly kind: "text" }
  | { readonly kind: "json" }
  | { readonly kind: "switch" }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer" | "number"; readonly least: number | null; readonly most: number | null }
  | { readonly kind: "choice"; readonly choices: readonly unknown[] }
  /** One text a line. */
  | { readonly kind: "lines" };

/** More choices than that are no list that anybody picks from. */
const MOST_CHOICES = 200;

const JSON_FIELD: FieldShape = { kind: "json" };

/** Of a value of this schema; whatever is not known is JSON. `null` as one of several kinds is written as JSON by who wants it. */
export function shapeOf(schema: Schema): FieldShape {
  const { enum: choices, const: only, type, anyOf, items, minimum, maximum } = schema;
  if (only !== undefined) return { kind: "choice", choices: [only] };
  if (Array.isArray(choices)) return choices.length > 0 && choices.length <= MOST_CHOICES ? { kind: "choice", choices } : JSON_FIELD;
  if (Array.isArray(anyOf)) {
    const others = anyOf.filter((each): each is Schema => isSchema(each) && each.type !== "null");
    return others.length === 1 && anyOf.length === 2 ? shapeOf(others[0] as Schema) : JSON_FIELD;
  }
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== "null");
    return others.length === 1 && typeof others[0] === "string" ? shapeOf({ ...schema, type: others[0] }) : JSON_FIELD;
  }
  if (type === "boolean") return { kind: "boolean" };
  if (type === "string") return { kind: "text" };
  if (type === "integer" || type === "number")
    return { kind: type, least: typeof minimum === "number" ? minimum : null, most: typeof maximum === "number" ? maximum : null };
  if (type === "array" && isSchema(items) && items.type === "string" && !Array.isArray(items.enum)) return { kind: "lines" };
  return JSON_FIELD;
}
