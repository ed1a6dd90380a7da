import { describe, expect, it } from "vitest";
import { Environment } from "../../../src/environments/kinds/environment.ts";
import { SingleTurnEnv, type SingleTurnOptions } from "../../../src/environments/kinds/single-turn-env.ts";
import { shuffled } from "../../../src/environments/definition/shuffle.ts";
import type { Client, ModelRequest, RolloutInput } from "../../../src/rollouts/types.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { logLevel, setupLogging, type LogLine } from "../../../src/logging/logger.ts";
import { Parser } from "../../../src/parsers/parser.ts";
import { ThinkParser } from "../../../src/parsers/think-parser.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { scriptedClient } from "../../support/clients/scripted-client.ts";

const correct = ({ completion, answer }: { completion: readonly { content?: unknown }[]; answer: unknown }): boolean => completion[0]?.content === answer;
const DATA = Array.from({ length: 4 }, (_, index) => ({ question: `q${index}`, answer: `a${index}` }));
const environment = (options: Partial<SingleTurnOptions> = {}): SingleTurnEnv =>
  new SingleTurnEnv({ dataset: DATA, rubric: new Rubric([{ name: "correct", fn: correct }]), ...options });
/** Answers example i with `a{i}` when i is even. */
const even = (request: ModelRequest): string => {
  const number = Number(String(request.prompt.at(-1)?.content).slice(1));
  return number % 2 === 0 ? `a${number}` : "no idea";
};
const input = (example_id = 0): RolloutInput => ({ example_id, prompt: [{ role: "user", content: `q${example_id}` }], task: "t", answer: `a${example_id}` });

describe("evaluate", () => {
  it("plays and scores every example, and adds up", async () => {
    const { outputs, metadata } = await environment().evaluate(scriptedClient(even), "m", { rolloutsPerExample: 2, maxConcurrent: 3 });
    expect(outputs.map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, reward])).toEqual([
      [0, 0, 1],
      [0, 1, 1],
      [1, 0, 0],
      [1, 1, 0],
      [2, 0, 1],
      [2, 1, 1],
      [3, 0, 0],
      [3, 1, 0],
    ]);
    expect(metadata).toMatchObject({
      model: "m",
      num_examples: 4,
      rollouts_per_example: 2,
      avg_reward: 0.5,
      avg_metrics: { correct: 0.5, num_turns: 1 },
      avg_error: 0,
      pass_at_k: { 1: 0.5, 2: 0.5 },
      pass_all_k: { 1: 0.5, 2: 0.5 },
      usage: { input_tokens: 10, output_tokens: 5, final_input_tokens: 10, final_output_tokens: 5 },
      sampling_args: { n: 1, extra_body: {} },
      state_columns: [],
      tools: null,
    });
    expect(Date.parse(metadata.date)).not.toBeNaN();
  });

  it("takes the first examples, of the evaluation data where there is some, else of the other", async () => {
    const rows = async (options: Partial<SingleTurnOptions>, numExamples: number) =>
      (await environment(options).evaluate(scriptedClient("x"), "m", { numExamples })).outputs.map(
        ({ prompt }) => (prompt as { content: string }[])[0]?.content,
      );
    expect(await rows({}, 2)).toEqual(["q0", "q1"]);
    expect(await rows({ evalDataset: [{ question: "e0" }] }, -1)).toEqual(["e0"]);
  });

  it("calls no more than it may at once", async () => {
    let now = 0;
    let most = 0;
    const client: Client = {
      type: "slow",
      getResponse: async (request) => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 2));
        now--;
        return await scriptedClient("x").getResponse(request);
      },
    };
    await environment().evaluate(client, "m", { rolloutsPerExample: 3, maxConcurrent: 2 });
    expect(most).toBe(2);
  });

  it("rejects with a refusal that every call would meet, and with the reason it was stopped for", async () => {
    const refused = scriptedClient(new EdgewiseError("auth_failed", "HTTP 401"));
    await expect(environment().evaluate(refused, "m")).rejects.toMatchObject({ code: "auth_failed" });
    // What the command line calls -b and -m, a script sets by other names.
    const hint = "check the model's name (-m) and the endpoint (-b); did you mean -m gpt-4.1-mini? ask x-boss or --bare";
    const unknown = scriptedClient(new EdgewiseError("model_not_found", "HTTP 404", { hint }));
    await expect(environment().evaluate(unknown, "m")).rejects.toMatchObject({
      hint: "check the model's name (model) and the endpoint (api_base_url); did you mean model gpt-4.1-mini? ask x-boss or --bare",
    });
    const stop = new AbortController();
    const stopping = scriptedClient(() => {
      stop.abort(new Error("enough"));
      return "x";
    });
    await expect(environment().evaluate(stopping, "m", { signal: stop.signal, maxConcurrent: 1 })).rejects.toThrow("enough");
  });

  it("refuses a metric that would overwrite a field of the rows, before any call", async () => {
    const client = scriptedClient("x");
    const named = environment({ rubric: new Rubric([{ name: "reward", fn: () => 1 }]) });
    await expect(named.evaluate(client, "m")).rejects.toMatchObject({ code: "metric_name_reserved" });
    expect(client.requests).toEqual([]);
  });

  it("refuses to score rollouts one by one that are scored as a group", async () => {
    const group = environment({ rubric: new Rubric([{ name: "rank", fn: groupReward(({ states }) => states.map(() => 1)) }]) });
    await expect(group.evaluate(scriptedClient("x"), "m", { independentScoring: true })).rejects.toThrow(
      /together \(\w+\), which independent scoring does not allow/,
    );
  });

  it("gives rows without rewards where scoring is off", async () => {
    const off = environment({ scoreRollouts: false });
    const { outputs, metadata } = await off.evaluate(scriptedClient(even), "m", { numExamples: 1 });
    expect([outputs[0]?.reward, outputs[0]?.metrics, metadata.avg_metrics, off.metricNames()]).toEqual([0, {}, {}, []]);
  });

  it("adds state columns to rows", async () => {
    const { outputs } = await environment().evaluate(scriptedClient("x"), "m", { numExamples: 1, stateColumns: ["trajectory_id", "none"] });
    expect(outputs[0]).toMatchObject({ trajectory_id: expect.stringMatching(/^[0-9a-f]{32}$/), none: null });
  });
});

describe("generate", () => {
  it("makes one group of the inputs of one example, wherever they stand", async () => {
    const group = environment({ rubric: new Rubric([{ name: "order", fn: groupReward(({ states }) => states.map((_, index) => index)) }]) });
    const { outputs, metadata } = await group.generate([input(0), input(1), input(0), input(1)], scriptedClient("x"), "m");
    expect(outputs.map(({ example_id, reward }) => [example_id, reward])).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);
    expect(metadata).toMatchObject({ num_examples: 2, rollouts_per_example: 2 });
  });

  it("gives nothing for no inputs", async () => {
    expect(await environment().generate([], scriptedClient("x"), "m")).toMatchObject({ outputs: [], metadata: { num_examples: 0, avg_reward: 0 } });
  });

  it("makes a data set of what it gave", async () => {
    const outputs = await environment().evaluate(scriptedClient("x"), "m", { numExamples: 1 });
    const [row] = Environment.makeDataset(outputs);
    expect(row).toEqual(outputs.outputs[0]);
    expect(row).not.toBe(outputs.outputs[0]);
  });
});

describe("one rollout, one group", () => {
  it("end scored", async () => {
    const state = await environment().runRollout(input(), scriptedClient("a0"), "m");
    expect(state).toMatchObject({ reward: 1, metrics: { correct: 1 }, advantage: null });
    const states = await environment().runGroup([input(), input()], scriptedClient("a0", "wrong"), "m");
    expect(states.map(({ reward, trajectory }) => [reward, trajectory[0]?.advantage])).toEqual([
      [1, 0.5],
      [0, -0.5],
    ]);
    await expect(environment().runGroup([input(0), input(1)], scriptedClient("x"), "m")).rejects.toThrow(/different examples/);
  });

  it("are repeated for what is worth it, and keep the last error", async () => {
    const flaky = new EdgewiseError("empty_response", "nothing");
    expect(await environment().runRollout(input(), scriptedClient(flaky, "a0"), "m", { maxRetries: 1 })).toMatchObject({ error: null, reward: 1 });
    const bad = new EdgewiseError("bad_request", "HTTP 400");
    const client = scriptedClient(bad, "a0");
    expect(await environment().runRollout(input(), client, "m", { maxRetries: 3 })).toMatchObject({
      error: { code: "bad_request" },
      stop_condition: "has_error",
    });
    expect(client.requests).toHaveLength(1);
  });
});

describe("data sets", () => {
  it("come in order, or in the order of a seed, and as many as asked for", async () => {
    const names = async (n?: number, seed?: number) => (await environment().getDataset(n, seed)).map(({ question }) => question);
    expect(await names()).toEqual(["q0", "q1", "q2", "q3"]);
    expect(await names(2)).toEqual(["q0", "q1"]);
    expect(await names(-1, 7)).toEqual(await names(-1, 7));
    expect((await names(-1, 7)).toSorted()).toEqual(["q0", "q1", "q2", "q3"]);
    expect(await names(2, 7)).toEqual((await names(-1, 7)).slice(0, 2));
    expect(shuffled([1, 2, 3, 4, 5, 6, 7, 8], 1)).not.toEqual(shuffled([1, 2, 3, 4, 5, 6, 7, 8], 2));
  });

  it("may be rows or what reads them, and one of the two must be there", async () => {
    const read = new SingleTurnEnv({
      dataset: async function* () {
        yield { question: "read" };
      },
    });
    expect((await read.getDataset()).map(({ question }) => question)).toEqual(["read"]);
    expect(() => new SingleTurnEnv({})).toThrow(/needs a dataset or an evalDataset/);
    expect(() => new SingleTurnEnv({ dataset: null })).toThrow(/the argument `dataset` has to name one/);
  });
});

describe("what an environment is made of", () => {
  it("refuses tools in OpenAI's nested form", () => {
    const nested = { type: "function", function: { name: "f", parameters: {} } };
    expect(() => environment({ toolDefs: [nested as never] })).toThrow(/nested form/);
  });

  it("warns when environment and rubric read answers by different parsers", async () => {
    const lines: LogLine[] = [];
    setupLogging({ sink: (line) => lines.push(line) });
    try {
      await logLevel("warning", () => environment({ parser: new Parser(), rubric: new Rubric([], { parser: new ThinkParser() }) }));
    } finally {
      setupLogging();
    }
    expect(lines).toMatchObject([{ level: "warning", message: expect.stringMatching(/parser/) }]);
  });

  it("scores by rubrics added later too", async () => {
    const more = environment();
    more.addRubric(new Rubric([{ name: "bonus", fn: () => 2 }]));
    expect(await more.runRollout(input(), scriptedClient("a0"), "m")).toMatchObject({ reward: 3, metrics: { correct: 1, num_turns: 1, bonus: 2 } });
  });
});
