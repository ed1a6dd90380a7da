import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { continuationTokens } from "../../../../src/clients/scoring/continuation.ts";
import { placeTokens } from "../../../../src/clients/scoring/place-tokens.ts";
import { shareUsage } from "../../../../src/clients/scoring/share-usage.ts";

const covered = (text: string, tokens: readonly string[], generated: number | null = 0): string[] | null =>
  placeTokens(text, tokens, generated)?.map(({ offset, end }) => text.slice(offset, end)) ?? null;

describe("the places of tokens", () => {
  it.each<readonly [string, string, readonly string[], number | null, readonly string[]]>([
    ["words with the space before them", "The cats sleep", ["The", " cats", " sleep"], 0, ["The", " cats", " sleep"]],
    ["a beginning of text", "The cats", ["<bos>", "The", " cats"], 0, ["", "The", " cats"]],
    ["a beginning of text without a name", "The cats", ["", "The", " cats"], 0, ["", "The", " cats"]],
    ["one token that was made", "The cats", ["The", " cats", " sleep"], 1, ["The", " cats"]],
    ["one token that may have been made", "The cats", ["The", " cats", " sleep"], null, ["The", " cats"]],
    ["a mark for a space, also before the text", "The cats", ["▁The", "▁cats"], 0, ["The", " cats"]],
    ["spaces that were lost", "The cats", ["The", "cats"], 0, ["The", " cats"]],
    ["an emoji in parts", "a 🎉 b", ["a", " ", "\ufffd", "\ufffd", "\ufffd", " b"], 0, ["a", " ", "🎉", "🎉", "🎉", " b"]],
    ["an emoji whose parts are nothing until the last", "a 🎉 b", ["a", " ", "", "", "🎉", " b"], 0, ["a", " ", "🎉", "🎉", "🎉", " b"]],
    ["an emoji whose parts are all nothing", "a 🎉 b", ["a", " ", "", "", "", " b"], 0, ["a", " ", "🎉", "🎉", "🎉", " b"]],
    ["bytes by number", "é!", ["bytes:\\xc3", "bytes:\\xa9", "!"], 0, ["é", "é", "!"]],
    ["bytes by SentencePiece's names", "x é", ["x", " ", "<0xC3>", "<0xA9>"], 0, ["x", " ", "é", "é"]],
    ["a part beside a space", "a 日本", ["a", " \ufffd", "\ufffd", "本"], 0, ["a", " 日", "日", "本"]],
    ["the end of the text in parts, and one that was made", "ok 日", ["ok", " ", "\ufffd", "\ufffd", " next"], 1, ["ok", " ", "日", "日"]],
    ["an emoji at the beginning", "🎉 b", ["", "", " b"], 0, ["🎉", "🎉", " b"]],
    ["a text that names a special token", "<bos> is one", ["<bos>", " is", " one"], 0, ["<bos>", " is", " one"]],
    ["half a surrogate pair", "a\ud800b", ["a", "\ufffd", "b"], 0, ["a", "\ud800", "b"]],
  ])("are found for %s", (_name, text, tokens, generated, parts) => {
    expect(covered(text, tokens, generated)).toEqual(parts);
  });

  it.each<readonly [string, string, readonly string[], number | null]>([
    ["end before the text does", "The cats sleep", ["The", " cats"], 0],
    ["are of another text", "The cats", ["A", " dog"], 0],
    ["go on for more than one", "The cats", ["The", " cats", " a", " b"], null],
    ["go on where none was made", "The cats", ["The", " cats", " a"], 0],
    ["are none", "The cats", [], 0],
    ["hide letters", "The cats", ["\ufffd", " cats"], 0],
  ])("are none where the tokens %s", (_name, text, tokens, generated) => {
    expect(placeTokens(text, tokens, generated)).toBeNull();
  });

  /** Cuts of UTF-8 at any byte, written as a server writes a part of a character. */
  const cut = (text: string, every: readonly number[], style: "replacement" | "bytes"): string[] => {
    const bytes = new TextEncoder().encode(text);
    const tokens: string[] = [];
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const part = bytes.slice(at, at + (every[turn % every.length] ?? 1));
      const written = new TextDecoder().decode(part);
      tokens.push(
        !written.includes("\ufffd") || style === "replacement"
          ? written
          : Array.from(part, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`)
              .join("")
              .replace(/^/, "bytes:"),
      );
      at += part.length;
    }
    return tokens;
  };

  it("cover the text without a hole, in order, whatever its bytes are cut into", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", " ", "é", "日", "🎉", "."), minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        letters,
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom("replacement", "bytes"),
        (text, every, style) => {
          const tokens = cut(text, every, style as "replacement" | "bytes");
          const spans = placeTokens(text, tokens, 0);
          // What is unknown beside what is alike may not be told apart; then there is no score rather than a wrong one.
          if (spans === null) return;
          expect(spans).toHaveLength(tokens.length);
          let reached = 0;
          for (const { offset, end } of spans) {
            expect(offset).toBeLessThanOrEqual(reached);
            expect(end).toBeGreaterThanOrEqual(offset);
            reached = Math.max(reached, end);
          }
          expect(reached).toBe(text.length);
        },
      ),
    );
  });

  it("are exact where every token is of whole characters", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 20 }), (parts) => {
        const clean = parts.map((part) => part.replaceAll("\ufffd", "x"));
        fc.pre(!/^(<[^<>]*>|\[[A-Z]+\])/.test(clean[0] ?? ""));
        expect(covered(clean.join(""), [...clean, " made"], 1)).toEqual(clean);
      }),
    );
  });

  it("are found in time, whatever a server sends", () => {
    const text = "日".repeat(20_000);
    const hostile = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? "\ufffd" : "日"));
    expect(placeTokens(text, hostile, 0)).not.toBeUndefined();
    expect(
      placeTokens(
        "a".repeat(20_000),
        Array.from({ length: 20_000 }, () => "\ufffda"),
        0,
      ),
    ).toBeNull();
  });
});

describe("the tokens of a continuation", () => {
  const score = {
    text: "The cats sleep",
    tokens: [
      { text: "The", logprob: null, offset: 0, end: 3 },
      { text: " cats", logprob: -2, offset: 3, end: 8 },
      { text: " sleep", logprob: -3, offset: 8, end: 14 },
    ],
  };

  it("begin with the first that ends behind the prefix", () => {
    expect(continuationTokens(score, 8)).toMatchObject({ nll: 3, straddles: false, unscored: 0, bytes: 6, tokens: [{ text: " sleep" }] });
    expect(continuationTokens(score, 3)).toMatchObject({ nll: 5, straddles: false, bytes: 11 });
  });

  it("say that the first begins within it", () => {
    expect(continuationTokens(score, 9)).toMatchObject({ nll: 3, straddles: true, bytes: 5 });
  });

  it("are those from the second on behind an empty prefix, and from the first where a beginning of text stands before it", () => {
    expect(continuationTokens(score, 0)).toMatchObject({ nll: 5, straddles: false, unscored: 1 });
    const begun = {
      ...score,
      tokens: [
        { text: "<bos>", logprob: null, offset: 0, end: 0 },
        { ...score.tokens[0], text: "The", logprob: -1, offset: 0, end: 3 },
        ...score.tokens.slice(1),
      ],
    };
    expect(continuationTokens(begun, 0)).toMatchObject({ nll: 6, straddles: false, unscored: 0 });
  });

  it("are none behind the whole text", () => {
    expect(continuationTokens(score, 14)).toEqual({ tokens: [], straddles: false, unscored: 0, nll: 0, bytes: 0 });
    expect(() => continuationTokens(score, 15)).toThrow("the prefix has 15 string units, and the text 14");
  });

  it("add up, wherever the prefix ends", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "é", "🎉", " "), minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
        fc.nat(),
        (parts, seed) => {
          const text = parts.join("");
          const spans = placeTokens(text, parts, 0) ?? [];
          const tokens = spans.map((span, at) => ({ ...span, text: parts[at] ?? "", logprob: at === 0 ? null : -at }));
          const prefix = seed % (text.length + 1);
          const { nll, tokens: own, straddles } = continuationTokens({ text, tokens }, prefix);
          const before = tokens.filter(({ end }) => end <= prefix).reduce((sum, { logprob }) => sum - (logprob ?? 0), 0);
          expect(before + nll).toBe(tokens.reduce((sum, { logprob }) => sum - (logprob ?? 0), 0));
          expect(own.every(({ end }) => end > prefix)).toBe(true);
          expect(straddles).toBe(tokens.some(({ offset, end }) => offset < prefix && end > prefix));
        },
      ),
    );
  });
});

describe("what a request took, in parts", () => {
  it("adds up to the whole, and is each text's own number where that is the whole", () => {
    expect(
      shareUsage({ prompt_tokens: 9, completion_tokens: 2, reasoning_tokens: 0, total_tokens: 11 }, [4, 5]).map(({ prompt_tokens }) => prompt_tokens),
    ).toEqual([4, 5]);
    fc.assert(
      fc.property(fc.nat(5_000), fc.nat(100), fc.array(fc.nat(500), { minLength: 1, maxLength: 40 }), (prompt_tokens, completion_tokens, weights) => {
        const parts = shareUsage({ prompt_tokens, completion_tokens, reasoning_tokens: 0, total_tokens: prompt_tokens + completion_tokens }, weights);
        expect(parts.reduce((sum, part) => sum + part.prompt_tokens, 0)).toBe(prompt_tokens);
        expect(parts.reduce((sum, part) => sum + part.total_tokens, 0)).toBe(prompt_tokens + completion_tokens);
        expect(parts.every((part) => part.prompt_tokens >= 0 && part.completion_tokens >= 0)).toBe(true);
      }),
    );
  });
});
