import { dollarsText } from "../../../../report/text/cost-text.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import type { Budget } from "../../../api/settings-answers.ts";
import { SET_BUDGET } from "../commands.ts";
import { ReadList } from "./read-list.tsx";

const WHOSE = { team: "the team", key: "a key of the team", everybody: "a key, for all teams" } as const;

/** What may be spent, and what is. */
export const BudgetsTab = () => (
  <ReadList<Budget>
    title="Budgets"
    path="/budgets"
    columns={[
      {
        name: "Of",
        cell: (budget) => (
          <>
            {WHOSE[budget.of]}
            {budget.api_key_var === null ? null : <small>{singleLine(budget.api_key_var)}</small>}
          </>
        ),
      },
      { name: "A day", isNumber: true, cell: (budget) => <Spent budget={budget} time="day" /> },
      { name: "A month", isNumber: true, cell: (budget) => <Spent budget={budget} time="month" /> },
      { name: "Held now", isNumber: true, cell: ({ spent }) => (spent === null ? null : dollarsText(spent.allotted_usd)) },
      { name: "Set by", cell: ({ updated_by }) => singleLine(updated_by) },
    ]}
    keyOf={(budget) => `${budget.of} ${budget.team} ${budget.api_key_var}`}
    none={
      <>
        No budget is set: nothing is held back. In a terminal: <code>{SET_BUDGET}</code>
      </>
    }
  />
);

/** What is spent of a day or month, with what nobody saw the end of at the most that it can have cost. */
function Spent({ budget: { limits, spent }, time }: { readonly budget: Budget; readonly time: "day" | "month" }) {
  const limit = limits[time];
  if (limit === undefined) return null;
  const { settled_usd, unseen_usd, batches_usd = 0 } = spent?.[time] ?? { settled_usd: 0, unseen_usd: 0 };
  const held = unseen_usd + batches_usd;
  return (
    <>
      {dollarsText(settled_usd + held)} of {dollarsText(limit)}
      {held === 0 ? null : <small>{dollarsText(held)} of it at most, not known exactly</small>}
    </>
  );
}
