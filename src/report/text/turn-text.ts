import type { TurnFacts } from "../../rollouts/state/turns-column.ts";
import { formatSeconds, thousands } from "./format.ts";

/** `1,234 + 56 tokens`: in and out. */
export const tokensText = (input: number, output: number): string => `${thousands(input)} + ${thousands(output)} tokens`;

/** What an answer of the model took, as far as it is known: `1.2s`, `1,234 + 56 tokens`. */
export function turnTexts(facts: TurnFacts | undefined): readonly string[] {
  const parts: string[] = [];
  if (facts?.cached === true) parts.push("from the cache");
  else if (typeof facts?.seconds === "number") parts.push(formatSeconds(facts.seconds));
  if (typeof facts?.input_tokens === "number") parts.push(tokensText(facts.input_tokens, facts.output_tokens ?? 0));
  return parts;
}
