import type { z } from "zod";

/** What is wrong with a value, as it is said to a person: bounds, and what is missing, in words. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === "too_small" && isNumeric(issue.origin)) return `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
  if (issue.code === "too_big" && isNumeric(issue.origin)) return `must be ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`;
  if (issue.code === "invalid_type" && issue.message.endsWith(NOTHING)) return `is missing: ${WORDS[issue.expected] ?? issue.expected} belongs here`;
  // What is written with a large exponent is no number any more.
  if (issue.code === "invalid_type" && isInfinite(issue)) return "is larger than any number can be";
  return issue.message;
}

/** How the library ends what it says of a value that is not there; the value itself is not in the issue. */
const NOTHING = "received undefined";
/** What was expected, for people. */
const WORDS: Readonly<Record<string, string>> = {
  number: "a number",
  int: "a whole number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a table",
  record: "a table",
};

const isInfinite = (issue: z.core.$ZodIssue): boolean => (issue as { readonly received?: unknown }).received === "Infinity";

const isNumeric = (origin: string): boolean => origin === "number" || origin === "int";
