import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import * as budgets from "./budget-schemas.ts";

const query = budgets.budgetQuery;
const body = budgets.budgetBody;
const given = { answers: { 200: budgets.budgetAnswer }, errors: [404, 413, 415, 422] };
const cleared = { answers: { 200: answers.message }, errors: [404, 422] };

/** What a team, and whoever uses a key, may spend. */
export const BUDGET_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/budgets",
    id: "listBudgets",
    summary: "What the team and its keys may spend, and what is spent this day and this month; for the owner of the service those of keys for all teams too",
    query,
    answers: { 200: budgets.budgetList },
    errors: [404, 422],
  },
  {
    method: "put",
    path: "/budgets/team",
    id: "setTeamBudget",
    summary: "What all runs of the team may spend together: those that work keep to it from now on",
    query,
    body,
    ...given,
  },
  { method: "delete", path: "/budgets/team", id: "clearTeamBudget", summary: "The team has no budget any more", query, ...cleared },
  { method: "put", path: "/budgets/keys/{key}", id: "setKeyBudget", summary: "What runs of the team may spend with a key", query, body, ...given },
  { method: "delete", path: "/budgets/keys/{key}", id: "clearKeyBudget", summary: "The key has no budget of the team any more", query, ...cleared },
  {
    method: "put",
    path: "/budgets/everybody/{key}",
    id: "setKeyBudgetForAll",
    summary: "What runs of all teams may spend with a key of the service; for its owner alone",
    body,
    ...given,
  },
  { method: "delete", path: "/budgets/everybody/{key}", id: "clearKeyBudgetForAll", summary: "The key has no budget for all teams any more", ...cleared },
];
