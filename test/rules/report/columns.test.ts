import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnLines, fieldLines } from "../../../src/report/text/columns.ts";
import { printableJson } from "../../../src/report/text/printable.ts";
import { textWidth } from "../../../src/report/text/text-width.ts";

const COLUMNS = [{ title: "ID" }, { title: "MODEL", flexible: true }, { title: "TEXT", flexible: true }, { title: "REWARD", align: "right" }] as const;

describe("a table of columns", () => {
  it("aligns titles and cells, numbers from the right, without blanks at the end of a line", () => {
    expect(
      columnLines(
        [{ title: "A" }, { title: "N", align: "right" }, { title: "LAST" }],
        [
          ["long one", "7", "x"],
          ["b", "12345"],
        ],
        80,
      ),
    ).toEqual(["A             N  LAST", "long one      7  x", "b         12345"]);
  });

  it("cuts the widest flexible column first, and leaves the others whole", () => {
    const [, row] = columnLines(COLUMNS, [["1a2b3c4d", "openai/gpt-4.1-mini", "word ".repeat(20), "0.500"]], 60);
    expect(row).toMatch(/^1a2b3c4d {2}openai\/gpt-4\.1-mini {2}word .*… {3}0\.500$/);
    expect(textWidth(row ?? "")).toBe(60);
  });

  it("stays within its width for any text, on one line each, with nothing that acts on a terminal", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 80 }),
      fc.constant("\u001b[31mred\u001b[0m\r\n\u0007\u202e漢字👍"),
      fc.constant("x".repeat(5000)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), fc.integer({ min: 50, max: 120 }), (cells, width) => {
        const lines = columnLines(
          COLUMNS,
          cells.map(([model, more]) => ["1a2b3c4d", model, more, "1.000"]),
          width,
        );
        expect(lines).toHaveLength(cells.length + 1);
        for (const line of lines) {
          expect(textWidth(line)).toBeLessThanOrEqual(width);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("names and values", () => {
  it("stand side by side, one line each", () => {
    expect(
      fieldLines([
        ["Run", "1a2b3c4d"],
        ["Error", "first\nsecond"],
        ["Nothing", ""],
      ]),
    ).toEqual(["Run      1a2b3c4d", "Error    first\\nsecond", "Nothing"]);
  });
});

describe("JSON for a terminal", () => {
  it("is the same value, with every character escaped that would act on the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const json = printableJson({ text });
        expect(JSON.parse(json)).toEqual({ text });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
        expect(json).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
      }),
    );
    expect(printableJson("\u009b31m\u202e\u061c")).toBe('"\\u009b31m\\u202e\\u061c"');
  });
});
