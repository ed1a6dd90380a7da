import type { z } from "zod";

/** What is wrong with a value, as it is said to a person: bounds in words. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === "too_small" && isNumeric(issue.origin)) return `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;
  if (issue.code === "too_big" && isNumeric(issue.origin)) return `must be ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`;
  return issue.message;
}

const isNumeric = (origin: string): boolean => origin === "number" || origin === "int";
