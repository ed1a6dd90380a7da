/** `--estimate`, `--confirm-above`: the first examples of the runs, or finished runs like them, say what all will take; then somebody agrees, or nothing more is spent. */
import { createBody } from "../../../config/plan/creation-body.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { quoted } from "../../../report/text/shell-word.ts";
import type { AskedEvaluation, ForecastEvaluation } from "../../connection/api-types.ts";
import type { ServiceClient } from "../../connection/http-client.ts";
import { type LocalDataset, nameOf, uploadDataset } from "../../datasets/dataset-upload.ts";
import { EXIT, type ExitCode, usageError } from "../../terminal/cli-error.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { resultLines } from "../last-words.ts";
import type { Outcome } from "../play-all.ts";
import { withDataset } from "../run-play.ts";
import type { EvalWish } from "../wish/eval-wish.ts";
import { type EstimateWish, mustAsk } from "./estimate-wish.ts";
import { forecastLines } from "./forecast-lines.ts";
import { totalOf } from "./forecast-total.ts";
import type { LabelledForecast } from "./labelled-forecast.ts";

export interface EstimateWork {
  readonly estimate: EstimateWish;
  /** Of the command, with its data sets. */
  readonly wishes: readonly EvalWish[];
  readonly datasets: readonly (LocalDataset | null)[];
  readonly maxConcurrentTotal: number | null;
  readonly client: ServiceClient;
  readonly terminal: Terminal;
  /** Plays some evaluations to their end, with the display that belongs to it. */
  readonly play: (wishes: readonly EvalWish[], datasets: readonly (LocalDataset | null)[]) => Promise<readonly Outcome[]>;
  /** Null: nobody sits at a terminal. */
  readonly ask: ((question: string) => Promise<boolean>) | null;
}

/** What becomes of the command: it goes on with these, or it ends, with outcomes that are to be reported or with what was said already. */
export type Estimated =
  | { readonly kind: "go"; readonly wishes: readonly EvalWish[] }
  | { readonly kind: "ended"; readonly outcomes: readonly Outcome[] }
  | { readonly kind: "stopped"; readonly code: ExitCode };

/** One evaluation on its way to a forecast. */
interface Estimating {
  readonly wish: EvalWish;
  readonly dataset: LocalDataset | null;
  readonly body: JsonObject;
  readonly asked: AskedEvaluation;
  /** Of finished runs; null: it is not asked for, or they say too little. */
  readonly history: ForecastEvaluation | null;
}

export async function estimateFirst(work: EstimateWork): Promise<Estimated> {
  const { estimate, client, terminal } = work;
  const evaluations = await preparedOf(work);
  const piloted = evaluations.filter(({ history }) => history === null);
  if (estimate.from === "history" && piloted.length > 0) throw noHistory(piloted, work.wishes.length);
  for (const { wish, asked } of piloted) mustGrow(wish, asked, estimate.pilot);
  const outcomes =
    piloted.length === 0
      ? []
      : await work.play(
          piloted.map(({ wish, asked }) => pilotOf(wish, asked, estimate.pilot)),
          piloted.map(({ dataset }) => dataset),
        );
  const outcomeOf = (each: Estimating): Outcome | null => outcomes[piloted.indexOf(each)] ?? null;
  // What could not play its first examples is reported as it is; the others wait for it to be mended, their examples kept.
  if (outcomes.some(({ played }) => played?.completed !== true)) return { kind: "ended", outcomes };
  // Nothing is left to agree to.
  if (piloted.length === evaluations.length && piloted.every(({ asked }) => isWithin(asked, estimate.pilot))) return { kind: "ended", outcomes };
  const forecasts: LabelledForecast[] = [];
  for (const each of evaluations) {
    const { label, given } = each.wish;
    const outcome = outcomeOf(each);
    const answer = outcome === null ? each.history : (await client.forecast(each.body, outcome.play.names().runId)).evaluations[0];
    if (answer === undefined || answer === null) throw new Error("the service did not say what the evaluation would take");
    forecasts.push({ label, answer, own: outcome !== null, maxCost: given.max_cost ?? null });
  }
  for (const line of forecastLines(forecasts, work.maxConcurrentTotal, terminal.columns)) terminal.print(line);
  const answers = forecasts.map(({ answer }) => answer);
  const isWhole = answers.every(({ num_examples, forecast }) => num_examples >= 1 && forecast !== null);
  const high = isWhole ? (totalOf(answers, work.maxConcurrentTotal).cost_usd?.high ?? null) : null;
  if (!mustAsk(estimate, high) || (await work.ask?.("Go on? [y/N] ")) === true) {
    return { kind: "go", wishes: evaluations.map((each) => goingOn(each, outcomeOf(each))) };
  }
  tellHowToGoOn(work, evaluations, outcomeOf);
  return { kind: "stopped", code: EXIT.unconfirmed };
}

async function preparedOf({ estimate, wishes, datasets, client }: EstimateWork): Promise<readonly Estimating[]> {
  const prepared: Estimating[] = [];
  for (const [index, wish] of wishes.entries()) {
    const dataset = datasets[index] ?? null;
    if (dataset !== null) await uploadDataset(client, dataset);
    const body: JsonObject = { ...createBody(wish.reference, withDataset(wish.given, dataset), wish.replicas), ...nameOf(dataset) };
    const [asked] = (await client.settings(body)).evaluations;
    if (asked === undefined) throw new Error("the service did not say what the evaluation would measure");
    const history = estimate.from === "pilot" ? null : ((await client.forecast(body, null)).evaluations[0] ?? null);
    prepared.push({ wish, dataset, body, asked, history: history === null || history.forecast === null ? null : history });
  }
  return prepared;
}

/** All of it is not more than a pilot. */
const isWithin = ({ num_examples }: AskedEvaluation, pilot: number): boolean => num_examples >= 1 && num_examples <= pilot;

function noHistory(evaluations: readonly Estimating[], of: number) {
  const which = of === 1 ? "" : ` of ${evaluations.map(({ wish }) => wish.label).join(", ")}`;
  return usageError(
    `--estimate history: there are no finished runs${which} with the same environment, arguments, model, address and sampling, or too few examples in them`,
    "--estimate without history plays the first examples, and says it from them.",
  );
}

/** A pilot is the beginning of the run: what cannot be begun with its first examples has none. */
function mustGrow({ label, given }: EvalWish, asked: AskedEvaluation, pilot: number): void {
  if (given.batch === true)
    throw usageError(
      `${label}: the first examples of a run with --batch would be in a batch of their own, and nobody could be asked before that is answered`,
      "From finished runs of the same settings it can be forecast, sent in batches or not: --estimate history",
    );
  if (isWithin(asked, pilot)) return;
  const { shuffle_seed = null, stop_when = null } = asked.settings;
  const fixed = stop_when !== null ? "--stop-when" : shuffle_seed !== null ? "--shuffle" : null;
  if (fixed === null) return;
  throw usageError(
    `${label}: a run with ${fixed} has its examples fixed before the first one is played, so that its first ones cannot be played before the others are agreed to`,
    "From finished runs of the same settings it can be forecast: --estimate history",
  );
}

/** The first examples; who waits for the end of the run is told of that alone. */
function pilotOf(wish: EvalWish, asked: AskedEvaluation, pilot: number): EvalWish {
  if (isWithin(asked, pilot)) return wish;
  const { monitor: _, heartbeat_url: __, save_to_hf_hub: ___, hf_hub_dataset_name: ____, hf_hub_public: _____, ...given } = wish.given;
  return { ...wish, given: { ...given, num_examples: pilot } };
}

/** The same run with its other examples. */
function goingOn({ wish, asked }: Estimating, outcome: Outcome | null): EvalWish {
  if (outcome === null) return wish;
  const { folder, saved, runId } = outcome.play.names();
  return { ...wish, given: { ...wish.given, num_examples: asked.num_examples, resume: saved && folder !== null ? folder : runId } };
}

function tellHowToGoOn({ terminal, ask, wishes }: EstimateWork, evaluations: readonly Estimating[], outcomeOf: (each: Estimating) => Outcome | null): void {
  if (ask === null) terminal.tell("Nobody can be asked here, and nothing more is spent: --yes goes on without a question.");
  else terminal.tell("Nothing more is spent.");
  for (const each of evaluations) {
    const { wish, asked } = each;
    const outcome = outcomeOf(each);
    if (wishes.length > 1) terminal.print(`${wish.label}:`);
    if (outcome === null) terminal.print("Not begun. Run it: the same command with --yes");
    else for (const line of goOnLines(outcome, wish, asked.num_examples)) terminal.print(line);
  }
}

/** Where the first examples are, and the command that plays the others. */
function goOnLines({ play }: Outcome, { given }: EvalWish, examples: number): readonly string[] {
  const [results = "", resume = ""] = resultLines(play.names());
  const beats = given.monitor === undefined ? "" : ` --monitor ${quoted(given.monitor)}`;
  return [results, `${resume.replace(/^Resume: /, "Go on: ")} -n ${examples}${beats}`];
}
