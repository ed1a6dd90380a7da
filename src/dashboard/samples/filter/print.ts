import type { Filter } from "./filter.ts";
import { fieldToken, textToken } from "./tokens.ts";

/** A filter as text, which `parseFilter` reads as the same. */
export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case "words":
      return textToken(filter.text);
    case "comparison":
      return `${fieldToken(filter.field)} ${filter.operator} ${textToken(filter.value)}`;
    case "not":
      return `not ${within(filter.part)}`;
    case "and":
      return filter.parts.map(within).join(" and ");
    case "or":
      return filter.parts.map(printFilter).join(" or ");
  }
}

const within = (part: Filter): string => (part.kind === "and" || part.kind === "or" ? `(${printFilter(part)})` : printFilter(part));
