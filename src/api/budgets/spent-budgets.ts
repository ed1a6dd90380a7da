import type { BudgetSpan, BudgetView, Overspent } from "../../../durable-objects/budget/budget-control.ts";
import { largerBudget, overspentText } from "../../../durable-objects/budget/overspent-text.ts";
import { type BudgetOwner, budgetOwner, budgetsFor } from "../../budgets/budget-name.ts";
import { requestBound } from "../../clients/limits/request-bound.ts";
import { type JsonObject, placesOf, type RunConfig } from "../../config/plan/run-config.ts";
import type { Failure } from "../../errors/result.ts";
import { priceOfRun } from "../../prices/price-of.ts";
import { boundNano } from "../../prices/request-bound.ts";
import { nanoText } from "../../report/text/cost-text.ts";
import type { AppPorts } from "../app-ports.ts";
import { expectedFailure, logUnexpected } from "../errors.ts";

/** A Budget that has less left than a call can cost. */
interface Spent {
  readonly owner: BudgetOwner;
  readonly over: Overspent;
  /** What the smallest call of the run has to have. */
  readonly least: number;
}

/**
 * Why a run is not begun: wherever its model is called a budget of the team or of the key has less left than the smallest call can cost, so that the run would end
 * without a row; or the Budget is another version's. Null where a call may be sent, where none may have to be (rollouts that are there, answers of a cache), and where a Budget does not answer.
 */
export async function spentBudgets(ports: AppPorts, config: RunConfig): Promise<Failure | null> {
  if (config.rescored_from !== undefined || config.cache !== undefined) return null;
  const { max_cost: _, ...paid } = config;
  let first: Spent | Failure | null = null;
  for (const { base_url, api_key_var } of placesOf(config)) {
    const least = smallestCall(config, base_url);
    const spent = (await Promise.all(budgetsFor(paid, api_key_var).map((name) => spentOf(ports, name, least)))).find((each) => each !== null);
    if (spent === undefined) return null;
    first ??= spent;
  }
  return first === null || "code" in first ? first : refusal(first, ports.now());
}

/** In nano-dollars: an empty prompt, and the whole of an answer, as what a call can cost at most is reserved for it. */
function smallestCall(config: RunConfig, base_url: string): number {
  const { model, sampling_args, api_client_type } = config;
  const { extra_body } = sampling_args;
  const body: JsonObject = { ...sampling_args, ...(extra_body as JsonObject | undefined), ...(api_client_type === "openai_responses" ? { input: "" } : {}) };
  const price = priceOfRun({ ...config, replicas: [], base_url });
  const bound = requestBound(model, "", body, false);
  // Where the route has a limit of its own it is no part of the settings.
  return price === null ? 0 : (boundNano({ ...bound, output_tokens: bound.output_tokens ?? 0 }, price) ?? 0);
}

/** One that another version has stored pays for nothing; one that does not answer now may do so once the run asks it. */
async function spentOf(ports: AppPorts, name: string, least: number): Promise<Spent | Failure | null> {
  try {
    const over = overspent((await ports.budget(name)?.view()) ?? null, least);
    return over === null ? null : { owner: budgetOwner(name), over, least };
  } catch (thrown) {
    const failure = expectedFailure(thrown);
    if (failure?.code === "stored_version_unknown") return { ...failure, message: `${name}: ${failure.message}` };
    logUnexpected("budget", thrown);
    return null;
  }
}

/** Of the longest span that leaves too little: what begins anew sooner helps no sooner. */
function overspent(view: BudgetView | null, least: number): Overspent | null {
  if (view === null) return null;
  const { limits } = view;
  for (const span of LONGEST_FIRST) {
    const { [span]: limit, ...beside } = limits;
    const { settled, unseen } = view.spent[span];
    if (limit !== undefined && limit - settled - unseen.amount < least) return { span, limit, settled, unseen, beside };
  }
  return null;
}

const LONGEST_FIRST: readonly BudgetSpan[] = ["total", "month", "day"];

function refusal({ owner, over, least }: Spent, now: number): Failure {
  const left = over.limit - over.settled - over.unseen.amount;
  const isSecret = owner.kind === "key" && owner.team === null;
  const rest = left > 0 && !isSecret ? `; the ${nanoText(left)} that are left are less than a call of this run can cost (${nanoText(least)})` : "";
  const anew = beginsAnew(over.span, now);
  const larger = largerBudget(owner, over);
  return {
    code: "over_budget",
    message: `${overspentText(owner, over)}${rest}. Nothing is begun that would end without a row.`,
    hint: `The ${over.span} begins anew at ${new Date(anew).toISOString().slice(0, 16)}Z; sooner with a larger one${larger === null ? ", once the owner of the service allows more" : `: ${larger}`}`,
    retry_after_s: Math.ceil((anew - now) / 1_000),
  };
}

/** The next day or month of UTC. Unix milliseconds. */
function beginsAnew(span: BudgetSpan, now: number): number {
  const at = new Date(now);
  return span === "day" ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1) : Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1);
}
