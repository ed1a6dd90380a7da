import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ColumnsHead, columnsBlock, columnsHead } from "../../../src/cells/column-lines.ts";
import { usualColumns } from "../../../src/cells/column-names.ts";
import { ABSENT, ColumnTable, DONE, MISSING, OPEN } from "../../../src/dashboard/samples/columns/column-table.ts";
import { listExamples, listRows } from "../../../src/dashboard/samples/columns/list-rows.ts";
import { Slices } from "../../../src/dashboard/samples/columns/slices.ts";
import { sortRows } from "../../../src/dashboard/samples/columns/sort-rows.ts";
import { type Checked, checkFilter } from "../../../src/dashboard/samples/filter/check.ts";
import { parseFilter } from "../../../src/dashboard/samples/filter/parse.ts";
import { type Findings, NO, predicateOf, UNKNOWN, YES } from "../../../src/dashboard/samples/filter/predicate.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

const summary = (reward: number, more: Partial<RolloutSummary> = {}): RolloutSummary => ({
  ...{ reward, error: null, input_tokens: 10, output_tokens: 5, truncated: false, metrics: {} },
  ...more,
});
const headOf = (facts: Partial<ColumnsHead> = {}): ColumnsHead =>
  columnsHead({ generation: 1, seq: 3, examples: 4, rollouts: 2, settled: false, columns: usualColumns(["exact"]), metrics: ["exact"], ...facts });
const slices = (): Slices => new Slices(new AbortController().signal);

/** Four examples with two attempts each: the first lacks one, the second failed once, the third is generated, the fourth is not there. */
function table(): ColumnTable {
  const head = headOf();
  const made = new ColumnTable(head);
  made.take(head);
  const rollouts = [
    [summary(1, { metrics: { exact: 1 } }), null],
    [summary(0, { error: "timeout", truncated: true }), summary(0.5, { metrics: { exact: 0 }, output_tokens: 100 })],
  ];
  made.take(
    columnsBlock(
      rollouts.map((own, example) => ({ example, id: example === 1 ? "second" : example, rollouts: own })),
      2,
      head.columns,
    ),
  );
  made.take({ kind: "open", places: [[2, 0]] });
  made.take({ kind: "end", seq: 3, next: null });
  return made;
}
const checked = (text: string, of: ColumnTable): Checked => {
  const parsed = parseFilter(text);
  if (!parsed.ok || parsed.value === null) throw new Error(text);
  const outcome = checkFilter(parsed.value, { metrics: of.metrics, errorCodes: of.errorCodes });
  if (!outcome.ok) throw new Error(outcome.problem.text);
  return outcome.value;
};
const found = async (text: string, findings: ReadonlyMap<string, Findings> = new Map()): Promise<readonly number[]> => {
  const of = table();
  return [...(await listRows(of, { predicate: predicateOf(checked(text, of), of, findings), sort: null, order: "asc" }, slices()))];
};

describe("the table of a run's numbers", () => {
  it("knows what is done, missing, generated and not there yet", () => {
    const of = table();
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((row) => of.state(row))).toEqual([DONE, MISSING, DONE, DONE, OPEN, ABSENT, ABSENT, ABSENT]);
    expect([of.done, of.open, of.missing, of.seq]).toEqual([3, 1, 1, 3]);
    expect([of.exampleId(0), of.exampleId(1)]).toEqual([0, "second"]);
    expect(of.error(2)).toBe("timeout");
    expect([of.value("tokens", 0), of.value("tokens", 3), of.value("rollout", 3)]).toEqual([15, 110, 1]);
    expect([of.value("cost", 0), of.value("reward", 1)]).toEqual([Number.NaN, Number.NaN]);
    expect(of.extent("reward")).toEqual({ low: 0, high: 1 });
    expect(of.placeOf(3)).toEqual({ example: 1, rollout: 1 });
    expect([of.rowOf({ example: 1, rollout: 1 }), of.rowOf({ example: 4, rollout: 0 }), of.rowOf({ example: 0, rollout: 2 })]).toEqual([3, null, null]);
  });

  it("grows with the run: what was generated is done, and more examples come", () => {
    const of = table();
    const head = headOf({ seq: 9, examples: 300, settled: true });
    of.take(head);
    of.take(
      columnsBlock(
        [
          { example: 2, id: 2, rollouts: [summary(1), summary(1)] },
          { example: 299, id: 299, rollouts: [summary(0), summary(0)] },
        ],
        2,
        head.columns,
      ),
    );
    of.take({ kind: "end", seq: 9, next: null });
    expect([of.examples, of.done, of.open, of.seq, of.settled]).toEqual([300, 7, 0, 9, true]);
    expect([of.value("reward", 0), of.value("reward", 598), of.value("reward", 100)]).toEqual([1, 0, Number.NaN]);
  });

  it("forgets a number that an example done anew has no more", () => {
    const of = table();
    of.take(headOf({ seq: 4 }));
    of.take(columnsBlock([{ example: 0, id: 0, rollouts: [summary(1), summary(1)] }], 2, usualColumns(["exact"])));
    expect([of.value("m:exact", 0), of.state(1), of.missing]).toEqual([Number.NaN, DONE, 0]);
  });
});

describe("filters over the table", () => {
  it("compare numbers, errors and examples; what has no number is never more, less or another one", async () => {
    expect(await found("reward >= 0.5")).toEqual([0, 3]);
    expect(await found("error = any")).toEqual([2]);
    expect(await found("error != none or error = timeout")).toEqual([2]);
    expect(await found("truncated = yes")).toEqual([2]);
    expect(await found("exact != 1")).toEqual([3]);
    expect(await found("not exact = 1")).toEqual([2, 3, 4]);
    expect(await found("exact = none")).toEqual([2, 4]);
    expect(await found("exact != none tokens > 20")).toEqual([3]);
    expect(await found("example = second rollout = 1")).toEqual([3]);
    expect(await found("example = 0")).toEqual([0]);
  });

  it("leave out what is not decided yet while texts are looked for, and its opposite too", async () => {
    const half: Findings = { has: (row) => row === 3, isThrough: (row) => row < 2 };
    const findings = new Map([['[null,"word","contains"]', half]]);
    expect(await found("word", findings)).toEqual([3]);
    expect(await found("not word", findings)).toEqual([0]);
    expect(await found("word or reward = 1", findings)).toEqual([0, 3]);
    expect(await found("word")).toEqual([]);
    const of = table();
    const verdict = (text: string, row: number) => predicateOf(checked(text, of), of, findings)(row);
    expect([verdict("word", 0), verdict("word", 2), verdict("word and reward = 5", 2), verdict("not word", 3)]).toEqual([NO, UNKNOWN, NO, NO]);
    expect(verdict("word or error = any", 2)).toBe(YES);
  });

  it("ask the service for texts by the field that is named", () => {
    const of = table();
    expect(checked('info.level != "a b"', of)).toEqual({ kind: "not", part: { kind: "search", term: { field: "info.level", text: "a b", how: "is" } } });
    expect(checked("completion ~ sorry", of)).toEqual({ kind: "search", term: { field: "completion", text: "sorry", how: "contains" } });
  });
});

describe("orders", () => {
  it("are those of the numbers, the same stay as they came, and what has none is last either way", async () => {
    const value = fc.oneof(fc.double({ noDefaultInfinity: false }), fc.constantFrom(0, -0, 1, 0.5, -1e300, 5e-324, Number.NaN));
    await fc.assert(
      fc.asyncProperty(fc.array(value), fc.constantFrom("asc" as const, "desc" as const), async (numbers, order) => {
        const rows = Uint32Array.from(numbers.keys());
        const sorted = [...(await sortRows(rows, (row) => numbers[row] ?? Number.NaN, order, slices()))];
        const known = [...rows].filter((row) => !Number.isNaN(numbers[row]));
        const sign = order === "asc" ? 1 : -1;
        const expected = known.toSorted((a, b) => {
          const [left = 0, right = 0] = [numbers[a], numbers[b]];
          return left === right ? 0 : left < right ? -sign : sign;
        });
        expect(sorted).toEqual([...expected, ...[...rows].filter((row) => Number.isNaN(numbers[row]))]);
      }),
    );
  });

  it("put rollouts by a column, and examples by the mean of their attempts", async () => {
    const of = table();
    const all = { predicate: null, sort: "reward", order: "desc" } as const;
    expect([...(await listRows(of, all, slices()))]).toEqual([0, 3, 2, 4]);
    expect([...(await listRows(of, { ...all, sort: null }, slices()))]).toEqual([4, 3, 2, 0]);
    expect([...(await listExamples(of, { ...all, order: "asc" }, slices()))]).toEqual([2, 0, 4]);
    expect([...(await listRows(of, { ...all, sort: "nonsense" }, slices()))]).toEqual([0, 2, 3, 4]);
  });

  it("are given up where nobody waits for them any more", async () => {
    const abort = new AbortController();
    abort.abort();
    await expect(listRows(table(), { predicate: null, sort: null, order: "asc" }, new Slices(abort.signal))).rejects.toThrow();
  });
});
