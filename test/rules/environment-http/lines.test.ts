import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lines, LineTooLong } from "../../../src/environment-http/lines.ts";

describe("lines that come in pieces", () => {
  it("are the same wherever the pieces end", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r", "😀") }), { maxLength: 20 }), (pieces) => {
        const lines = new Lines(1_000);
        const whole = pieces.join("").split("\n");
        expect(pieces.flatMap((piece) => lines.add(piece))).toEqual(whole.slice(0, -1));
        expect(lines.isOpen).toBe(whole.at(-1) !== "");
      }),
    );
  });

  it("have so many characters and no more, in one piece or in many, and also while their end has not come", () => {
    const most = 10;
    expect(new Lines(most).add(`${"x".repeat(most)}\n${"y".repeat(most)}\n`)).toHaveLength(2);
    expect(() => new Lines(most).add(`${"x".repeat(most + 1)}\n`)).toThrow(LineTooLong);
    expect(() => new Lines(most).add(`x\n${"x".repeat(most + 1)}\nx`)).toThrow(LineTooLong);
    const pieces = new Lines(most);
    for (let n = 0; n < most; n++) expect(pieces.add("x")).toEqual([]);
    expect(() => pieces.add("x")).toThrow(LineTooLong);
    const others = new Lines(most);
    for (let n = 0; n < most; n++) others.add("x");
    expect(others.add("\n")).toEqual(["x".repeat(most)]);
  });
});
