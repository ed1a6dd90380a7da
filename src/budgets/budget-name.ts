import { runName, type TeamOf } from "../teams/team-name.ts";
import type { RunConfig } from "../config/plan/run-config.ts";

/** Whose money a Budget holds: a run's, a team's, or that of a key; `team` null = of the owner's budget for the key, which holds for every team. */
export type BudgetOwner =
  | { readonly kind: "run"; readonly run: string }
  | { readonly kind: "team"; readonly team: string }
  | { readonly kind: "key"; readonly team: string | null; readonly variable: string };

/** Of the Budget's object. No name of a team or a variable holds a slash. */
export const runBudget = (config: TeamOf & { readonly run_id: string }): string => `run/${runName(config)}`;
export const teamBudget = (team: string): string => `team/${team}`;
export const keyBudget = (team: string | null, variable: string): string => `key/${team ?? "*"}/${variable}`;

/** Of a Budget by its name. Throws a `RangeError` where it is none. */
export function budgetOwner(name: string): BudgetOwner {
  const [kind, first = "", ...rest] = name.split("/");
  if (kind === "run") return { kind, run: [first, ...rest].join("/") };
  if (kind === "team" && rest.length === 0) return { kind, team: first };
  const [variable] = rest;
  if (kind === "key" && variable !== undefined && rest.length === 1) return { kind, team: first === "*" ? null : first, variable };
  throw new RangeError(`not a budget: ${JSON.stringify(name.slice(0, 80))}`);
}

/** All Budgets that hold for a run: its own where it has one, and those that it was stamped with. */
export const budgetsOf = (config: Pick<RunConfig, "run_id" | "team" | "max_cost" | "budgets">): readonly string[] => [
  ...(config.max_cost === undefined ? [] : [runBudget(config)]),
  ...(config.budgets ?? []),
];

/** Of them, those that a call with the key of this variable is paid from. What a run's judges are called with is another key, perhaps. */
export const budgetsFor = (config: Parameters<typeof budgetsOf>[0], variable: string): readonly string[] =>
  budgetsOf(config).filter((name) => {
    const owner = budgetOwner(name);
    return owner.kind !== "key" || owner.variable === variable;
  });
