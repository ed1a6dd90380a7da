/** `edgewise budget list | set | clear`: what a team, and whoever uses a key, may spend per day and month. What one run may spend is its `--max-cost`. */
import { dollarsText } from "../../report/text/cost-text.ts";
import type { KeptLimits } from "../../budgets/kept-limits.ts";
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { namedPath } from "../connection/named-path.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";

/** Whose budget: the team's, or with `key` that of a key, of the team or with `allTeams` of all. */
export interface BudgetWish {
  readonly team?: string | undefined;
  readonly key?: string | undefined;
  readonly allTeams?: boolean | undefined;
  readonly output: Output;
}

interface Spent {
  readonly settled_usd: number;
  readonly unseen_usd: number;
  readonly unseen_calls: number;
  /** Absent = nothing is held for batches. */
  readonly batches_usd?: number;
}
/** The parts of the answers of `/budgets` that commands read. */
interface ShownBudget {
  readonly of: "team" | "key" | "everybody";
  readonly team: string | null;
  readonly api_key_var: string | null;
  readonly limits: KeptLimits;
  readonly spent: { readonly day: Spent; readonly month: Spent } | null;
  readonly updated_by: string;
}

const budgetPath = namedPath("budgets");
const keyPath = namedPath("budgets/keys");
const everybodyPath = namedPath("budgets/everybody");

function pathOf({ team, key, allTeams }: BudgetWish): string {
  if (key === undefined) return budgetPath("team", team);
  return allTeams === true ? everybodyPath(key, undefined) : keyPath(key, team);
}

export async function budgetList(context: CommandContext, { team, output }: Pick<BudgetWish, "team" | "output">): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await askService(context, "edgewise budget", ({ client }) =>
    client.json<{ data: readonly ShownBudget[] }>("GET", budgetPath(null, team), { retries: 2 }),
  );
  if (output === "json") terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0)
    terminal.tell("No budgets are set. One is set by `npx edgewise budget set --month 200`, and of a key with `--key NAME`; of a run it is its --max-cost.");
  else for (const line of budgetLines(answer.data, terminal.columns)) terminal.print(line);
  return EXIT.completed;
}

/** May be repeated: the same budget twice is one. */
export async function budgetSet(context: CommandContext, wish: BudgetWish & { readonly limits: KeptLimits }): Promise<ExitCode> {
  const answer = await askService(
    context,
    "edgewise budget set",
    ({ client }) => client.json<{ data: ShownBudget }>("PUT", pathOf(wish), { body: wish.limits, retries: 2 }),
    true,
  );
  if (wish.output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of budgetLines([answer.data], context.terminal.columns)) context.terminal.print(line);
  return EXIT.completed;
}

export async function budgetClear(context: CommandContext, wish: BudgetWish): Promise<ExitCode> {
  const answer = await askService(context, "edgewise budget clear", ({ client }) => client.json<{ message: string }>("DELETE", pathOf(wish), {}), true);
  context.terminal.print(wish.output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}

const COLUMNS = [{ title: "TEAM" }, { title: "KEY", flexible: true }, { title: "TODAY" }, { title: "THIS MONTH" }, { title: "BY" }] as const;

function budgetLines(budgets: readonly ShownBudget[], width: number): readonly string[] {
  const rows = budgets.map(({ team, api_key_var, limits, spent, updated_by }) => [
    team ?? "all",
    api_key_var ?? "any",
    usedText(spent?.day, limits.day),
    usedText(spent?.month, limits.month),
    updated_by,
  ]);
  return columnLines(COLUMNS, rows, width);
}

/** `$1.23 of $20.00`: what is settled and what may have been spent unseen, of what may be; beside it what is held for batches. */
function usedText(spent: Spent | undefined, limit: number | undefined): string {
  const used = spent === undefined ? "-" : dollarsText(spent.settled_usd + spent.unseen_usd);
  const unseen = spent === undefined || spent.unseen_calls === 0 ? "" : ` (${dollarsText(spent.unseen_usd)} unseen)`;
  const batches = spent?.batches_usd === undefined ? "" : ` (${dollarsText(spent.batches_usd)} in batches)`;
  return `${used}${unseen}${batches}${limit === undefined ? "" : ` of ${dollarsText(limit)}`}`;
}
