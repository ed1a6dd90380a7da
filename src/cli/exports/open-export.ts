/** The runs of an export folder, as its card states them: rows are there again as far as runs are compared by them. */
import { join } from "node:path";
import { failureOf } from "../../errors/result.ts";
import type { CardStatement, StatedRun } from "../../exports/card-statement.ts";
import { exportColumns, metricColumns } from "../../exports/columns.ts";
import { rowWithMessages } from "../../exports/row-of-cells.ts";
import { runFacts } from "../../exports/run-facts.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { diskSource } from "../disk/disk-source.ts";
import { CliError, usageError } from "../terminal/cli-error.ts";
import { exportedFile } from "./exported-file.ts";
import { type FoundExport, formatOf, statementOf } from "./find-exports.ts";
import type { OpenedRow, OpenedRun } from "./opened-run.ts";

/** Several where several were exported together, in their order. Throws a `CliError` for an export whose card states none. */
export function openExport(found: FoundExport): readonly OpenedRun[] {
  const { name, folder, only } = found;
  if (only !== null) throw usageError(`${name} is one file of an export`, `Name its folder, whose card says which runs these are rows of.`);
  const statement = statementIn(found);
  let first = 0;
  return statement.runs.map((run) => {
    const begins = first;
    first += run.rows;
    const shown = statement.runs.length === 1 ? name : `${name}, run ${run.run_id ?? begins}`;
    const metadata = metadataOf(run);
    const facts = runFacts(metadata);
    if (facts === null) throw new CliError(`the card of ${name} names no environment and model`);
    const rows = () => rowsOf(shown, folder, statement, { first: begins, rows: run.rows });
    return { name: shown, facts, metadata, metrics: statement.metrics, notes: [], bytes: null, rows };
  });
}

function statementIn(found: FoundExport): CardStatement {
  const { name } = found;
  const again = "Export the run again, or name its results folder.";
  try {
    const statement = statementOf(found);
    if (statement !== null) return statement;
  } catch (thrown) {
    throw new CliError(`${name}: ${failureOf(thrown).message}`, { hints: [again], cause: thrown });
  }
  throw usageError(`${name} is an export whose card does not say of which runs it is`, again);
}

/** What the card knows: neither the code that scored nor its arguments. */
function metadataOf({
  rows,
  run_id,
  env_id,
  model,
  rollouts_per_example,
  pass_threshold,
  reward_range,
  foreign,
  avg_reward,
  avg_metrics,
}: StatedRun): JsonObject {
  const own: JsonObject = { run_id, reward_range: [...reward_range] };
  const num_examples = Math.ceil(rows / (rollouts_per_example || 1));
  return {
    env_id,
    model,
    num_examples,
    rollouts_per_example,
    pass_threshold,
    avg_reward,
    avg_metrics: { ...avg_metrics },
    ...(foreign ? {} : { edgewise: own }),
  };
}

/** Rows `first` and so on of all files; numbered from 1 in their run. */
async function* rowsOf(
  name: string,
  folder: string,
  { metrics, runs, files }: CardStatement,
  { first, rows }: { readonly first: number; readonly rows: number },
): AsyncGenerator<OpenedRow> {
  const named = metricColumns(metrics);
  const columns = exportColumns(named, runs.length > 1);
  let at = 0;
  for (const { path, rows: ofFile } of files) {
    if (at + ofFile <= first) at += ofFile;
    else
      try {
        for await (const { cells } of exportedFile(diskSource(join(folder, path), path), formatOf(path) ?? "jsonl", columns)) {
          if (at >= first + rows) return;
          if (at++ < first) continue;
          const value = rowWithMessages(cells, named) as JsonObject;
          yield { value, text: JSON.stringify(value), number: at - first };
        }
      } catch (thrown) {
        throw new CliError(`${name}: ${path} cannot be read: ${failureOf(thrown).message}`, { hints: [VERIFY], cause: thrown });
      }
  }
  if (at < first + rows) throw new CliError(`${name} has ${Math.max(0, at - first)} rows, and its card states ${rows}`, { hints: [VERIFY] });
}

const VERIFY = "What was changed: npx edgewise verify FOLDER";
