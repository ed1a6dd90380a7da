import { Random } from "../../test/simulation/world/random.ts";
import { COLLECTIONS } from "./math-collections.ts";
import { EXPRESSIONS } from "./math-expressions.ts";
import { NUMBERS, wrappings } from "./math-numbers.ts";
import { WORDINGS } from "./math-words.ts";

/** An expected answer and a response; which of them is which decides as little as possible, so that tools compare them both ways. */
export interface MathPair {
  /** Where it comes from: the family that drew it. */
  readonly family: string;
  readonly expected: string;
  readonly response: string;
}

/** Answers of a family that are drawn, and responses to each. */
const DRAWS = 12;
const RESPONSES = 14;
/** Pairs of answers of different draws, which nothing relates. */
const UNRELATED = 200;

/** Kinds of pairs that chance draws too seldom. */
const ALWAYS: readonly (readonly [string, string])[] = [
  ["(-2, -2)", "-2, -2"],
  ["5", "\\int_0^5 1\\,dx"],
  ["5+6i", "5+6*i"],
  ["7 - i", "7 - 1i"],
];

/** Pairs of answers, the same for the same seed: rewritings, near misses and wrong answers of every family, and unrelated ones. */
export function mathPairs(seed: number): MathPair[] {
  const random = new Random(seed);
  const seen = new Set<string>();
  const pairs: MathPair[] = [];
  const add = (family: string, expected: string, response: string): void => {
    const key = JSON.stringify([expected, response]);
    if (expected === response || seen.has(key) || response === "") return;
    seen.add(key);
    pairs.push({ family, expected, response });
  };
  for (const [family, draw] of Object.entries({ ...NUMBERS, ...EXPRESSIONS, ...COLLECTIONS, ...WORDINGS }))
    for (let round = 0; round < DRAWS; round++) {
      const { expected, responses } = draw(random);
      for (const response of someOf(random, responses, RESPONSES)) add(family, expected, response);
    }
  const answers = [...pairs];
  for (let i = 0; i < UNRELATED; i++) add("unrelated", random.pick(answers).expected, random.pick(answers).response);
  for (const [expected, response] of ALWAYS) add("always", expected, response);
  return pairs;
}

/** What models make of an answer that they were shown nothing of; some change its value. */
const REWRITINGS: readonly ((answer: string) => string)[] = [
  (a) => a.replace(/\\frac/g, "\\dfrac"),
  (a) => a.replace(/\\left|\\right/g, ""),
  (a) => a.replace(/\s+/g, ""),
  (a) => a.replace(/\\d?frac\{([^{}]+)\}\{([^{}]+)\}/g, "($1)/($2)"),
  (a) => a.replace(/\\d?frac\{([^{}]+)\}\{([^{}]+)\}/g, "{$1 \\over $2}"),
  (a) => a.replace(/\\sqrt\{([^{}]+)\}/g, "\\sqrt($1)"),
  (a) => a.replace(/\\text\{([^{}]*)\}/g, "$1"),
  (a) =>
    a
      .replace(/\\pi/g, "π")
      .replace(/\\cup/g, "∪")
      .replace(/\\infty/g, "∞"),
  (a) => a.replace(/\d+/, (digits) => String(Number(digits) + 1)),
  (a) => a.replace(/-/, "+"),
  (a) => a.replace(/\+/, "-"),
  (a) => a.replace(/\{(\d)\}/g, "$1"),
  (a) => a.replace(/, */g, ";"),
  (a) => a.toLowerCase(),
  (a) => a.replace(/\^\\circ/g, "°"),
  (a) => `${a}\\%`,
  (a) => a.replace(/(\d)([a-z])/g, "$1 \\cdot $2"),
  (a) => a.replace(/\((.*)\)/, "[$1]"),
  (a) => a.replace(/\((.*)\)/, "\\{$1\\}"),
];

/** Pairs of given answers: each with some of its rewritings and wrappings, and with one answer drawn from all. */
export function goldPairs(answers: readonly string[], seed: number): MathPair[] {
  const random = new Random(seed);
  const forms = [...REWRITINGS, ...wrappings("@").map((form) => (a: string) => form.split("@").join(a))];
  return [...new Set(answers)].flatMap((expected) => {
    const responses = new Set(forms.filter(() => random.chance(0.25)).map((form) => form(expected)));
    responses.add(random.pick(answers));
    responses.delete(expected);
    return [...responses].map((response) => ({ family: "gold", expected, response }));
  });
}

/** Of a family's responses as many as are asked for, in their order. */
function someOf(random: Random, items: readonly string[], count: number): string[] {
  const left = [...items.keys()];
  while (left.length > count) left.splice(random.int(0, left.length - 1), 1);
  return left.map((index) => items[index] ?? "");
}
