import type { BudgetControl } from "../../../durable-objects/budget/budget-control.ts";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { budgetOwner, budgetsFor, keyBudget, runBudget } from "../../budgets/budget-name.ts";
import { limitOf } from "../../budgets/money.ts";
import { nanoText } from "../../report/text/cost-text.ts";
import { placesOf, type RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { Totals } from "../../metrics/totals.ts";
import { priceOfRun } from "../../prices/price-of.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid, logUnexpected } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { shownSpent } from "./shown-budget.ts";

/** A fresh stub of a Budget. Throws where the deployment has none: a budget that nobody keeps to is none. */
export function budgetNamed(ports: Pick<AppPorts, "budget">, name: string): BudgetControl {
  const budget = ports.budget(name);
  if (budget !== null) return budget;
  throw new EdgewiseError("not_found", "This deployment has no Budgets: nothing would keep to a limit of what may be spent.", {
    hint: "Take the binding BUDGET and its migration over from the wrangler.toml of this version, export Budget from the main module, and deploy.",
  });
}

/** Names of the Budgets that hold for every run of the team: its own, those of its keys, and those that the owner has for keys of the service. */
export async function heldBudgets(ports: AppPorts): Promise<readonly string[]> {
  const own = await ports.registry.listKeptBudgets();
  const service = ports.team === DEFAULT_TEAM ? own : await ports.inTeam(DEFAULT_TEAM).registry.listKeptBudgets();
  const isForAll = (name: string): boolean => name.startsWith(keyBudget(null, ""));
  const held = own.flatMap(({ name }) => (isForAll(name) ? [] : [name]));
  for (const { name } of service) {
    const owner = budgetOwner(name);
    // A secret of that name is another key.
    if (isForAll(name) && owner.kind === "key" && !(await ports.registry.hasOwnKey(owner.variable))) held.push(name);
  }
  return held;
}

type Paid = Pick<
  RunConfig,
  | "max_cost"
  | "budgets"
  | "prices"
  | "batch"
  | "model"
  | "base_url"
  | "api_key_var"
  | "replicas"
  | "sampling_args"
  | "api_client_type"
  | "rescored_from"
  | "team"
>;

/**
 * Where a budget holds for the calls of its model, what each can cost at most is known: by the price of its tokens, and a limit of its answer. What judges are called
 * with shows when they are. Throws `unknown_price` and `unbounded_cost`.
 */
export function mustBePayable(config: Paid): void {
  if (config.rescored_from !== undefined) return;
  const paying = placesOf(config).filter((place) => budgetsFor({ ...config, run_id: "" }, place.api_key_var).length > 0);
  if (paying.length === 0) return;
  const why = config.max_cost === undefined ? "A budget of the team or of the key holds for the run" : "max_cost";
  for (const { base_url } of paying)
    if (priceOfRun({ ...config, replicas: [], base_url }) === null)
      throw new EdgewiseError(
        "unknown_price",
        `${why}: nobody knows what ${config.model} costs at ${base_url}, and what is paid from a budget must have a price.`,
        {
          hint: `Give it, in the config file or in configs/endpoints.toml: [[price]] with model = ${JSON.stringify(config.model)}, input_usd_per_mtok and output_usd_per_mtok (dollars per million tokens; 0 where it costs nothing).`,
        },
      );
  if (!isBounded(config))
    throw new EdgewiseError("unbounded_cost", `${why}: no token limit bounds an answer, so that one may cost whatever it likes.`, {
      hint: "Give one: -t 1024, or max_tokens in the sampling arguments.",
    });
}

/** Under each of the names that a route has for it. */
const LIMITS = ["max_tokens", "max_completion_tokens"];
const RESPONSES_LIMITS = ["max_tokens", "max_output_tokens"];

/** Anthropic's route always has a limit. */
function isBounded({ sampling_args, api_client_type }: Paid): boolean {
  const { extra_body } = sampling_args;
  const fields = typeof extra_body === "object" && extra_body !== null && !Array.isArray(extra_body) ? { ...sampling_args, ...extra_body } : sampling_args;
  const limits = api_client_type === "openai_responses" ? RESPONSES_LIMITS : LIMITS;
  return api_client_type === "anthropic_messages" || limits.some((name) => typeof fields[name] === "number");
}

/** Says what a run may spend, before anything of it begins. `totals`: of a run that has rows: what they cost counts, also where there was no Budget. */
export async function setRunBudget(ports: AppPorts, config: Pick<RunConfig, "run_id" | "team" | "max_cost">, totals?: Totals): Promise<void> {
  if (config.max_cost === undefined) return;
  await budgetNamed(ports, runBudget(config)).set({ total: limitOf(config.max_cost) }, totals === undefined ? 0 : costOfRows(totals));
}

/** In nano-dollars, of the model's answers and of judges', as far as it is known. */
const costOfRows = ({ costs, judges }: Totals): number =>
  (costs?.input_nano ?? 0) + (costs?.output_nano ?? 0) + (judges?.priced?.input_nano ?? 0) + (judges?.priced?.output_nano ?? 0);

/**
 * What a resume may spend holds before it begins. `wanted`: the limit that it names. Gives what is to be called once it is known what became of it: then the limit is the
 * one that the run has, whichever of several resumes that was. Throws as `mustBePayable`, and `invalid_request` where the limit is spent already.
 */
export async function payForResume(
  ports: AppPorts,
  view: RunView,
  config: Paid & Pick<RunConfig, "run_id">,
  wanted: number | undefined,
): Promise<() => Promise<void>> {
  mustBePayable(config);
  // One that works is not resumed, and spends no more meanwhile.
  if (config.max_cost === undefined || (view.phase !== "settled" && !view.suspended)) return async () => undefined;
  const { totals } = view;
  const unpaid = view.config.max_cost === undefined ? batchesAtProvider(view) : 0;
  if (unpaid > 0)
    throw invalid(
      ["body", "max_cost"],
      `can be given once the run's batches are over: ${unpaid} may be at the provider, and nothing was held for what they cost`,
    );
  if (wanted !== undefined) {
    const known = (await budgetNamed(ports, runBudget(config)).view())?.spent.total;
    const spent = Math.max(costOfRows(totals), known === undefined ? 0 : known.settled + known.unseen.amount);
    if (limitOf(wanted) <= spent) throw invalid(["body", "max_cost"], `must be more than the run has spent, which is ${nanoText(spent)}`);
  }
  await setRunBudget(ports, config, totals);
  return () => limitAsRun(ports, config.run_id);
}

/** Batches of a run that may be paid for and are not counted yet. */
const batchesAtProvider = ({ batch }: RunView): number =>
  (batch?.jobs ?? []).filter(({ state }) => state === "creating" || state === "submitted" || state === "cancelling" || state === "ended").length;

/** Of resumes that come together one is taken, and the others' limits go with them: what the run of the newest generation has holds. */
async function limitAsRun(ports: AppPorts, runId: string): Promise<void> {
  let last: number | null = null;
  for (;;) {
    const view = await readTwice(
      () => ports.run(runId),
      (run) => run.view(),
    );
    if (view === null || view.generation === last) return;
    last = view.generation;
    await setRunBudget(ports, view.config);
  }
}

/** What a run has spent of its own budget, as it is shown; nothing where it has none, or that does not answer. */
export async function spentOfRun(
  ports: Pick<AppPorts, "budget">,
  config: Pick<RunConfig, "run_id" | "team" | "max_cost">,
): Promise<{ readonly budget?: ReturnType<typeof shownSpent> }> {
  if (config.max_cost === undefined) return {};
  try {
    const view = await ports.budget(runBudget(config))?.view();
    return view ? { budget: shownSpent(view, "total") } : {};
  } catch (thrown) {
    logUnexpected("budget", thrown);
    return {};
  }
}
