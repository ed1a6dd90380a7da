import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MathBoundError } from "../../../src/rubrics/math/budget.ts";
import { sameAnswer } from "../../../src/rubrics/math/same-answer.ts";
import { DIFFERENCES, differenceOf } from "../../../tools/verifiers/math-differences.ts";
import { mathPairs } from "../../../tools/verifiers/math-pairs.ts";

const LIMITS = { maxChars: 50_000, maxSteps: 100_000 };
const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

interface Judged {
  readonly expected: string;
  readonly response: string;
  /** math-verify's verdicts both ways round, `10`. */
  readonly theirs: string;
  /** The kind of difference that is known of the pair. */
  readonly kind: string | null;
}

/** Recorded with `node tools/math-verify.ts PYTHON --record`. */
const JUDGED: readonly Judged[] = read("test/fixtures/math-verify.tsv")
  .trimEnd()
  .split("\n")
  .map((line) => {
    const [expected = "", response = "", theirs = "", kind = null] = line.split("\t");
    return { expected, response, theirs, kind };
  });

function verdict(expected: string, response: string): string {
  try {
    return sameAnswer(expected, response, LIMITS) ? "1" : "0";
  } catch (thrown) {
    if (thrown instanceof MathBoundError) return "E";
    throw thrown;
  }
}
const ours = ({ expected, response }: Judged): string => verdict(expected, response) + verdict(response, expected);

describe("answers as math-verify judges them", () => {
  it("are judged alike, both ways round, but for the listed differences", () => {
    expect(JUDGED.length).toBeGreaterThan(3_000);
    const unlike = JUDGED.flatMap((pair) => {
      const [found, wanted] = [ours(pair), pair.theirs];
      const kind = found === wanted ? null : (differenceOf(pair.expected, pair.response, found, wanted)?.name ?? "unknown");
      return kind === pair.kind ? [] : [{ ...pair, ours: found, kind }];
    });
    expect(unlike).toEqual([]);
  });

  it("are those that the seed draws, each once", () => {
    expect(mathPairs(1).map(({ expected, response }) => [expected, response])).toEqual(JUDGED.map(({ expected, response }) => [expected, response]));
    expect(new Set(JUDGED.map(({ expected, response }) => `${expected}\t${response}`)).size).toBe(JUDGED.length);
  });

  it("differ in kinds that the page names, each with an example, both verdicts and who is right", () => {
    const rows = read("docs/math-answers.md")
      .split("\n")
      .flatMap((line) => {
        const [, kind, expected, response, theirs, found, right] = /^\| ([^|]+) \| `([^|]+)` \| `([^|]+)` \| (.+?) \| (.+?) \| (.+?):? .*\|$/.exec(line) ?? [];
        return kind === undefined ? [] : [{ kind, expected, response, theirs, ours: found, right }];
      });
    expect(rows.map(({ kind, right }) => `${kind}: ${right}`)).toEqual(DIFFERENCES.map(({ name, right }) => `${name}: ${right}`));
    const word = (verdicts: string): string => (verdicts === "11" ? "equal" : verdicts === "00" ? "not" : verdicts.includes("E") ? "error" : "one way");
    for (const row of rows) {
      const pair = JUDGED.find(({ expected, response }) => expected === row.expected && response === row.response);
      expect([row.kind, pair?.kind, row.theirs, row.ours]).toEqual([row.kind, row.kind, pair && word(pair.theirs), pair && word(ours(pair))]);
    }
  });
});
