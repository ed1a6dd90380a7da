import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import type { Cells } from "../../../src/exports/column.ts";
import { exportColumns, MAX_METRIC_COLUMNS, metricColumns } from "../../../src/exports/columns.ts";
import { encoderOf, type ExportFormat } from "../../../src/exports/formats.ts";
import { rowCells } from "../../../src/exports/row-cells.ts";
import { RowsAhead, writeShard } from "../../../src/exports/shards.ts";
import { readForeignRow } from "../../../src/rollouts/rows/foreign-row.ts";
import { ROWS } from "../../support/results/exported-run.ts";

const METRICS = metricColumns(["correct", "num turns"]);
const COLUMNS = exportColumns(METRICS, false);
const cellsOf = (row: object): Cells => rowCells(readForeignRow(JSON.stringify(row)), METRICS);

function fileOf(format: ExportFormat, rows: readonly Cells[]): Uint8Array {
  const encoder = encoderOf(format, COLUMNS);
  const parts = [...rows.map((row) => encoder.add(row, 1_000)), encoder.finish()].filter((part) => part !== null);
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
const textOf = (format: ExportFormat, rows: readonly Cells[]): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(fileOf(format, rows));
const bufferOf = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer;

/** Parquet has integers of its own, and its reader leaves out lists and structs that are null. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? Number(one) : one === null ? undefined : one)));

describe("a row of an export", () => {
  it("has every field of the row of results.jsonl once: typed, as JSON text, or in other", () => {
    const [first, second, third] = ROWS.map(cellsOf);
    expect(first).toMatchObject({
      example_id: 0,
      rollout_index: 0,
      reward: 1,
      correct: 1,
      "num turns": 2,
      answer: "2",
      info: '{"id":7,"deep":[{"a":null}]}',
      error: null,
      token_usage: { input_tokens: 20, output_tokens: 10, final_input_tokens: 15, final_output_tokens: 5 },
      timing: { start_time: 1795274379.5, generation_ms: 1.5, scoring_ms: 0, total_ms: 2 },
      tool_defs: '[{"name":"add","description":"adds","parameters":{}}]',
      other: null,
    });
    expect(first?.completion).toMatchObject([
      { role: "assistant", content: "", tool_calls: [{ id: "call_1", name: "add", arguments: '{"a": 1}' }], reasoning_content: "hm" },
      { role: "tool", tool_call_id: "call_1", content: "2", tool_calls: null },
      { role: "assistant", content: "=2" },
    ]);
    expect(second).toMatchObject({ completion: null, answer: null, correct: null, error: { code: "timeout", error: "TimeoutError" }, other: null });
    expect(third).toMatchObject({ completion: [], answer: "42", other: '{"my_column":{"x":[1,"zwei"]}}' });
    expect(third?.prompt).toMatchObject([{ role: "user", content: "look", content_json: expect.stringContaining("image_url") }]);
  });

  it("keeps the digits of numbers that JavaScript does not have, and the error of an old row that was a text", () => {
    const text = '{"example_id": 0, "prompt": "raw", "completion": [], "reward": NaN, "info": {"id": 12345678901234567890, "x": 1.0}, "error": "boom"}';
    expect(rowCells(readForeignRow(text), [])).toMatchObject({
      prompt: [{ role: "text", content: "raw" }],
      reward: null,
      info: '{"id": 12345678901234567890, "x": 1.0}',
      error: { error: "boom", code: null },
    });
  });

  it("has times in milliseconds whichever version of verifiers wrote them", () => {
    const base = { example_id: 0, prompt: [], completion: [], reward: 0 };
    const expected = { generation_ms: 1500, scoring_ms: 250, total_ms: 2000 };
    expect(cellsOf({ ...base, ...expected }).timing).toMatchObject(expected);
    expect(cellsOf({ ...base, timing: expected }).timing).toMatchObject(expected);
    const spans = { start_time: 1, generation: { duration: 1.5 }, scoring: { duration: 0.25 }, total: 2 };
    expect(cellsOf({ ...base, timing: spans })).toMatchObject({ timing: expected, other: expect.stringContaining('"duration":1.5') });
    expect(cellsOf(base).timing).toBeNull();
  });

  it("has a metric that is called as a field is under another name, and those beyond the most in other", () => {
    expect(metricColumns(["reward", "metric_reward", "x", "env_id"]).map(({ column }) => column)).toEqual([
      "metric_reward",
      "metric_metric_reward",
      "x",
      "metric_env_id",
    ]);
    const many = Array.from({ length: MAX_METRIC_COLUMNS + 1 }, (_, at) => `m${at}`);
    const row = { example_id: 0, prompt: [], completion: [], reward: 0, metrics: Object.fromEntries(many.map((name) => [name, 1])) };
    expect(rowCells(readForeignRow(JSON.stringify(row)), metricColumns(many)).other).toBe(`{"metrics":{"m${MAX_METRIC_COLUMNS}":1}}`);
  });
});

describe("a Parquet file", () => {
  it("gives back what was written, nulls, empty lists and tool calls included, and says the types of datasets", async () => {
    const rows = ROWS.map(cellsOf);
    const file = bufferOf(fileOf("parquet", rows));
    expect(plain(await parquetReadObjects({ file }))).toEqual(plain(rows));
    const entry = parquetMetadata(file).key_value_metadata?.find(({ key }) => key === "huggingface")?.value ?? "";
    const { features } = (JSON.parse(entry) as { info: { features: Record<string, unknown> } }).info;
    expect(Object.keys(features)).toEqual(COLUMNS.map(({ name }) => name));
    expect(features).toMatchObject({
      reward: { dtype: "float64", _type: "Value" },
      prompt: [{ role: { dtype: "string" }, tool_calls: [{ name: { dtype: "string" } }] }],
      token_usage: { input_tokens: { dtype: "int64" } },
    });
  });

  it("is written in row groups, and is a file of no rows where there are none", async () => {
    const encoder = encoderOf("parquet", COLUMNS);
    const row = cellsOf(ROWS[0] ?? {});
    // By size, before all rows are there.
    expect(encoder.add(row, 1_000_000)).toBeNull();
    expect(encoder.add(row, 4_000_000)?.byteLength).toBeGreaterThan(100);
    expect(parquetMetadata(bufferOf(fileOf("parquet", []))).num_rows).toBe(0n);
  });
});

describe("a CSV file", () => {
  it("has one cell per value, and none that a spreadsheet would run", () => {
    const [head = "", ...lines] = textOf("csv", ROWS.map(cellsOf)).split("\r\n");
    expect(head.startsWith("\ufeffexample_id,rollout_index,task,prompt,completion,answer,info,reward,correct,num turns,error.error")).toBe(true);
    expect(head).toContain("timing.total_ms");
    expect(lines[1]).toContain(",timeout,");
    for (const start of ["=1+1", "+1", "-x", "@a", "\t=1", "\r=1", "\n=1", "=a\nb", "＝1"])
      expect(textOf("csv", [cellsOf({ ...ROWS[0], answer: start })])).toMatch(/,"?'[=+\-@\t\r\n＝]/);
    // A number is none of it.
    expect(lines.find((line) => line.startsWith("1,1,"))).toContain(",'-1,");
    expect(lines.join("\n")).toContain(",-0.5,");
  });
});

describe("a JSON Lines file", () => {
  it("has every field in every row, and floats where another row may have a fraction", () => {
    const lines = textOf("jsonl", ROWS.map(cellsOf)).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(ROWS.map(cellsOf));
    expect(lines[0]).toContain('"reward":1.0,');
    expect(lines[0]).toContain('"example_id":0,');
    expect(new Set(lines.map((line) => Object.keys(JSON.parse(line) as object).join())).size).toBe(1);
  });
});

describe("rows that are more than a file", () => {
  it.each(["parquet", "csv", "jsonl"] as const)("are shared out among several, each once and in order: %s", async (format) => {
    const rows = Array.from({ length: 100 }, (_, at) => ({ cells: cellsOf({ ...ROWS[0], example_id: at }), bytes: 1_000 }));
    const ahead = new RowsAhead(
      (async function* () {
        yield* rows;
      })(),
    );
    const seen: unknown[] = [];
    const counts: number[] = [];
    while (await ahead.hasNext()) {
      const options = { limit: 12_000, onRow: ({ cells }: { cells: Cells }) => seen.push(cells.example_id) };
      counts.push(await writeShard(ahead, encoderOf(format, COLUMNS), () => undefined, options));
    }
    expect(counts.length).toBeGreaterThan(2);
    expect(counts.every((count) => count > 0)).toBe(true);
    expect(seen).toEqual(rows.map(({ cells }) => cells.example_id));
  });
});
