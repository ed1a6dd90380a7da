import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../src/environments/definition.ts";
import { SingleTurnEnv } from "../../src/environments/single-turn-env.ts";
import { Rubric } from "../../src/rubrics/rubric.ts";
import { runExample, scriptedModel, testEnvironment } from "../../src/testing/index.ts";

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
