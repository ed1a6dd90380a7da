import { type Context, Hono } from "hono";
import type { BudgetView } from "../../../durable-objects/budget/budget-control.ts";
import type { KeptBudget } from "../../../durable-objects/registry/budgets/kept-budget-control.ts";
import { keyBudget, teamBudget } from "../../budgets/budget-name.ts";
import { limitOf } from "../../budgets/money.ts";
import type { KeptLimits } from "../../budgets/kept-limits.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { logUnexpected, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { readTwice } from "../read-twice.ts";
import { someAtOnce } from "../some-at-once.ts";
import { budgetBody, budgetQuery, keyPath } from "./budget-schemas.ts";
import { budgetNamed } from "./run-budget.ts";
import { shownBudget } from "./shown-budget.ts";

/** `/budgets`: what a team, and whoever uses a key, may spend per day and month. What one run may spend is its `max_cost`. */
export const budgets = new Hono<AppContext>();

const noBudget = (): EdgewiseError => new EdgewiseError("not_found", "There is no such budget.", { hint: "`npx edgewise budget list` shows those there are." });

async function portsOf(c: Context<AppContext>): Promise<AppPorts> {
  const { team_id } = check(budgetQuery, c.req.query(), "query");
  return c.var.ports.inTeam(await administered(c, team_id));
}
const keyIn = (c: Context<AppContext>): string => check(keyPath, c.req.param(), "path").key;

const keptBy = (ports: AppPorts): Promise<readonly KeptBudget[]> =>
  readTwice(
    () => ports.registry,
    (registry) => registry.listKeptBudgets(),
  );

budgets.get("/", async (c) => {
  const ports = await portsOf(c);
  const isForAll = ({ name }: KeptBudget): boolean => name.startsWith(keyBudget(null, ""));
  const own = (await keptBy(ports)).filter((kept) => !isForAll(kept));
  const forAll = c.var.caller.owner ? (await keptBy(ports.inTeam(DEFAULT_TEAM))).filter(isForAll) : [];
  return c.json({ data: await someAtOnce([...own, ...forAll], async (kept) => shownBudget(kept, await viewOf(ports, kept.name))) });
});

budgets.put("/team", async (c) => {
  const ports = await portsOf(c);
  return set(c, ports, teamBudget(ports.team));
});
budgets.delete("/team", async (c) => {
  const ports = await portsOf(c);
  return clear(c, ports, teamBudget(ports.team));
});
budgets.put("/keys/:key", async (c) => {
  const ports = await portsOf(c);
  return set(c, ports, keyBudget(ports.team, keyIn(c)));
});
budgets.delete("/keys/:key", async (c) => {
  const ports = await portsOf(c);
  return clear(c, ports, keyBudget(ports.team, keyIn(c)));
});
budgets.put("/everybody/:key", async (c) => set(c, c.var.ports.inTeam(DEFAULT_TEAM), keyBudget(null, keyIn(c))));
budgets.delete("/everybody/:key", async (c) => clear(c, c.var.ports.inTeam(DEFAULT_TEAM), keyBudget(null, keyIn(c))));

/** Kept first: a run that is paid from a Budget which was not told yet spends nothing. */
async function set(c: Context<AppContext>, ports: AppPorts, name: string): Promise<Response> {
  const limits: KeptLimits = parseBody(budgetBody, await readJsonText(c.req.raw));
  const budget = budgetNamed(ports, name);
  await c.var.audit.begin(ports);
  c.var.audit.made(name, ...Object.entries(limits).map(([span, dollars]) => `${span}=${dollars}`));
  const kept = unwrap(await ports.registry.putKeptBudget({ name, limits, user: c.var.caller.user }));
  await budget.set(Object.fromEntries(Object.entries(limits).map(([span, dollars]) => [span, limitOf(dollars)])));
  return c.json({ data: shownBudget(kept, await viewOf(ports, name)) });
}

/** Runs that were begun under it go on without a limit of its own, and are counted still. */
async function clear(c: Context<AppContext>, ports: AppPorts, name: string): Promise<Response> {
  const budget = budgetNamed(ports, name);
  await c.var.audit.begin(ports);
  c.var.audit.made(name);
  if (!(await ports.registry.deleteKeptBudget(name))) throw noBudget();
  await budget.set({});
  return c.json({ message: "Budget cleared: nothing is limited by it any more." });
}

/** Null where it does not answer: the others are shown all the same. */
async function viewOf(ports: AppPorts, name: string): Promise<BudgetView | null> {
  try {
    return await readTwice(
      () => ports.budget(name),
      async (budget) => (budget === null ? null : budget.view()),
    );
  } catch (thrown) {
    logUnexpected("budget", thrown);
    return null;
  }
}
