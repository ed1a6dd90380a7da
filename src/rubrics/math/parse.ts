import type { Budget } from "./budget.ts";
import { evenText, Unreadable } from "./build.ts";
import type { Node } from "./node.ts";
import { Reader } from "./reader.ts";
import { isProse, tokensOf, withoutEnd } from "./tokens.ts";

/** Reads an answer; null when it is no mathematics. Throws a `MathBoundError` when reading it takes too long. */
export function parseMath(text: string, budget: Budget): Node | null {
  if (isProse(text)) return { kind: "text", text: evenText(text) };
  const tokens = tokensOf(text, budget);
  if (tokens === null) return null;
  try {
    return new Reader(withoutEnd(tokens), budget).answer();
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    budget.resurface();
    return null;
  }
}
