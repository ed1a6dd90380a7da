import { EdgewiseError, failureOf } from "../../errors/result.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_EXAMPLES, MIB } from "../../limits.ts";
import { TaskTable } from "../../metrics/named/task-table.ts";
import { breakdownOf, metadataOfKeys } from "../../training/breakdown-values.ts";
import { valuesOfRewards } from "../../training/run-values.ts";
import type { AwaitedNumbers, ReadRewards } from "../../training/state.ts";
import type { AppPorts } from "../app-ports.ts";
import { addScores, lastingFailure, settledRun } from "../comparisons/settled-run.ts";

const tooLarge = (message: string): EdgewiseError => new EdgewiseError("limit_reached", message, { hint: "`num_examples` makes the evaluation smaller." });

/**
 * Computes the metrics of a step that are made of rewards from the rows of its run, and tells its evaluator what came of it. Safe to repeat: it is computed from
 * rows, and the first telling ends the step. Nothing happens where the evaluator does not want it any more; what may go well later is thrown, shown
 * as what the step waits for, and the evaluator sends for it again.
 */
export async function readRewards(ports: AppPorts, name: string, run_id: string): Promise<void> {
  const { evaluators } = ports;
  if (evaluators === null) return;
  const awaited = await evaluators.of(name).awaited(run_id);
  if (awaited === null) return;
  let read: ReadRewards;
  try {
    read = await readOf(ports, run_id, awaited);
  } catch (thrown) {
    await evaluators.of(name).hindered({ run_id, failure: failureOf(thrown) });
    throw thrown;
  }
  await evaluators.of(name).counted({ run_id, read });
}

async function readOf(ports: AppPorts, run_id: string, { metrics, breakdown_keys }: AwaitedNumbers): Promise<ReadRewards> {
  try {
    const run = await settledRun(ports, run_id);
    if (run.bytes > MAX_COMPARED_BYTES) throw tooLarge(`Run ${run_id} has more than ${MAX_COMPARED_BYTES / MIB} MiB of rows.`);
    const table = new TaskTable(breakdown_keys === undefined ? undefined : metadataOfKeys(breakdown_keys));
    await addScores(ports, run, table, MAX_COMPARED_EXAMPLES, () => tooLarge(`Run ${run_id} has more than ${MAX_COMPARED_EXAMPLES} examples.`));
    const rewards = table.tasks.map((task) => task.rewards);
    if (!rewards.some(({ length }) => length > 0)) throw new EdgewiseError("all_rollouts_failed", `No row of run ${run_id} has a score.`);
    const { cluster_by, stopped_early } = run.facts;
    const independent = cluster_by === undefined && stopped_early === null;
    const values = valuesOfRewards(metrics, rewards, independent);
    return { ok: true, values, ...(breakdown_keys === undefined ? {} : { breakdown: breakdownOf(metrics, breakdown_keys, table.tasks, independent) }) };
  } catch (thrown) {
    return { ok: false, failure: lastingFailure(thrown) };
  }
}
