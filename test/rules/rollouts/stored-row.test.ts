import { describe, expect, it } from "vitest";
import { MAX_ROW_DEPTH } from "../../../src/limits.ts";
import { neededRow, storedRow } from "../../../src/rollouts/rows/stored-row.ts";

const nested = (levels: number): string => `{"info":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

describe("a row as it was stored", () => {
  it("is read to the bound of its depth, and with what Python writes", () => {
    expect(storedRow(nested(MAX_ROW_DEPTH))).toHaveProperty("row");
    expect(storedRow('{"reward": NaN}')).toEqual({ row: { reward: null } });
  });

  it.each([
    ["deeper than the bound", nested(MAX_ROW_DEPTH + 1), `nested deeper than ${MAX_ROW_DEPTH} levels`],
    ["no object", "[1]", "a row must be a JSON object"],
    ["torn", '{"prompt":"what is', expect.stringMatching(/JSON/)],
    ["empty", "", expect.stringMatching(/JSON/)],
  ])("that is %s is a reason, not an exception", (_, text, reason) => {
    expect(storedRow(text)).toEqual({ unreadable: { code: "row_unreadable", reason } });
    expect(() => neededRow(text, "Row 3")).toThrow(
      expect.objectContaining({ code: "row_unreadable", message: expect.stringMatching(/^Row 3 cannot be read: /) }),
    );
  });
});
