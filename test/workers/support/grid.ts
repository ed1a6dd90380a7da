import { expect } from "vitest";
import { columnsLine } from "../../../src/api/cells/cell-schemas.ts";
import type { ColumnsEnd, ColumnsHead, ColumnsLine, ExampleId } from "../../../src/cells/column-lines.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";

/** Asks for a path below `/api/v1/evaluations/{id}`, or below the link of the run. */
export type Ask = (path: string, body?: object) => Promise<Response>;

/** The cells of one rollout, by column. */
export interface GridRow {
  readonly example: number;
  readonly id: ExampleId;
  readonly rollout: number;
  readonly cells: Readonly<Record<string, number | null>>;
}

export interface Grid {
  readonly head: ColumnsHead;
  /** In the order of the results; a rollout without any number is not there. */
  readonly rows: readonly GridRow[];
  readonly open: readonly (readonly [number, number])[];
  readonly end: ColumnsEnd;
  readonly blocks: number;
}

export async function linesOf(response: Response): Promise<readonly unknown[]> {
  const text = new TextDecoder().decode(await response.arrayBuffer());
  expect([response.status, text.endsWith("\n")]).toEqual([200, true]);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

/** All columns of a run, put together as a page does it. */
export async function gridOf(ask: Ask, query = ""): Promise<Grid> {
  const lines = (await linesOf(await ask(`/columns${query}`))).map((line) => columnsLine.parse(line) as ColumnsLine);
  const [head] = lines;
  const end = lines.at(-1);
  if (head?.kind !== "head" || end?.kind !== "end") throw new Error("the columns are cut off");
  const rows = lines.flatMap((line) =>
    line.kind !== "block"
      ? []
      : line.examples.flatMap((example, k) =>
          Array.from({ length: head.rollouts }, (_, rollout): GridRow => {
            const cells = Object.fromEntries(head.columns.map((column) => [column, line.columns[column]?.[k * head.rollouts + rollout] ?? null]));
            return { example, id: line.example_ids === undefined ? example : (line.example_ids[k] ?? null), rollout, cells };
          }).filter(({ cells }) => Object.values(cells).some((cell) => cell !== null)),
        ),
  );
  rows.sort((a, b) => a.example - b.example || a.rollout - b.rollout);
  const open = lines.flatMap((line) => (line.kind === "open" ? line.places : []));
  return { head, rows, open, end, blocks: lines.filter(({ kind }) => kind === "block").length };
}

/** The grid says what the rows say: `results` is `results.jsonl`. Gives its lines by place. */
export async function expectGridOfRows(ask: Ask, results: string): Promise<Grid> {
  const grid = await gridOf(ask);
  const lines = results.split("\n").slice(0, -1);
  expect(grid.rows.length).toBe(lines.length);
  for (const [index, { example, id, rollout, cells }] of grid.rows.entries()) {
    const row = JSON.parse(lines[index] ?? "") as Record<string, unknown>;
    const { reward, error, input_tokens, output_tokens, truncated, metrics } = summaryOfRow(row);
    const named = Object.fromEntries(grid.head.metrics.map((name) => [`m:${name}`, metrics[name] ?? null]));
    const code = grid.head.error_codes[cells.error ?? -1];
    expect({ id, rollout, ...cells, error: code }).toEqual({
      ...{ id: row.example_id ?? null, rollout: row.rollout_index, reward, error, input_tokens, output_tokens },
      ...{ truncated: truncated ? 1 : 0, cost: null, ...named },
    });
    const whole = await ask(`/rollouts/${example}/${rollout}`);
    expect([whole.status, await whole.text()]).toEqual([200, lines[index]]);
  }
  return grid;
}
