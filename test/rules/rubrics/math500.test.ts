import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sameAnswer } from "../../../src/rubrics/math/same-answer.ts";
import { Random } from "../../simulation/world/random.ts";
import { testData } from "../../support/results/test-data.ts";

const FILE = testData("math500", "math500-llmeval.jsonl");
const LIMITS = { maxChars: 50_000, maxSteps: 100_000 };

const answersIn = (file: string): string[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { answer: string }).answer);

/** Other ways to write an answer; null where it has no such form. */
const REWRITINGS: Readonly<Record<string, (answer: string) => string | null>> = {
  "without spaces": (answer) =>
    answer.includes("\\text") || answer.includes("\\mbox")
      ? null
      : answer.replace(/(\\[a-zA-Z]+)\s+(?![a-zA-Z])|\s+(?=[^a-zA-Z])|(?<=[^a-zA-Z])(?<!\\[a-zA-Z]*)\s+/g, "$1"),
  "with spaces": (answer) =>
    answer.includes("\\text") || answer.includes("!") ? null : answer.replace(/[+\-=[\](){}^_]/g, " $& ").replace(/\\ ([{}])/g, "\\$1"),
  "with \\left and \\right": (answer) =>
    /\\left|\\text/.test(answer) ? null : answer.replace(/(?<!\\)[([]/g, "\\left$&").replace(/(?<!\\)[)\]]/g, "\\right$&"),
  "without \\left and \\right": (answer) => answer.replace(/\\(left|right)/g, ""),
  "with \\dfrac": (answer) => answer.replace(/\\frac/g, "\\dfrac"),
  "with \\tfrac": (answer) => answer.replace(/\\d?frac/g, "\\tfrac"),
  "with \\frac12": (answer) => answer.replace(/\\d?frac\{(\d)\}\{(\d)\}/g, "\\frac$1$2"),
  "with \\frac1{20}": (answer) => answer.replace(/\\d?frac\{(\d)\}/g, "\\frac$1"),
  "with a/b": (answer) => answer.replace(/\\d?frac\{(\d+)\}\{(\d+)\}/g, (_, over, under) => `(${over}/${under})`),
  "as a decimal": (answer) => {
    const [, sign, over, under] = /^(-?)\\d?frac\{?(\d+?)\}?\s*\{?(\d+)\}?$/.exec(answer) ?? [];
    return over === undefined ? null : `${sign}${(Number(over) / Number(under)).toFixed(12)}`;
  },
  "with \\sqrt5": (answer) => answer.replace(/\\sqrt\s*\{(\d)\}/g, "\\sqrt$1"),
  "with \\cdot": (answer) => answer.replace(/(\d)\s*\\sqrt/g, "$1 \\cdot \\sqrt"),
  "with ^{\\circ}": (answer) => answer.replace(/\^\\circ/g, "^{\\circ}"),
  "without degrees": (answer) => answer.replace(/\^\\circ/g, ""),
  "without \\text": (answer) => answer.replace(/\\text\{\(?([A-Za-z]+)\)?\}/g, "$1"),
  "in \\textbf": (answer) => answer.replace(/\\text\{/g, "\\textbf{"),
  "in dollars": (answer) => `$${answer}$`,
  "at the end of a sentence": (answer) => `${answer}.`,
  "with bmatrix": (answer) => answer.replace(/pmatrix/g, "bmatrix"),
  "without thin spaces": (answer) => answer.replace(/,\\!\s*/g, ","),
};

/**
 * Different problems whose answers are the same value in two notations, found by comparing every pair and read one by one. The last is a
 * point and a list of its numbers, which math-verify takes for each other.
 */
const SAME_VALUE: readonly (readonly [string, string])[] = [
  ["90^\\circ", "90"],
  ["120^\\circ", "120"],
  ["30^\\circ", "30"],
  ["36^\\circ", "36"],
  ["36^\\circ", "\\$36"],
  ["\\$36", "36"],
  ["x=5", "5"],
  ["1,-2", "-2,1"],
  ["\\frac{1}{4}", "\\frac14"],
  ["10,\\!080", "10080"],
  ["15\\mbox{ cm}^2", "15"],
  ["2 \\sqrt{5}", "2\\sqrt{5}"],
  ["(-2,1)", "-2,1"],
];
const PAIRS = 10_000;

describe.runIf(FILE !== null)("the 500 answers of MATH-500", () => {
  const answers = FILE === null ? [] : answersIn(FILE);

  it("each equal themselves", () => {
    expect(answers).toHaveLength(500);
    // A space more, or nobody would have to compare.
    expect(answers.filter((answer) => !sameAnswer(answer, `${answer} {}`.replace(" {}", "\\,"), LIMITS))).toEqual([]);
  });

  it("each equal their usual rewritings", () => {
    const missed: string[] = [];
    let tried = 0;
    for (const answer of new Set(answers)) {
      for (const [name, rewrite] of Object.entries(REWRITINGS)) {
        const other = rewrite(answer);
        if (other === null || other === answer) continue;
        tried++;
        if (!sameAnswer(answer, other, LIMITS) || !sameAnswer(other, answer, LIMITS)) missed.push(`${name}: ${answer} as ${other}`);
      }
    }
    console.log(`MATH-500: ${tried - missed.length} of ${tried} rewritings are recognised`);
    expect(tried).toBeGreaterThan(900);
    expect(missed).toEqual([]);
  });

  it(`equal no other problem's different answer in ${PAIRS} random pairs`, () => {
    const known = new Set(SAME_VALUE.flatMap(([a, b]) => [`${a} ${b}`, `${b} ${a}`]));
    const random = new Random(500);
    const wrong: string[] = [];
    for (let compared = 0; compared < PAIRS; ) {
      const [expected, response] = [random.pick(answers), random.pick(answers)];
      if (expected === response || known.has(`${expected} ${response}`)) continue;
      compared++;
      if (sameAnswer(expected, response, LIMITS)) wrong.push(`${expected} and ${response}`);
    }
    console.log(`MATH-500: ${wrong.length} of ${PAIRS} pairs of different answers are taken for equal`);
    expect(wrong).toEqual([]);
  });

  it("that are the same value in two notations are equal both ways", () => {
    for (const [a, b] of SAME_VALUE) expect([a, b, sameAnswer(a, b, LIMITS), sameAnswer(b, a, LIMITS)]).toEqual([a, b, true, true]);
  });
});
