import { cachedText } from "../../../report/text/cache-text.ts";
import { costText, dollarsText } from "../../../report/text/cost-text.ts";
import { thousands } from "../../../report/text/format.ts";
import type { RunState } from "../../api/run-answers.ts";

/** What a run has used. What nobody knows is said to be unknown; it is never 0. */
export function costLines(state: RunState): readonly (readonly [name: string, text: string])[] {
  const { tokens, cost, judges, max_cost, budget, cache, done_rollouts, truncated_rollouts } = state;
  const lines: (readonly [string, string] | null)[] = [
    ["Tokens", `${thousands(tokens.input)} in, ${thousands(tokens.output)} out`],
    [
      "Cost",
      cost === null
        ? "not known: nobody said what the model costs"
        : costText(cost.total_usd, done_rollouts - (cost.unpriced_rollouts ?? 0), done_rollouts, "rollouts"),
    ],
    max_cost === undefined ? null : ["Budget", budget === undefined ? `${dollarsText(max_cost)} at most` : budgetText(budget, max_cost)],
    judges === undefined
      ? null
      : [
          "Judges",
          `${thousands(judges.requests)} requests, ${thousands(judges.input)} tokens in, ${thousands(judges.output)} out, ${judges.cost === undefined ? "cost not known" : costText(judges.cost.total_usd, judges.cost.requests, judges.requests, "requests")}`,
        ],
    cache === undefined ? null : ["Cache", cachedText(cache)],
    truncated_rollouts === 0
      ? null
      : [
          "Cut off",
          `${truncated_rollouts === 1 ? "1 answer" : `${thousands(truncated_rollouts)} answers`} ended at the token limit or at the end of the context`,
        ],
  ];
  return lines.filter((each) => each !== null);
}

function budgetText({ settled_usd, unseen_usd, batches_usd }: NonNullable<RunState["budget"]>, most: number): string {
  const unseen = unseen_usd === 0 ? "" : `, ${dollarsText(unseen_usd)} of it for calls whose end nobody saw`;
  const held = batches_usd === undefined ? "" : `, ${dollarsText(batches_usd)} held for batches`;
  return `${dollarsText(settled_usd + unseen_usd)} of ${dollarsText(most)} spent${unseen}${held}`;
}
