import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffTexts } from "../../../src/dashboard/pages/compare/transcripts/diff-texts.ts";
import { blockPairs, foldedPairs, pairsOf } from "../../../src/dashboard/pages/compare/transcripts/transcript-pairs.ts";

const sideOf = (left: string, right: string, side: "left" | "right"): string | undefined =>
  diffTexts(left, right)
    ?.filter(({ kind }) => kind === "same" || kind === side)
    .map(({ text }) => text)
    .join("");

describe("what two texts differ in", () => {
  it("is marked by words, and either text can be read off it again", () => {
    expect(diffTexts("The answer is 42, I think.", "The answer is 17, I think.")).toEqual([
      { kind: "same", text: "The answer is " },
      { kind: "left", text: "42" },
      { kind: "right", text: "17" },
      { kind: "same", text: ", I think." },
    ]);
    expect([diffTexts("", ""), diffTexts("a", "a"), diffTexts("", "a")]).toEqual([[], [{ kind: "same", text: "a" }], [{ kind: "right", text: "a" }]]);
    const text = fc.array(fc.constantFrom("one", "two", " ", "\n", ", ", "é", "😀", "\u202e"), { maxLength: 40 }).map((words) => words.join(""));
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect([sideOf(left, right, "left"), sideOf(left, right, "right")]).toEqual([left, right]);
      }),
    );
  });

  it("is given up within bounds where texts are hostile", () => {
    const words = (seed: number): string => Array.from({ length: 40_000 }, (_, n) => `${(n * seed) % 9_973}`).join(" ");
    const found = diffTexts(words(7_919), words(6_151));
    expect(found === null || found.length > 0).toBe(true);
    const lines = (seed: number): string => Array.from({ length: 100_000 }, (_, n) => `${(n * seed) % 99_991}\n`).join("");
    expect(diffTexts(lines(7_919), lines(6_151))).toBeNull();
    const long = "a".repeat(5_000_000);
    expect(diffTexts(`${long} b`, `${long} c`)?.map(({ kind }) => kind)).toEqual(["same", "left", "right"]);
  });
});

describe("two transcripts beside each other", () => {
  const left = {
    prompt: [{ role: "user", content: "1+1?" }],
    completion: [
      { role: "assistant", content: "", reasoning_content: "hm", tool_calls: [{ id: "a", type: "function", function: { name: "add", arguments: "{}" } }] },
      { role: "tool", content: "2" },
      { role: "assistant", content: "2" },
    ],
  };

  it("are paired message by message, those of the prompt first; what is the same in both is folded", () => {
    const right = { ...left, completion: [left.completion[0], { role: "tool", content: "3" }] };
    const pairs = pairsOf(left, right);
    expect(pairs.map(({ part, isSame }) => [part, isSame])).toEqual([
      ["prompt", true],
      ["completion", true],
      ["completion", false],
      ["completion", false],
    ]);
    expect(pairs[3]?.right).toBeNull();
    expect(foldedPairs(pairs).map((each) => ("number" in each ? each.number : each.map(({ number }) => number)))).toEqual([[1, 2], 3, 4]);
  });

  it("have content, reasoning and calls of tools each beside its like", () => {
    const [, pair] = pairsOf(left, { ...left, completion: [{ role: "assistant", content: "It is 2." }] });
    expect(blockPairs(pair?.left ?? null, pair?.right ?? null)).toEqual([
      { name: "reasoning", left: "hm", right: null },
      { name: "calls add", left: "{}", right: null },
      { name: "", left: null, right: "It is 2." },
    ]);
  });

  it("may be of any shape", () => {
    for (const row of [{}, { prompt: "text", completion: "text" }, { completion: [null, 3, { role: 4, content: { a: 1 } }] }, { prompt: [[]], completion: {} }])
      expect(() => foldedPairs(pairsOf(row, left))).not.toThrow();
  });
});
