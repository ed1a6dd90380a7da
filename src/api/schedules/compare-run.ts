import { isRunId } from "../../../r2-layout/keys.ts";
import type { ComparisonOrder, ComparisonOutcome } from "../../drift/series.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_EXAMPLES, MIB } from "../../limits.ts";
import { commonClusterKey } from "../../metrics/comparison/common-cluster-key.ts";
import { type ComparedRun, compareRuns } from "../../metrics/comparison/compare-runs.ts";
import { REWARD, ScoreTableBuilder } from "../../metrics/comparison/score-table.ts";
import type { RewardRange } from "../../metrics/interval.ts";
import { MOST_ERRORS } from "../../metrics/most-errors.ts";
import type { AppPorts } from "../app-ports.ts";
import { addScores, lastingFailure, settledRun, type SettledRun } from "../comparisons/settled-run.ts";
import { readTwice } from "../read-twice.ts";

const none = (message: string): EdgewiseError => new EdgewiseError("not_comparable", message);

/**
 * Compares a run of a schedule with its baseline and tells the schedule what came of it. Safe to repeat: it is computed from rows, and of a run the first
 * telling counts. Nothing happens where the schedule does not want it any more; what may go well later is thrown, and the schedule sends for it again.
 */
export async function compareRun(ports: AppPorts, name: string, run_id: string): Promise<void> {
  const { schedules } = ports;
  if (schedules === null) return;
  const order = await schedules.of(name).comparison(run_id);
  if (order === null) return;
  await schedules.of(name).compared({ run_id, outcome: await outcomeOf(ports, order) });
}

async function outcomeOf(ports: AppPorts, order: ComparisonOrder): Promise<ComparisonOutcome> {
  try {
    return await comparison(ports, order);
  } catch (thrown) {
    return { kind: "unjudged", reason: lastingFailure(thrown).message };
  }
}

async function comparison(ports: AppPorts, { run_id, baseline, metric }: ComparisonOrder): Promise<ComparisonOutcome> {
  const ids = "runs" in baseline ? baseline.runs : [await runOf(ports, baseline.name)];
  const [run, ...before] = await Promise.all([run_id, ...ids].map((id) => settledRun(ports, id).catch((thrown: unknown) => gone(thrown, id))));
  const [first] = before;
  if (run === undefined || first === undefined) throw none("it has no baseline");
  if ([run, ...before].reduce((sum, { bytes }) => sum + bytes, 0) > MAX_COMPARED_BYTES)
    throw none(`it and its baseline have more than ${MAX_COMPARED_BYTES / MIB} MiB of rows together`);
  const clusterBy = commonClusterKey(
    undefined,
    [run, ...before].map(({ facts }) => facts.cluster_by),
  );
  const held = await scoresOf(ports, before, metric, clusterBy);
  const own = await scoresOf(ports, [run], metric, clusterBy);
  for (const { name, table } of [held, own])
    if (table.errored / Math.max(1, table.rollouts) > MOST_ERRORS)
      throw none(`more than ${100 * MOST_ERRORS} % of the rollouts of ${name} ended in an error and have no score: those that answered are no random part`);
  const outcome = compareRuns([held, own], { unpaired: false, accepted: false, shown: 0, clusterBy });
  if (outcome.kind === "refused") throw none(outcome.refusals.map(({ reason }) => reason).join("; "));
  const compared = outcome.comparisons[0]?.metrics.find((each) => each.metric === metric);
  if (compared === undefined) throw none(`no example has ${metric} in it and in its baseline`);
  const { n, clusters, baseline: mean, candidate, difference, stderr, ci95 } = compared;
  const binary = [held, own].every(({ table }) => table.columns.get(metric)?.binary === true);
  const range: RewardRange | null = metric === REWARD ? [Math.min(held.range[0], own.range[0]), Math.max(held.range[1], own.range[1])] : binary ? [0, 1] : null;
  const attempts = ({ table: { rollouts, errored, examples } }: ComparedRun): number => (rollouts - errored) / Math.max(1, examples);
  return {
    kind: "compared",
    baseline_runs: ids,
    metric,
    n,
    ...(clusters === undefined ? {} : { clusters }),
    baseline: mean,
    candidate,
    difference,
    stderr,
    ci95,
    range,
    attempts: { baseline: attempts(held), run: attempts(own) },
    errored: own.table.errored,
  };
}

async function runOf({ registry }: AppPorts, name: string): Promise<string> {
  if (isRunId(name)) return name;
  const found = await readTwice(
    () => registry,
    (stub) => stub.baseline(name),
  );
  if (found === null) throw none(`there is no baseline ${name}`);
  return found.run_id;
}

function gone(thrown: unknown, id: string): never {
  if (thrown instanceof EdgewiseError && thrown.code === "not_found") throw none(`run ${id} is gone`);
  throw thrown;
}

/** Of runs that are taken for one: what each asks is asked as often as all of them ask it. */
async function scoresOf(ports: AppPorts, runs: readonly SettledRun[], metric: string, clusterBy: string | undefined): Promise<ComparedRun> {
  const [first] = runs;
  if (first === undefined) throw new RangeError("a comparison takes runs");
  const trusted = runs.every(({ facts }) => !facts.foreign);
  const builder = new ScoreTableBuilder({ trusted, metrics: [REWARD, metric], most: 2, clusterBy });
  for (const run of runs) {
    const rows = await addScores(ports, run, builder, MAX_COMPARED_EXAMPLES, () => none(`run ${run.id} has more than ${MAX_COMPARED_EXAMPLES} examples`));
    if (rows === 0) throw none(`run ${run.id} has no rows`);
  }
  if (builder.unknownKey !== null) throw none(`no row of run ${first.id} has ${JSON.stringify(clusterBy)}, by which its examples are grouped`);
  return {
    name: `run ${runs.map(({ id }) => id).join(", ")}`,
    model: first.model,
    metadata: first.metadata,
    range: first.facts.reward_range,
    table: builder.table(),
  };
}
