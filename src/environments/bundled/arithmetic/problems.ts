import { mix, mixSeed } from "../../../mix.ts";
import { isCommutative, isHeldOut, type Operation, type Problem } from "./held-out.ts";
import data from "./problems.json" with { type: "json" };

export type Difficulty = keyof typeof data.levels;

export const DIFFICULTIES = Object.keys(data.levels) as readonly Difficulty[];
export const OPERATIONS = Object.keys(data.phrasings) as readonly Operation[];

/** The problems of one operation at one level, numbered from 0; there are more texts of twelve letters than a double can count. */
interface Space {
  readonly size: bigint;
  /** Null for a number whose problem is the same as that of another number. */
  problem(index: bigint): Problem | null;
}

function spaceOf(operation: Operation, difficulty: Difficulty): Space {
  const level = data.levels[difficulty];
  if (operation === "reverse" || operation === "sort") {
    const { letters: length } = level[operation];
    return { size: 26n ** BigInt(length), problem: (index) => ({ operation, letters: lettersOf(index, length) }) };
  }
  const [aFrom, aTo] = range(level[operation].a);
  const [bFrom, bTo] = range(level[operation].b);
  const columns = bTo - bFrom + 1;
  return {
    size: BigInt((aTo - aFrom + 1) * columns),
    problem(index) {
      const [a, b] = [aFrom + Math.floor(Number(index) / columns), bFrom + (Number(index) % columns)];
      const mirrored = a > b && b >= aFrom && a <= bTo;
      return isCommutative(operation) && mirrored ? null : { operation, a, b };
    },
  };
}

function range(bounds: readonly number[]): readonly [from: number, to: number] {
  const [from, to] = bounds;
  if (from === undefined || to === undefined) throw new TypeError("a range of numbers has two ends");
  return [from, to];
}

function lettersOf(index: bigint, length: number): string {
  let letters = "";
  for (let rest = index; letters.length < length; rest /= 26n) letters += String.fromCharCode(97 + Number(rest % 26n));
  return letters;
}

/**
 * Every held-out problem of an operation at a level, once, in an order that the seed decides. Two problems with the same
 * canonical spelling are one.
 */
export function* heldOutProblems(operation: Operation, difficulty: Difficulty, seed: number): Generator<Problem> {
  const { size, problem } = spaceOf(operation, difficulty);
  const key = mix(mixSeed(seed) ^ OPERATIONS.indexOf(operation));
  for (let index = 0; index < size; index++) {
    const found = problem(permuted(index, size, key));
    if (found === null || !isHeldOut(found)) continue;
    yield isCommutative(operation) && "a" in found && mix(key ^ index) % 2 === 0 ? { ...found, a: found.b, b: found.a } : found;
  }
}

/**
 * The place of `index` in a shuffled order of 0 to `size` - 1, without the memory of a shuffled list: a Feistel network permutes
 * the numbers of an even count of bits, at most 60, and is repeated until it falls below `size`.
 */
function permuted(index: number, size: bigint, key: number): bigint {
  const bits = Math.max(1, Math.ceil((size - 1n).toString(2).length / 2));
  const half = 2 ** bits;
  let [left, right] = [Math.floor(index / half), index % half];
  for (;;) {
    for (let round = 0; round < 4; round++) [left, right] = [right, left ^ (mix(mix(key + round) ^ right) % half)];
    const value = BigInt(left) * BigInt(half) + BigInt(right);
    if (value < size) return value;
  }
}

/** A wording of the problem; `choice` is any whole number. */
export function questionOf(problem: Problem, choice: number): string {
  const phrasings = data.phrasings[problem.operation];
  const phrasing = phrasings[choice % phrasings.length] ?? "";
  if ("letters" in problem) return phrasing.replace("{s}", problem.letters);
  return phrasing.replace("{a}", String(problem.a)).replace("{b}", String(problem.b));
}

export function answerOf(problem: Problem): string {
  switch (problem.operation) {
    case "addition":
      return String(problem.a + problem.b);
    case "subtraction":
      return String(problem.a - problem.b);
    case "multiplication":
      return String(problem.a * problem.b);
    case "reverse":
      return Array.from(problem.letters).reverse().join("");
    case "sort":
      return Array.from(problem.letters).sort().join("");
  }
}
