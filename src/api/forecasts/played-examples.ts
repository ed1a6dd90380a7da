import type { RunView } from "../../../durable-objects/run/control.ts";
import type { ListedRun } from "../../../durable-objects/registry/registry-control.ts";
import { differencesOf, evaluationSettings } from "../../config/plan/evaluation-settings.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { resultLines } from "../../exports/result-lines.ts";
import { ExampleFigures, figuresOfRow, isCached } from "../../forecast/figures.ts";
import { MAX_FORECAST_BYTES, MAX_FORECAST_RUNS } from "../../limits.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import type { Price } from "../../prices/price.ts";
import { batchPriceOf, priceOf, timesAsDear } from "../../prices/price-of.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import type { AppPorts } from "../app-ports.ts";
import type { UnnamedConfig } from "../creation/resolve.ts";
import { invalid } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { resultsObject } from "../runs/results-object.ts";

/** Examples that a forecast is from. */
export interface PlayedExamples {
  readonly runs: readonly string[];
  readonly figures: ExampleFigures;
  /** Examples of the data set, as far as a run has counted them; null = it has not. */
  readonly known: number | null;
}

interface Adding {
  readonly figures: ExampleFigures;
  readonly left: { bytes: number };
  readonly isPilot: boolean;
}

type Ports = Pick<AppPorts, "store" | "run" | "registry">;

/** Runs of a list that are looked through for like ones. */
const LISTED = 200;
/** Of those, the ones that are asked for their settings: whichever is newest. */
const ASKED = 40;

/** Settings that say nothing of what an example takes, or that a forecast bears to differ. */
const OF_NO_ACCOUNT: readonly string[] = [
  ...["num_examples", "rollouts_per_example", "state_columns", "independent_scoring", "stop_when", "stop_alpha", "cluster_by"],
  ...["shuffle_seed", "env_version", "headers", "headers_from_state"],
];

/** What the examples of a settled run took, at today's prices. Throws `invalid` for a run that is not of these settings, or has not settled. */
export async function examplesOfPilot(ports: Ports, id: string, config: UnnamedConfig): Promise<PlayedExamples> {
  const view = await viewOf(ports, id);
  if (view === null) throw new EdgewiseError("not_found", `Evaluation ${id} not found.`);
  if (view.phase !== "settled") throw new EdgewiseError("run_busy", `The results of run ${id} are not complete yet.`);
  const [difference] = differences(view, config);
  if (difference !== undefined) throw invalid(["query", "pilot"], `run ${id} is no pilot of this evaluation: ${difference}`);
  const figures = new ExampleFigures(view.config.rollouts_per_example);
  await addRows(ports, view, config, { figures, left: { bytes: MAX_FORECAST_BYTES }, isPilot: true });
  return { runs: [id], figures, known: examplesKnown(view) };
}

/** What examples took in finished runs of the same settings, of each example in the newest run that has it. */
export async function examplesOfHistory(ports: Ports, config: UnnamedConfig): Promise<PlayedExamples> {
  const figures = new ExampleFigures(config.rollouts_per_example);
  const left = { bytes: MAX_FORECAST_BYTES };
  const runs: string[] = [];
  let known: number | null = null;
  const { runs: listed } = await readTwice(
    () => ports.registry,
    (registry) => registry.list({ skip: 0, limit: LISTED, environment_name: null }),
  );
  for (const { run_id } of listed.filter((run) => mayBeLike(run, config)).slice(0, ASKED)) {
    if (left.bytes <= 0 || runs.length === MAX_FORECAST_RUNS) break;
    const view = await viewOf(ports, run_id);
    if (view === null || view.phase !== "settled" || view.pushed !== undefined || differences(view, config).length > 0) continue;
    runs.push(run_id);
    known ??= examplesKnown(view);
    await addRows(ports, view, config, { figures, left, isPilot: false });
  }
  return { runs, figures, known };
}

/** A run that was asked for all of its examples has them; another only counts those behind its own where its data says how many they are. */
function examplesKnown({ units, n_not_run, config }: RunView): number | null {
  if (n_not_run !== undefined) return units.total + n_not_run;
  return config.num_examples < 1 || units.total < config.num_examples ? units.total : null;
}

const viewOf = (ports: Ports, id: string): Promise<RunView | null> =>
  readTwice(
    () => ports.run(id),
    (stub) => stub.view(),
  );

const priceFor = ({ prices, base_url, model, batch }: Pick<RunConfig, "prices" | "base_url" | "model" | "batch">): Price | null =>
  prices === undefined ? null : (batch === true ? batchPriceOf : priceOf)(prices, { base_url, model });

const mayBeLike = ({ env_id, model, settled, status, pushed }: ListedRun, config: UnnamedConfig): boolean =>
  settled && status === "COMPLETED" && pushed !== true && env_id === config.env_id && model === config.model;

function differences({ config }: RunView, wanted: UnnamedConfig): readonly string[] {
  const settings = Object.fromEntries(Object.entries(evaluationSettings(wanted)).filter(([field]) => !OF_NO_ACCOUNT.includes(field)));
  return differencesOf(evaluationSettings(config), settings);
}

/** Adds examples that are not there yet, a row in memory at a time; of other runs than the pilot those that were asked for. `left`: what may still be read; less afterwards. */
async function addRows({ store }: Ports, view: RunView, config: UnnamedConfig, { figures, left, isPilot }: Adding): Promise<void> {
  const { key } = await resultsObject({ store }, view);
  const price = priceFor(config);
  const pricing = { price, timesRow: timesAsDear(price, priceFor(view.config)), batch: view.config.batch === true };
  /** Examples of this run that are counted, and those that a newer one has. */
  const own = new Map<string, boolean>();
  let end = 0;
  for await (const line of resultLines(await store.read(key), 0)) {
    const row = readForeignRow(line.text).value;
    const example = String(row.example_id);
    // Rows lie by example: what does not fit is cut between two of them.
    if (line.end > left.bytes && !own.has(example)) break;
    end = line.end;
    const summary = summaryOfRow(row);
    if (!own.has(example)) own.set(example, !figures.has(example) && (isPilot || !isCached(summary)));
    if (own.get(example) === true) figures.add(example, figuresOfRow(row, summary, pricing));
  }
  left.bytes -= end;
}
