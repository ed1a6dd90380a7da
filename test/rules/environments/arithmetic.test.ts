import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { canonicalProblem, isHeldOut, type Operation, type Problem } from "../../../src/environments/bundled/arithmetic/held-out.ts";
import { answerOf, DIFFICULTIES, heldOutProblems, OPERATIONS } from "../../../src/environments/bundled/arithmetic/problems.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { findEnvironment, loadEnvironment } from "../../../src/environments/definition/load.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";

/** Written by the training script's own code: problems it trained on, all held-out ones of two small spaces, and rows of the environment with seed 3. */
const python = JSON.parse(readFileSync(new URL("../../fixtures/arithmetic-problems.json", import.meta.url), "utf8")) as {
  trained: string[];
  held_out: string[];
  rows: Record<string, Record<string, [question: string, answer: string][]>>;
};

const load = (args: JsonObject = {}): Promise<Environment> => loadEnvironment("arithmetic", args, { datasets: memoryDatasets() });
const inputs = async (args: JsonObject, count: number): Promise<RolloutInput[]> => Array.fromAsync((await load(args)).examples(count));
const rows = async (args: JsonObject, count: number): Promise<unknown[]> => (await inputs(args, count)).map(({ question, answer }) => [question, answer]);

/** The problem that a canonical spelling names. */
function problemOf(canonical: string): Problem {
  const [operation, first = "", second] = canonical.split(":") as [Operation, ...string[]];
  return operation === "reverse" || operation === "sort" ? { operation, letters: first } : { operation, a: Number(first), b: Number(second) };
}

/** The problem behind a row, read back from its wording: two numbers (the second first in "subtract b from a"), or letters. */
function problemBehind({ question, info }: RolloutInput): Problem {
  const operation = (info as { operation: Operation }).operation;
  const text = String(question);
  if (operation === "reverse" || operation === "sort") {
    const longest = text
      .split(" ")
      .filter((word) => !["reverse", "spell", "backwards", "write", "in", "sort", "the", "letters", "of", "put", "order"].includes(word));
    return { operation, letters: longest.join("") };
  }
  const [x = 0, y = 0] = (text.match(/\d+/g) ?? []).map(Number);
  return text.includes(" from ") ? { operation, a: y, b: x } : { operation, a: x, b: y };
}

describe("the split between training and evaluation", () => {
  it("is the training script's: what it trained on is not held out, and the held-out problems of whole small spaces are the same", () => {
    expect(python.trained.length).toBeGreaterThan(300);
    expect(python.trained.filter((canonical) => isHeldOut(problemOf(canonical)))).toEqual([]);
    const numbers = Array.from({ length: 12 }, (_, a) => Array.from({ length: 12 }, (_, b): Problem => ({ operation: "addition", a, b }))).flat();
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
    const pairs = letters.flatMap((a) => letters.map((b): Problem => ({ operation: "sort", letters: a + b })));
    expect([...numbers, ...pairs].filter(isHeldOut).map(canonicalProblem)).toEqual(python.held_out);
  });

  it("counts problems whose order makes no difference once", () => {
    fc.assert(
      fc.property(fc.nat(99_999), fc.nat(99_999), (a, b) => {
        expect(isHeldOut({ operation: "addition", a, b })).toBe(isHeldOut({ operation: "addition", a: b, b: a }));
        expect(isHeldOut({ operation: "multiplication", a, b })).toBe(isHeldOut({ operation: "multiplication", a: b, b: a }));
      }),
    );
    expect(canonicalProblem({ operation: "subtraction", a: 9, b: 3 })).not.toBe(canonicalProblem({ operation: "subtraction", a: 3, b: 9 }));
  });

  it("keeps one problem in ten", () => {
    const all = Array.from({ length: 20_000 }, (_, a): Problem => ({ operation: "subtraction", a, b: 7 }));
    expect(all.filter(isHeldOut).length / all.length).toBeCloseTo(0.1, 2);
  });

  it.each(DIFFICULTIES)("leaves every row of the environment at level %s out of training, whatever the seed", async (difficulty) => {
    for (let seed = 0; seed < 40; seed++) {
      for (const input of await inputs({ difficulty, seed }, 50)) {
        const problem = problemBehind(input);
        expect(isHeldOut(problem), String(input.question)).toBe(true);
        expect(input.answer).toBe(answerOf(problem));
      }
    }
  });
});

describe("the rows of arithmetic", () => {
  it.each(DIFFICULTIES)("at level %s are the ones the training script measures", async (difficulty) => {
    for (const operation of OPERATIONS) {
      const expected = python.rows[difficulty]?.[operation];
      expect(expected?.length).toBe(4);
      expect(await rows({ difficulty, operation, seed: 3 }, 4)).toEqual(expected);
    }
  });

  it("are 1,000 unless more are asked for, a longer run begins with the rows of a shorter one, and no problem comes twice", async () => {
    const all = await inputs({ difficulty: "medium" }, -1);
    expect(all).toHaveLength(1_000);
    expect(all.map(({ example_id }) => example_id)).toEqual(all.map((_, index) => index));
    const more = await inputs({ difficulty: "medium" }, 1_600);
    expect(more.slice(0, 1_000)).toEqual(all);
    expect(new Set(more.map((input) => canonicalProblem(problemBehind(input)))).size).toBe(1_600);
  });

  it("take the operations in turn, or keep to one", async () => {
    const operations = (list: RolloutInput[]): unknown[] => list.map(({ info }) => (info as JsonObject).operation);
    expect(operations(await inputs({}, 10))).toEqual([...OPERATIONS, ...OPERATIONS]);
    expect(new Set(operations(await inputs({ operation: "reverse" }, 10)))).toEqual(new Set(["reverse"]));
  });

  it("depend on the seed", async () => {
    expect(await rows({ seed: 1 }, 10)).toEqual(await rows({ seed: 1 }, 10));
    expect(await rows({ seed: 1 }, 10)).not.toEqual(await rows({ seed: 2 }, 10));
    expect(await rows({ seed: 2 ** 32 }, 10)).not.toEqual(await rows({ seed: 0 }, 10));
  });

  it("end where the held-out problems do: more of them are refused with their number, all of them are given", async () => {
    const args = { difficulty: "easy", operation: "multiplication" };
    const there = Array.from(heldOutProblems("multiplication", "easy", 0)).length;
    expect(await inputs(args, there)).toHaveLength(there);
    expect(await inputs(args, -1)).toHaveLength(there);
    await expect(inputs(args, there + 1)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(new RegExp(`there are ${there} different problems of multiplication at level easy, ${there + 1} were asked for`)),
      hint: expect.stringContaining(`at most ${there}`),
    });
    // An operation that has none left is passed over by a run of all.
    expect(await inputs({ difficulty: "easy" }, 5 * there + 40)).toHaveLength(5 * there + 40);
  });

  it("ask for arguments by name", async () => {
    const environment = findEnvironment("arithmetic");
    expect(await environment?.checkArgs({ difficulty: "impossible" })).toMatch(/argument difficulty: .*easy.*medium.*hard/);
    expect(await environment?.checkArgs({ operation: "division" })).toMatch(/argument operation: .*all.*addition/);
    expect(await environment?.checkArgs({ seed: -1 })).toMatch(/argument seed: /);
    expect(await environment?.checkArgs({ difficulty: "hard", operation: "sort", seed: 4 })).toBeNull();
  });
});

describe("the reward of arithmetic", () => {
  it("is 1 for the exact answer alone, and says beside it whether there was an answer in the right form", async () => {
    const environment = await load({ operation: "addition" });
    const [input] = await Array.fromAsync(environment.examples(1));
    if (input === undefined) throw new Error("no row");
    const score = async (content: string): Promise<unknown> => {
      const state = environment.initState(input, { client: null, model: "m", sampling_args: {}, now: 0 });
      state.completion = [{ role: "assistant", content }];
      await environment.rubric.scoreGroup([state], { now: () => 0 });
      return [state.reward, state.metrics?.well_formed];
    };
    const answer = String(input.answer);
    expect(await score(answer)).toEqual([1, 1]);
    expect(await score(` ${answer}.\n`)).toEqual([1, 1]);
    expect(await score(`${answer}0`)).toEqual([0, 1]);
    expect(await score(`it is ${answer}`)).toEqual([0, 0]);
    expect(await score("")).toEqual([0, 0]);
    expect(environment.metricNames()).toEqual(["correct_answer", "well_formed", "num_turns"]);
  });
});
