import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { debtOf, termsOf } from "../course/repair.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { relocated } from "../state/relocated.ts";
import type { Redo, UnitRange } from "../work.ts";

/** What of the units of a range that are done stays as it is, while the rest of them is run again. */
export function redosOf(ledger: Ledger, head: RunHead, range: UnitRange): Redo[] {
  const terms = termsOf(head, ledger.config());
  return relocated(ledger, ledger.owedIn(range)).map(({ unit, segment, offset, length, rollouts }) => {
    const debts = rollouts.map((rollout) => debtOf(rollout, terms));
    const score = debts.flatMap((debt, index) => (debt === "scores" ? [index] : []));
    return {
      unit,
      place: { segment, offset, length },
      keep: debts.flatMap((debt, index) => (debt === "rollout" ? [] : [index])),
      ...(score.length === 0 ? {} : { score }),
      ...otherPrompts(rollouts),
    };
  });
}

function otherPrompts(rollouts: readonly (RolloutSummary | null)[]): Pick<Redo, "other_prompts"> {
  const others = rollouts.flatMap((rollout, index) => (rollout?.other_prompt === true ? [index] : []));
  return others.length === 0 ? {} : { other_prompts: others };
}
