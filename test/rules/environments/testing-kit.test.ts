import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { runExample, runGroup, scriptedModel, testEnvironment } from "../../../src/testing/index.ts";

const capitals = defineEnvironment({
  id: "capitals",
  version: "1.0.0",
  description: "Capitals.",
  args: z.object({ hint: z.boolean().default(false) }),
  dataset: { dataset: "someone/capitals", split: "test", columns: { question: "country" } },
  keys: ["ATLAS_API_KEY"],
  load: ({ hint }, { dataset, keys }) =>
    new SingleTurnEnv({
      dataset,
      systemPrompt: hint ? `Atlas ${keys.ATLAS_API_KEY}` : null,
      rubric: new Rubric([{ name: "right", fn: ({ completion, answer }) => JSON.stringify(completion).includes(String(answer)) }]),
    }),
});
const rows = [
  { question: "France?", answer: "Paris" },
  { question: "Peru?", answer: "Lima" },
];
const keys = { ATLAS_API_KEY: "k" };

describe("a test of an environment", () => {
  it("gives rows, arguments and keys, plays one example and looks at the state", async () => {
    const environment = testEnvironment(capitals, { rows, keys, args: { hint: true } });
    const { state, model } = await runExample(environment, { answers: ["It is Lima."], example: 1 });
    expect(state).toMatchObject({ reward: 1, metrics: { right: 1 }, answer: "Lima", error: null });
    expect(model.requests[0]?.prompt).toEqual([
      { role: "system", content: "Atlas k" },
      { role: "user", content: "Peru?" },
    ]);
    expect((await runExample(environment, { answers: () => "Cusco" })).state.reward).toBe(0);
  });

  it("meets refusals, cuts and tool calls as a rollout does", async () => {
    const environment = testEnvironment(capitals, { rows, keys });
    expect((await runExample(environment, { answers: [{ error: "provider_error" }] })).state).toMatchObject({ reward: 0, error: { code: "provider_error" } });
    expect((await runExample(environment, { answers: [{ content: "Par", finish_reason: "length" }] })).state.is_truncated).toBe(true);
    const { state } = await runExample(environment, { answers: [{ tool_calls: [{ name: "look", arguments: { page: 3 } }] }] });
    expect(state.completion?.[0]).toMatchObject({ tool_calls: [{ id: "call-1", name: "look", arguments: '{"page":3}' }] });
  });

  it("is refused what a run would be refused, and what a test should not do", async () => {
    expect(() => testEnvironment(capitals, { rows })).toThrow(/ATLAS_API_KEY/);
    expect(() => testEnvironment(capitals, { rows, keys, args: { hints: true } })).toThrow(/unknown argument hints/);
    await expect(runExample(testEnvironment(capitals, { keys }), { answers: ["x"] })).rejects.toThrow(/tests read no network/);
    await expect(runExample(testEnvironment(capitals, { keys, rows }), { answers: ["x"], example: 2 })).rejects.toThrow(/no example 2: the data set has 2/);
    const model = scriptedModel(["one"]);
    const environment = testEnvironment(capitals, { rows, keys });
    const [input] = await environment.getEvalDataset(1);
    if (input === undefined) return expect.fail("no example");
    await environment.runRollout(input, model, "m");
    expect((await environment.runRollout(input, model, "m")).error?.message).toMatch(/asked 2 times and has 1 answers/);
  });
});

describe("a test of a group of rollouts", () => {
  const shortest = groupReward(function shortest({ completions }) {
    const lengths = completions.map((completion) => JSON.stringify(completion).length);
    return lengths.map((length) => length === Math.min(...lengths));
  });
  const definition = defineEnvironment({
    id: "short",
    version: "1.0.0",
    description: "The shortest answer.",
    args: z.object({}),
    load: () => new SingleTurnEnv({ dataset: [{ question: "Why?", answer: "" }], rubric: new Rubric([shortest]) }),
  });

  it("gives each rollout its own script, and scores them together", async () => {
    const { states, models } = await runGroup(testEnvironment(definition), { answers: [["Because it is so."], ["So."], () => "Because."] });
    expect(states.map(({ reward }) => reward)).toEqual([0, 1, 0]);
    expect(states.map(({ completion }) => completion?.[0]?.content)).toEqual(["Because it is so.", "So.", "Because."]);
    expect(models.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
  });
});

describe("a further data set", () => {
  const joined = defineEnvironment({
    id: "joined",
    version: "1.0.0",
    description: "Questions of one data set, hints of another.",
    args: z.object({}),
    dataset: { dataset: "someone/questions" },
    load: (_args, { dataset, rows: rowsOf }) => {
      const hints = rowsOf({ dataset: "someone/hints", split: "train" });
      return new SingleTurnEnv({
        dataset: async function* (count) {
          const byId = new Map<unknown, unknown>();
          for await (const { id, hint } of hints(-1)) byId.set(id, hint);
          for await (const row of dataset(count)) yield { ...row, question: `${row.question} (${byId.get(row.id)})` };
        },
        rubric: new Rubric([]),
      });
    },
  });

  it("is read by name, and given to a test by that name", async () => {
    const environment = testEnvironment(joined, {
      rows: [{ id: 7, question: "Which?", answer: "this" }],
      further: { "someone/hints": [{ id: 7, hint: "the near one" }] },
    });
    const { model } = await runExample(environment, { answers: ["x"] });
    expect(model.requests[0]?.prompt.at(-1)?.content).toBe("Which? (the near one)");
  });

  it("is not read from a network by a test, and refused where its name is none", async () => {
    await expect(runExample(testEnvironment(joined, { rows: [{ id: 7, question: "?" }] }), { answers: ["x"] })).rejects.toThrow(/tests read no network/);
    const wrong = defineEnvironment({
      id: "wrong",
      version: "1.0.0",
      description: "",
      args: z.object({}),
      load: (_args, { rows: rowsOf }) => new SingleTurnEnv({ dataset: rowsOf({ dataset: "not a reference" }), rubric: new Rubric([]) }),
    });
    expect(() => testEnvironment(wrong)).toThrow(/not a reference/);
  });
});
