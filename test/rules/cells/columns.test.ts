import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnsBlock, columnsHead, type ExampleNumbers } from "../../../src/cells/column-lines.ts";
import { columnsText, ERROR_CODES, metricColumn, MOST_COLUMNS, readColumns, STANDARD_COLUMNS, usualColumns } from "../../../src/cells/column-names.ts";
import { columnsLine } from "../../../src/api/cells/cell-schemas.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

const summary = (more: Partial<RolloutSummary> = {}): RolloutSummary => ({
  reward: 1,
  error: null,
  input_tokens: 3,
  output_tokens: 4,
  truncated: false,
  metrics: {},
  ...more,
});

describe("the names of columns", () => {
  it("are read as they are written, whatever metrics are called", () => {
    const column = fc.oneof(fc.constantFrom(...STANDARD_COLUMNS), fc.string({ unit: "grapheme", maxLength: 20 }).map(metricColumn));
    fc.assert(
      fc.property(
        fc.uniqueArray(column, { minLength: 1, maxLength: MOST_COLUMNS }),
        (columns) => void expect(readColumns(columnsText(columns))).toEqual(columns),
      ),
    );
  });

  it("that are none are refused by name, and more than an answer has are refused", () => {
    expect(readColumns("reward,turns")).toContain('"turns" is none');
    expect(readColumns("")).toContain('"" is none');
    expect(readColumns("m:%E0%A4%A")).toMatch(/^must be of reward, .*between$/);
    expect(readColumns("toString")).toContain('"toString" is none');
    expect(readColumns(Array.from({ length: MOST_COLUMNS + 1 }, (_, n) => `m:${n}`).join())).toBe("must be at most 64 columns");
    expect(readColumns(Array.from({ length: MOST_COLUMNS }, (_, n) => `m:${n}`).join())).toHaveLength(MOST_COLUMNS);
    // The same column twice is one.
    expect(readColumns("reward,reward")).toEqual(["reward"]);
  });

  it("that come unasked are the first metrics, beside the usual ones", () => {
    const metrics = Array.from({ length: 40 }, (_, n) => `metric ${n}`);
    expect(usualColumns(metrics)).toEqual(["reward", "error", "truncated", "input_tokens", "output_tokens", "cost", ...metrics.slice(0, 32).map(metricColumn)]);
  });
});

describe("a block", () => {
  it("has every number at the place of its example and rollout, for any examples and holes", () => {
    const rollout = fc.option(
      fc.record({
        reward: fc.double({ noNaN: true, noDefaultInfinity: true }),
        error: fc.constantFrom(...ERROR_CODES),
        truncated: fc.boolean(),
        metrics: fc.dictionary(fc.constantFrom("exact", "__proto__", "a,b", "constructor"), fc.integer(), { noNullPrototype: true }),
      }),
    );
    const examples = (rollouts: number) =>
      fc.uniqueArray(
        fc.record({
          example: fc.nat(1_000_000),
          id: fc.option(fc.oneof(fc.nat(), fc.string())),
          rollouts: fc.array(rollout, { minLength: rollouts, maxLength: rollouts }),
        }),
        { selector: ({ example }) => example, maxLength: 12 },
      );
    const cases = fc.integer({ min: 1, max: 4 }).chain((rollouts) => fc.tuple(fc.constant(rollouts), examples(rollouts)));
    const columns = ["reward", "error", "truncated", "cost", "m:exact", "m:__proto__", "m:a,b", "m:constructor", "m:nobody"];
    fc.assert(
      fc.property(cases, ([rollouts, given]) => {
        const numbers: ExampleNumbers[] = given.map((each) => ({ ...each, rollouts: each.rollouts.map((one) => (one === null ? null : summary(one))) }));
        const block = columnsLine.parse(
          JSON.parse(
            JSON.stringify(
              columnsBlock(
                numbers.toSorted((a, b) => a.example - b.example),
                rollouts,
                columns,
              ),
            ),
          ),
        );
        if (block.kind !== "block") throw new Error(block.kind);
        expect(block.examples).toEqual(given.map(({ example }) => example).sort((a, b) => a - b));
        for (const { example, id, rollouts: own } of numbers) {
          const k = block.examples.indexOf(example);
          expect(block.example_ids === undefined ? example : block.example_ids[k]).toBe(id);
          for (const [index, one] of own.entries()) {
            const at = (column: string): unknown => block.columns[column]?.[k * rollouts + index] ?? null;
            // JSON knows no negative zero.
            expect(at("reward")).toBe(one === null ? null : one.reward + 0);
            expect(at("error")).toBe(one === null ? null : ERROR_CODES.indexOf(one.error));
            expect(at("truncated")).toBe(one === null ? null : Number(one.truncated));
            expect([at("cost"), at("m:nobody")]).toEqual([null, null]);
            for (const name of ["exact", "a,b", "constructor"])
              expect(at(`m:${name}`)).toBe(one !== null && Object.hasOwn(one.metrics, name) ? one.metrics[name] : null);
          }
        }
      }),
    );
  });

  it("leaves out what it has no number of, and ids that are the places", () => {
    const rollouts = [summary({ cost: { input_nano: 1_500_000_000, output_nano: 250_000_000 } }), null];
    expect(columnsBlock([{ example: 7, id: 7, rollouts }], 2, ["reward", "cost", "judge_cost", "m:exact"])).toEqual({
      kind: "block",
      examples: [7],
      columns: { reward: [1, null], cost: [1.75, null] },
    });
  });

  it("follows a line that says what its numbers count into", () => {
    const head = columnsHead({ generation: 1, seq: 9, examples: 3, rollouts: 2, settled: false, columns: ["reward"], metrics: ["exact"] });
    expect(columnsLine.parse(head)).toMatchObject({ kind: "head", version: 1 });
    expect(head.error_codes.slice(0, 2)).toEqual([null, ERROR_CODES[1]]);
  });
});
