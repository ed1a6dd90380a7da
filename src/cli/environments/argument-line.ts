import type { ArgumentFacts } from "../../environments/definition/describe.ts";
import { singleLine } from "../../report/text/printable.ts";

/** One argument of an environment as lists show it: what it may be, what it is by default, and what it means. */
export function argumentLine({ name, schema, required, description, default: usual }: ArgumentFacts): string {
  const values = Array.isArray(schema.enum)
    ? schema.enum.map((value) => JSON.stringify(value)).join(" | ")
    : typeof schema.type === "string"
      ? schema.type
      : "JSON";
  const otherwise = required ? "required" : usual === undefined ? "optional" : `default ${shortened(JSON.stringify(usual))}`;
  return `  ${singleLine(name)} (${singleLine(values)}, ${singleLine(otherwise)})${description === null ? "" : `: ${singleLine(description)}`}`;
}

const shortened = (text: string): string => (text.length <= 60 ? text : `${text.slice(0, 59)}…`);
