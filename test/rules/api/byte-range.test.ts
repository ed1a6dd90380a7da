import { describe, expect, it } from "vitest";
import { byteRange } from "../../../src/api/runs/byte-range.ts";

describe("a Range header over 100 bytes", () => {
  it.each([
    ["bytes=0-9", { offset: 0, length: 10 }],
    ["bytes=90-", { offset: 90, length: 10 }],
    ["bytes=90-500", { offset: 90, length: 10 }],
    ["bytes=99-99", { offset: 99, length: 1 }],
    ["bytes=-30", { offset: 70, length: 30 }],
    ["bytes=-500", { offset: 0, length: 100 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=100-200", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    [undefined, null],
    ["bytes=5-4", null],
    ["bytes=-", null],
    ["bytes=0-1,5-6", null],
    ["lines=0-9", null],
    ["bytes=a-b", null],
  ])("%s", (header, range) => {
    expect(byteRange(header, 100)).toEqual(range);
  });
  it("has nothing to give of an empty file", () => {
    expect(byteRange("bytes=0-", 0)).toBe("unsatisfiable");
    expect(byteRange("bytes=-1", 0)).toBe("unsatisfiable");
  });
});
