import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StopSequences } from "../../../src/embedded-api/stop-sequences.ts";

interface Out {
  readonly text: string;
  /** What had been given out after each token. */
  readonly soFar: readonly string[];
}

function run(text: string, stops: readonly string[]): Out {
  const sequences = new StopSequences(stops);
  const soFar: string[] = [];
  let out = "";
  for (const character of text) {
    const { tokens, stopped } = sequences.push({ text: character });
    out += tokens.map((token) => token.text).join("");
    soFar.push(out);
    if (stopped) return { text: out, soFar };
  }
  return {
    text:
      out +
      sequences
        .flush()
        .map((token) => token.text)
        .join(""),
    soFar,
  };
}

describe("a text with stop sequences", () => {
  it("ends before the first of them, wherever it begins", () => {
    expect(run("12, 34", [","]).text).toBe("12");
    expect(run("aab", ["ab"]).text).toBe("a");
    expect(run("abcd", ["cd", "bcd"]).text).toBe("a");
    expect(run("abc", ["xyz"]).text).toBe("abc");
    expect(run("abc", []).text).toBe("abc");
  });

  it("holds back only what may be the beginning of one", () => {
    expect(run("aab", ["abc"]).soFar).toEqual(["", "a", "a"]);
    expect(run("axb", ["abc"]).soFar).toEqual(["", "ax", "axb"]);
  });

  it("equals a search in the whole text, whatever the text and the sequences are", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const sequence = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(letters, fc.array(sequence, { maxLength: 4 }), (text, stops) => {
        // The one that is complete first ends the text; of several that are complete at once, the one that began first.
        const ends = stops.flatMap((stop) => (text.includes(stop) ? [{ at: text.indexOf(stop), end: text.indexOf(stop) + stop.length }] : []));
        const first = Math.min(...ends.map(({ end }) => end));
        const cut = Math.min(...ends.filter(({ end }) => end === first).map(({ at }) => at));
        const { text: out, soFar } = run(text, stops);
        expect(out).toBe(text.slice(0, Number.isFinite(cut) ? cut : text.length));
        for (const part of soFar) expect(out.startsWith(part)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
