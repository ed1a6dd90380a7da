/** An export, or a file of one: its files held against their digests in the card, and the card's numbers made again from the rows. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { failureOf } from "../../errors/result.ts";
import type { CardStatement, StatedFile } from "../../exports/card-statement.ts";
import type { Cells } from "../../exports/column.ts";
import { exportColumns, metricColumns } from "../../exports/columns.ts";
import { shardPath } from "../../exports/shards.ts";
import { cardNumbers, type SummedRun, SummedRows } from "../../exports/summed-rows.ts";
import type { Aggregates } from "../../metrics/aggregates.ts";
import { USUAL_RANGE } from "../../metrics/interval.ts";
import { CARD, dataFiles, type FoundExport, formatOf, statementOf } from "./find-exports.ts";
import { verifyFile } from "./verify-file.ts";

export interface Verdict {
  /** What is right, or cannot be told. */
  readonly lines: readonly string[];
  readonly problems: readonly string[];
}

const right = (text: string): string => `ok     ${text}`;
const untold = (text: string): string => `-      ${text}`;

export async function verifyExport(found: FoundExport): Promise<Verdict> {
  const lines: string[] = [];
  const problems: string[] = [];
  const { statement, problem } = statementIn(found);
  if (problem !== null) problems.push(problem);
  else if (statement === null) lines.push(untold(`${noStatement(found)}: whether a row was changed, or is missing, cannot be told`));
  const columns = statement === null ? null : exportColumns(metricColumns(statement.metrics), statement.runs.length > 1);
  const sums = new LateSums(statement);
  const { files, others } = filesOf(found, statement);
  let whole = true;
  for (const { path, stated } of files) {
    const format = formatOf(path) ?? "jsonl";
    const file = await verifyFile({ path: join(found.folder, path), name: path, format, columns, stated, onRow: (cells) => sums.add(cells) });
    lines.push(...file.lines.map(right));
    problems.push(...file.problems);
    whole &&= file.whole;
  }
  problems.push(...others.map((path) => `${path}: the card does not tell of it`));
  const results = sums.results();
  if (statement !== null && files.length === statement.files.length && whole) {
    for (const [at, run] of statement.runs.entries()) {
      const of = statement.runs.length === 1 ? "" : `${run.run_id ?? run.env_id}: `;
      for (const { name, stated, recomputed, agrees } of results[at] === undefined ? [] : cardNumbers(run, results[at])) {
        if (agrees) lines.push(right(`${of}${name} ${stated}`));
        else problems.push(`${of}${name}: the card has ${stated}, ${recomputed === null ? "the rows give none" : `the rows give ${recomputed}`}`);
      }
    }
  } else {
    if (statement !== null) lines.push(untold("the numbers of the card are of all rows, which are not all here: they are not compared"));
    lines.push(...results.filter(({ rollouts }) => rollouts > 0).map((result) => untold(averagesText(result))));
  }
  return { lines, problems };
}

function statementIn(found: FoundExport): { readonly statement: CardStatement | null; readonly problem: string | null } {
  try {
    return { statement: statementOf(found), problem: null };
  } catch (thrown) {
    return { statement: null, problem: `${CARD}: ${failureOf(thrown).message}` };
  }
}

const noStatement = ({ folder }: FoundExport): string =>
  existsSync(join(folder, CARD)) ? `${CARD} does not state what was written (a version before, or another program, wrote it)` : `there is no card (${CARD})`;

interface Files {
  readonly files: readonly { readonly path: string; readonly stated: StatedFile | null }[];
  /** That the card does not tell of. */
  readonly others: readonly string[];
}

function filesOf({ folder, config, only }: FoundExport, statement: CardStatement | null): Files {
  if (only !== null) {
    const stated = statement?.files.find(({ path }) => path === only || path.endsWith(`/${basename(only)}`)) ?? null;
    return { files: [{ path: only, stated }], others: statement !== null && stated === null ? [only] : [] };
  }
  const there = dataFiles(folder, config);
  if (statement === null) return { files: byNames(there).map((path) => ({ path, stated: null })), others: [] };
  const stated = new Set(statement.files.map(({ path }) => path));
  return { files: statement.files.map((file) => ({ path: file.path, stated: file })), others: there.filter((path) => !stated.has(path)) };
}

/** The files, and those that they say by their names that there are. */
function byNames(there: readonly string[]): readonly string[] {
  const said = there.flatMap((path) => {
    const shards = Number(/-of-(\d{5})\./.exec(path)?.[1] ?? 0);
    return Array.from({ length: shards }, (_, shard) => shardPath(formatOf(path) ?? "jsonl", shard, shards));
  });
  return [...new Set([...there, ...said])].sort();
}

/** Sums of rows whose metrics the first of them says, where no card does. */
class LateSums {
  #sums: SummedRows | null;

  constructor(statement: CardStatement | null) {
    this.#sums = statement === null ? null : new SummedRows(statement.runs, statement.metrics);
  }

  add(cells: Cells): void {
    this.#sums ??= new SummedRows(
      [UNKNOWN],
      Object.keys(cells).filter((name) => !USUAL.has(name)),
    );
    this.#sums.add(cells);
  }

  results(): readonly Aggregates[] {
    return this.#sums?.results() ?? [];
  }
}

const USUAL: ReadonlySet<string> = new Set(exportColumns([], true).map(({ name }) => name));

/** What is not known of it is not told either: pass@k, and the interval. */
const UNKNOWN: SummedRun = {
  ...{ run_id: null, env_id: "", model: "", rollouts_per_example: null, pass_threshold: 0.5, reward_range: [...USUAL_RANGE], foreign: false, rows: 0 },
};

function averagesText({ rollouts, avg_reward, avg_metrics, errors }: Aggregates): string {
  const numbers = Object.entries({ reward: avg_reward, ...avg_metrics }).map(([name, value]) => `${name} ${value}`);
  const failed = Object.entries(errors).flatMap(([code, count]) => (count > 0 ? [`errors ${code} ${count}`] : []));
  return `${rollouts} rows: ${[...numbers, ...failed].join(", ")}`;
}
