/** `edgewise verify RUN|FOLDER|FILE…`: numbers of runs and exports made again from their rows, and the rows held against the digests that were stated of them. */
import { basename, dirname } from "node:path";
import { aggregatorOf, type RunFacts } from "../../exports/run-facts.ts";
import { comparedNumbers } from "../../metrics/stated-numbers.ts";
import { thousands } from "../../report/text/format.ts";
import { changedRows, type RowsDigest, rowsDigestOf, statedRowsDigest } from "../../rollouts/rows/rows-digest.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { withRuns } from "./open-runs.ts";
import { findExports } from "./find-exports.ts";
import type { OpenedRow, OpenedRun } from "./opened-run.ts";
import { type Verdict, verifyExport } from "./verify-export.ts";

export async function verifyRuns(context: CommandContext, typed: readonly string[]): Promise<ExitCode> {
  const found = typed.map((name) => ({ name, exports: findExports(context.cwd, name) }));
  // The file of a folder stands for it.
  const named = found
    .filter(({ exports }) => exports.length === 0)
    .map(({ name }) => (basename(name) === "results.jsonl" || basename(name) === "metadata.json" ? dirname(name) : name));
  return await withRuns(context, "edgewise verify", { named, partial: true }, async (runs) => {
    const all = [
      ...found.flatMap(({ exports }) => exports).map((each) => ({ name: each.name, verdict: () => verifyExport(each) })),
      ...runs.map((run) => ({ name: run.name, verdict: () => verified(run) })),
    ];
    let wrong = 0;
    for (const { name, verdict } of all) {
      const { lines, problems } = await verdict();
      context.terminal.print(`${name}: ${problems.length === 0 ? "verified" : "WRONG"}`);
      for (const line of [...lines, ...problems.map((problem) => `WRONG  ${problem}`)]) context.terminal.print(`  ${line}`);
      if (problems.length > 0) wrong += 1;
    }
    if (wrong > 0 && all.length > 1) context.terminal.tell(`${wrong} of ${all.length} are wrong`);
    return wrong === 0 ? EXIT.completed : EXIT.failed;
  });
}

async function verified(run: OpenedRun): Promise<Verdict> {
  const lines: string[] = [...run.notes];
  const problems: string[] = [];
  const stated = statedRowsDigest(run.metadata);
  const found = stated === null || run.bytes === null ? null : await rowsDigestOf(run.bytes());
  const changed = stated === null || found === null || stated.sha256 === found.sha256 ? [] : changedRows(stated, found);
  const aggregator = aggregatorOf(run.facts);
  const keys = new RowKeys(run.facts);
  const named = new Map<number, OpenedRow>();
  let rows = 0;
  for await (const row of run.rows()) {
    aggregator.add(row.value);
    keys.add(row);
    if (changed?.includes(row.number - 1) === true) named.set(row.number, row);
    rows += 1;
  }
  lines.push(`ok     ${thousands(rows)} rows`);
  if (stated === null || found === null) lines.push("-      no digest of its rows is stated: whether one was changed cannot be told");
  else if (stated.sha256 === found.sha256) lines.push(`ok     sha256 of the sorted rows ${stated.sha256}`);
  else problems.push(...rowProblems(stated, found, changed, named), ...keys.problems);
  for (const { name, stated: number, recomputed, agrees } of comparedNumbers(run.metadata, aggregator.result())) {
    if (agrees) lines.push(`ok     ${name} ${number}`);
    else problems.push(`${name}: stated ${number}, ${recomputed === null ? "the rows give none" : `the rows give ${recomputed}`}`);
  }
  return { lines, problems };
}

function rowProblems(stated: RowsDigest, found: RowsDigest, changed: readonly number[] | null, named: ReadonlyMap<number, OpenedRow>): readonly string[] {
  if (stated.rows !== found.rows) return [`rows: ${thousands(stated.rows)} when the run settled, ${thousands(found.rows)} now`];
  if (changed === null) return ["rows: more of them are not as they were when the run settled than can be named, or they stand in another order"];
  if (changed.length === 0) return ["rows: the file is not as it was when the run settled, outside of its rows"];
  return changed.map((row) => {
    const { example_id, rollout_index } = named.get(row + 1)?.value ?? {};
    return `row ${row + 1} (example ${String(example_id)}, rollout ${String(rollout_index)}) is not as it was when the run settled`;
  });
}

/** Problems that are named; a file with more of them is another file. */
const NAMED = 10;

/** Rollouts that are there twice, or that an example lacks, of rows in order. Holds one example. */
class RowKeys {
  readonly #rollouts: number | null;
  readonly #problems: string[] = [];
  #example: unknown = undefined;
  #seen = new Set<unknown>();

  constructor({ rollouts_per_example }: RunFacts) {
    this.#rollouts = rollouts_per_example;
  }

  add({ value: { example_id, rollout_index } }: OpenedRow): void {
    if (example_id !== this.#example) this.#close();
    this.#example = example_id;
    if (this.#seen.has(rollout_index)) this.#tell(`example ${String(example_id)} has rollout ${String(rollout_index)} twice`);
    this.#seen.add(rollout_index);
  }

  get problems(): readonly string[] {
    this.#close();
    return this.#problems;
  }

  #close(): void {
    const lacks = Array.from({ length: this.#seen.size === 0 ? 0 : (this.#rollouts ?? 0) }, (_, index) => index).filter((index) => !this.#seen.has(index));
    if (lacks.length > 0) this.#tell(`example ${String(this.#example)} lacks rollout ${lacks.join(", ")}`);
    this.#seen = new Set();
  }

  #tell(problem: string): void {
    if (this.#problems.length < NAMED) this.#problems.push(problem);
  }
}
