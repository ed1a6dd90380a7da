/** Both transcripts of the examples that lost most: what the runs said where they differ. */
import type { RunComparison } from "../../metrics/comparison/compare-runs.ts";
import { fixed } from "../../report/text/format.ts";
import { cutTo } from "../../report/text/text-width.ts";
import type { OpenedRun } from "../exports/opened-run.ts";
import { sectionsOf } from "../view/row-facts.ts";

/** Lines of one transcript that are shown. */
const LINES = 24;

type Row = Readonly<Record<string, unknown>>;

/** `runs`: the baseline first, then those of `comparisons` in their order. Reads each run again up to the last row that is wanted, and holds these rows. */
export async function* transcriptLines(runs: readonly OpenedRun[], comparisons: readonly RunComparison[], width: number): AsyncGenerator<string> {
  const [baseline, ...candidates] = runs;
  if (baseline === undefined) return;
  const firsts = await rowsAt(
    baseline,
    comparisons.flatMap(({ regressions }) => regressions.map(({ rows }) => rows[0])),
  );
  for (const [i, { regressions }] of comparisons.entries()) {
    const candidate = candidates[i];
    if (candidate === undefined) continue;
    const seconds = await rowsAt(
      candidate,
      regressions.map(({ rows }) => rows[1]),
    );
    for (const { example_id, baseline: before, candidate: after, rows } of regressions) {
      yield "";
      yield `=== example ${example_id}: ${fixed(before, 3)} to ${fixed(after, 3)} ===`;
      const [first, second] = [firsts.get(rows[0]), seconds.get(rows[1])];
      if (first !== undefined) yield* partLines("prompt", first, width);
      for (const [run, row] of [
        [baseline, first],
        [candidate, second],
      ] as const) {
        yield `--- ${run.name} ---`;
        if (row !== undefined) yield* partLines("completion", row, width);
      }
    }
  }
}

async function rowsAt(run: OpenedRun, numbers: readonly number[]): Promise<ReadonlyMap<number, Row>> {
  const wanted = new Set(numbers);
  const found = new Map<number, Row>();
  if (wanted.size === 0) return found;
  for await (const { value, number } of run.rows()) {
    if (wanted.has(number)) found.set(number, value);
    if (found.size === wanted.size) break;
  }
  return found;
}

function* partLines(part: "prompt" | "completion", row: Row, width: number): Generator<string> {
  const lines = sectionsOf(row)
    .filter((section) => section.part === part)
    .flatMap(({ title, lines: own }) => [`[${title}]`, ...own]);
  for (const line of lines.slice(0, LINES)) yield cutTo(line, width);
  if (lines.length > LINES) yield `… ${lines.length - LINES} more lines: npx edgewise eval view`;
}
