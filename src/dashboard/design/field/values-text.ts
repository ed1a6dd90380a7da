import { printableJson, singleLine } from "../../../report/text/printable.ts";

/** JSON Schema, as far as anybody can know what foreign code writes there. */
export type Schema = Readonly<Record<string, unknown>>;

/** Most choices that are written out. */
const MOST_CHOICES = 12;

/** What a schema takes, in a few words. */
export function valuesText(schema: Schema): string {
  const { enum: choices, const: only, type, anyOf, items } = schema;
  if (only !== undefined) return printableJson(only);
  if (Array.isArray(choices)) {
    const shown = choices.slice(0, MOST_CHOICES).map((each) => printableJson(each));
    return [...shown, ...(choices.length > shown.length ? [`${choices.length - shown.length} more`] : [])].join(", ");
  }
  if (Array.isArray(anyOf) && anyOf.length > 0 && anyOf.length <= MOST_CHOICES && anyOf.every(isSchema)) return anyOf.map(valuesText).join(" or ");
  if (Array.isArray(type)) return type.map((each) => (typeof each === "string" ? singleLine(each) : printableJson(each))).join(" or ");
  if (type === "array") return isSchema(items) && typeof items.type === "string" ? `list of ${valuesText(items)}` : "list";
  if (type === "integer" || type === "number") return `${type === "integer" ? "whole number" : "number"}${boundsText(schema)}`;
  if (type === "boolean") return "yes or no";
  if (type === "string") return "text";
  return typeof type === "string" ? singleLine(type) : "JSON";
}

export const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null && !Array.isArray(value);

function boundsText({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): string {
  const least = typeof minimum === "number" ? ` from ${minimum}` : typeof exclusiveMinimum === "number" ? ` above ${exclusiveMinimum}` : "";
  // The largest exact integer is no bound that anybody set.
  const most =
    typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER
      ? ` to ${maximum}`
      : typeof exclusiveMaximum === "number"
        ? ` below ${exclusiveMaximum}`
        : "";
  return least === " from -9007199254740991" ? most : `${least}${most}`;
}
