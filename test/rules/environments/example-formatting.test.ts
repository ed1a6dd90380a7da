import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { EnvironmentOptions } from "../../../src/environments/kinds/environment.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";

function environment(rows: JsonObject[], options: Partial<EnvironmentOptions> = {}): SingleTurnEnv {
  return new SingleTurnEnv({
    dataset: async function* () {
      yield* rows;
    },
    ...options,
  });
}

async function inputs(rows: JsonObject[], options: Partial<EnvironmentOptions> = {}, count = -1): Promise<RolloutInput[]> {
  return await Array.fromAsync(environment(rows, options).examples(count));
}

describe("example ids", () => {
  it("are the row index when there is no such column, and the old value moves to src_id when it is no integer", async () => {
    expect((await inputs([{ question: "a" }, { question: "b" }])).map(({ example_id }) => example_id)).toEqual([0, 1]);
    const renamed = await inputs([
      { question: "a", example_id: "x7" },
      { question: "b", example_id: "x9" },
    ]);
    expect(renamed).toMatchObject([
      { example_id: 0, src_id: "x7" },
      { example_id: 1, src_id: "x9" },
    ]);
  });

  it("are the column's own when it starts with an integer", async () => {
    expect(
      (
        await inputs([
          { question: "a", example_id: 4 },
          { question: "b", example_id: 9 },
        ])
      ).map(({ example_id }) => example_id),
    ).toEqual([4, 9]);
  });

  it.each([
    [[1, 1], /row 1: example_id must ascend without repeats, 1 follows 1/],
    [[5, 3], /row 1: .*3 follows 5/],
    [[5, "6"], /row 1: example_id must be an integer .* "6"/],
  ])("refuses %j, naming row and value", async (ids, message) => {
    const rows = ids.map((example_id) => ({ question: "q", example_id }));
    await expect(inputs(rows)).rejects.toMatchObject({ code: "dataset_unreadable", message: expect.stringMatching(message) });
  });
});

describe("prompts", () => {
  it("are made of system prompt, examples and question", async () => {
    const fewShot = [
      { role: "user" as const, content: "1+1" },
      { role: "assistant" as const, content: "2" },
    ];
    const [input] = await inputs([{ question: "2+2", answer: "4", level: 3 }], { systemPrompt: "Be brief.", fewShot });
    expect(input).toEqual({
      question: "2+2",
      level: 3,
      example_id: 0,
      prompt: [{ role: "system", content: "Be brief." }, ...fewShot, { role: "user", content: "2+2" }],
      task: "default",
      answer: "4",
    });
  });

  it("that are given keep their own system message and otherwise get the environment's", async () => {
    const user = { role: "user", content: "hi" };
    const [own, added] = await inputs([{ prompt: [{ role: "system", content: "mine" }, user] }, { prompt: [user] }], { systemPrompt: "theirs" });
    expect(own?.prompt[0]?.content).toBe("mine");
    expect(added?.prompt).toEqual([{ role: "system", content: "theirs" }, user]);
  });

  it("given as a text become one text message, which no system prompt can precede", async () => {
    expect((await inputs([{ prompt: "Once" }]))[0]?.prompt).toEqual([{ role: "text", content: "Once" }]);
    await expect(inputs([{ prompt: "Once" }], { systemPrompt: "s" })).rejects.toMatchObject({ code: "dataset_unreadable" });
  });

  it("are normalised: nested tool calls flattened, arguments as text, a missing id the name", async () => {
    const nested = { role: "assistant", content: null, tool_calls: [{ type: "function", function: { name: "add", arguments: { a: 1 } } }] };
    const [input] = await inputs([{ prompt: [nested, { role: "tool", tool_call_id: "add", content: "2" }] }]);
    expect(input?.prompt[0]).toEqual({ role: "assistant", content: null, tool_calls: [{ id: "add", name: "add", arguments: '{"a":1}' }] });
  });

  it("with an unknown role, or none at all, are refused with the row's number", async () => {
    await expect(inputs([{ question: "a" }, { prompt: [{ role: "robot", content: "x" }] }])).rejects.toThrow(/row 1: .*unknown role "robot"/);
    await expect(inputs([{ text: "a", label: 1 }])).rejects.toMatchObject({
      message: "data set row 0: it has neither a prompt nor a question (it has text, label)",
      hint: expect.stringContaining('{"dataset_columns": {"question": "text"}}'),
    });
  });
});

describe("the first n examples", () => {
  it("are read no further than needed; n below 1 is all", async () => {
    let read = 0;
    let closed = false;
    const many = new SingleTurnEnv({
      dataset: async function* () {
        try {
          for (; read < 1_000; read++) yield { question: String(read) };
        } finally {
          closed = true;
        }
      },
    });
    expect(await Array.fromAsync(many.examples(3))).toHaveLength(3);
    expect(read).toBeLessThan(4);
    expect(closed).toBe(true);
    expect(await inputs([{ question: "a" }, { question: "b" }], {}, 0)).toHaveLength(2);
    expect(await inputs([{ question: "a" }], {}, 50)).toHaveLength(1);
  });

  it("of an empty data set are refused", async () => {
    await expect(inputs([])).rejects.toMatchObject({ code: "dataset_unreadable", message: "the data set is empty" });
  });

  it("carry info as an object and a task of their own or the environment's", async () => {
    const [input] = await inputs([{ question: "a", info: '{"level": 2}', task: "algebra" }]);
    expect(input).toMatchObject({ info: { level: 2 }, task: "algebra" });
    await expect(inputs([{ question: "a", info: "{" }])).rejects.toThrow(/row 0: its info is a text that is not JSON/);
    await expect(inputs([{ question: "a", info: { oai_tools: [] } }])).rejects.toThrow(/oai_tools/);
  });
});
