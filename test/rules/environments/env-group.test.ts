import { describe, expect, it } from "vitest";
import { RESULTS_SHAPES } from "../../../src/config/plan/run-config.ts";
import { EnvGroup } from "../../../src/environments/kinds/env-group.ts";
import type { EnvironmentOptions } from "../../../src/environments/kinds/environment.ts";
import { errorLines } from "../../../src/environments/unit/run-unit.ts";
import { SingleTurnEnv, type SingleTurnOptions } from "../../../src/environments/kinds/single-turn-env.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { scriptedClient } from "../../support/clients/scripted-client.ts";

const questions = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ question: `${prefix}${index}`, answer: `${index}`, origin: prefix }));

function member(prefix: string, metric: string, options: Partial<SingleTurnOptions> = {}, count = 2): SingleTurnEnv {
  return new SingleTurnEnv({ dataset: questions(prefix, count), rubric: new Rubric([{ name: metric, fn: () => 0.5 }]), ...options });
}

const math = () => member("m", "correct");
const code = () => member("c", "passes");

describe("a group of environments", () => {
  it("has the members' examples one after another, with new ids and the member's name as task", async () => {
    const group = new EnvGroup({ envs: [math(), code()], envNames: ["math", "code"] });
    const examples = await group.getDataset();
    expect(examples.map(({ example_id, task, question, origin }) => [example_id, task, question, origin])).toEqual([
      [0, "math", "m0", "m"],
      [1, "math", "m1", "m"],
      [2, "code", "c0", "c"],
      [3, "code", "c1", "c"],
    ]);
    expect((await group.getEvalDataset(3)).map(({ example_id }) => example_id)).toEqual([0, 1, 2]);
  });

  it("says in info.env_id whose an example is, behind what the example says itself, in rows of either shape", async () => {
    const told = new SingleTurnEnv({
      dataset: [
        { question: "q", info: { level: 2 } },
        { question: "r", info: { env_id: "inner" } },
      ],
    });
    const group = new EnvGroup({ envs: [told, code()], envNames: ["told", "code"] });
    const inputs = await group.getDataset();
    expect(inputs.map(({ info }) => JSON.stringify(info))).toEqual([
      '{"level":2,"env_id":"told"}',
      '{"env_id":["told","inner"]}',
      '{"env_id":"code"}',
      '{"env_id":"code"}',
    ]);
    const { outputs } = await group.evaluate(scriptedClient("x"), "m");
    expect(outputs.map(({ info, metrics }) => [info, Object.keys(metrics as object)])).toEqual([
      [{ level: 2, env_id: "told" }, ["num_turns"]],
      [{ env_id: ["told", "inner"] }, ["num_turns"]],
      [{ env_id: "code" }, ["passes", "num_turns"]],
      [{ env_id: "code" }, ["passes", "num_turns"]],
    ]);
    const options = { rolloutsPerExample: 1, code: "poisoned", message: "m", model: "m", sampling_args: {}, stateColumns: [], now: () => 0 } as const;
    for (const shape of RESULTS_SHAPES) {
      const [line] = errorLines(group, inputs[0] as RolloutInput, { ...options, shape }).lines;
      expect(JSON.parse(line ?? ""), shape).toMatchObject({ info: { level: 2, env_id: "told" } });
    }
  });

  it("lets the member of info.env_id play where a row has no task of it, as rows of verifiers from 0.1.14 on", async () => {
    const group = new EnvGroup({ envs: [math(), code()], envNames: ["math", "code"] });
    const input: RolloutInput = { example_id: 9, prompt: [{ role: "user", content: "?" }], task: "default", info: { env_id: "code" } };
    expect((await group.runRollout(input, scriptedClient("x"), "m")).metrics).toEqual({ passes: 0.5, num_turns: 1 });
  });

  it("names its members env_0, env_1 when nobody does, whatever task their rows name", async () => {
    const own = new SingleTurnEnv({ dataset: [{ question: "q", task: "mine" }] });
    const group = new EnvGroup({ envs: [own, code()] });
    expect(group.envNames).toEqual(["env_0", "env_1"]);
    expect((await group.getDataset()).map(({ task }) => task)).toEqual(["env_0", "env_1", "env_1"]);
  });

  it("is refused without members, with other names than members, with one name twice, and in another group", () => {
    expect(() => new EnvGroup({ envs: [] })).toThrow(RangeError);
    expect(() => new EnvGroup({ envs: [math()], envNames: ["a", "b"] })).toThrow(/1 environments have 2 names/);
    expect(() => new EnvGroup({ envs: [math(), code()], envNames: ["a", "a"] })).toThrow(/same name/);
    expect(() => new EnvGroup({ envs: [new EnvGroup({ envs: [math()] })] })).toThrow(/cannot be a member/);
  });

  it("takes evaluation data where a member has some", async () => {
    const split = new SingleTurnEnv({ dataset: questions("train", 1), evalDataset: questions("eval", 1) });
    const evalOnly = new SingleTurnEnv({ evalDataset: questions("only", 1) });
    const group = new EnvGroup({ envs: [split, evalOnly] });
    expect((await group.getDataset()).map(({ question }) => question)).toEqual(["train0", "only0"]);
    expect((await group.getEvalDataset()).map(({ question }) => question)).toEqual(["eval0", "only0"]);
  });

  it("puts its system prompt before prompts that have none", async () => {
    const group = new EnvGroup({ envs: [member("a", "x", { systemPrompt: "own" }, 1), member("b", "y", {}, 1)], systemPrompt: "group" });
    expect((await group.getDataset()).map(({ prompt }) => prompt.map(({ content }) => content))).toEqual([
      ["own", "a0"],
      ["group", "b0"],
    ]);
  });

  it("lets the member play and score: rows carry its metrics and no others", async () => {
    const group = new EnvGroup({ envs: [math(), new ToolEnv({ dataset: questions("t", 1), tools: [] })], envNames: ["math", "tools"] });
    const { outputs, metadata } = await group.evaluate(scriptedClient("x"), "m");
    expect(outputs.map(({ task, metrics, stop_condition }) => [task, metrics, stop_condition])).toEqual([
      ["math", { correct: 0.5, num_turns: 1 }, "max_turns_reached"],
      ["math", { correct: 0.5, num_turns: 1 }, "max_turns_reached"],
      ["tools", { num_turns: 1, total_tool_calls: 0 }, "no_tools_called"],
    ]);
    expect(metadata.avg_metrics).toEqual({ correct: 0.5, num_turns: 1, total_tool_calls: 0 });
    expect(group.metricNames()).toEqual(["correct", "num_turns", "total_tool_calls"]);
  });

  it("gives a task that is nobody's to the first member", async () => {
    const group = new EnvGroup({ envs: [math(), code()], envNames: ["math", "code"] });
    const input: RolloutInput = { example_id: 9, prompt: [{ role: "user", content: "?" }], task: "physics" };
    const state = await group.runRollout(input, scriptedClient("x"), "m");
    expect([state.task, state.metrics]).toEqual(["physics", { correct: 0.5, num_turns: 1 }]);
    expect(group.getEnvForTask("code")).toBe(group.envs[1]);
  });

  it("samples as the member does, then as the group, then as the run", async () => {
    const options: EnvironmentOptions["samplingArgs"] = { temperature: 0.1, top_p: 0.1, seed: 1 };
    const group = new EnvGroup({ envs: [member("a", "x", { samplingArgs: options }, 1)], samplingArgs: { top_p: 0.2, seed: 2 } });
    const client = scriptedClient("x");
    await group.evaluate(client, "m", { samplingArgs: { seed: 3 } });
    expect(client.requests[0]?.sampling_args).toEqual({ n: 1, extra_body: {}, temperature: 0.1, top_p: 0.2, seed: 3 });
  });

  it("shares tools where all members have the same, by name", () => {
    const withTool = () => new ToolEnv({ dataset: questions("t", 1), tools: [{ name: "look", description: "Looks.", parameters: {}, run: () => null }] });
    expect(withTool().sharedTools()).toMatchObject([{ name: "look", description: "Looks." }]);
    expect(math().sharedTools()).toBeNull();
    expect(new EnvGroup({ envs: [withTool(), withTool()] }).sharedTools()).toMatchObject([{ name: "look" }]);
    expect(new EnvGroup({ envs: [withTool(), math()] }).sharedTools()).toBeNull();
  });

  it("sets options on all members that take them, and refuses those that none does", () => {
    const tools = new ToolEnv({ dataset: questions("t", 1) });
    const group = new EnvGroup({ envs: [math(), tools] });
    group.setKwargs({ max_turns: 4, max_seq_len: 100, score_rollouts: false });
    expect([tools.maxTurns, tools.maxSeqLen, tools.scoreRollouts, group.scoreRollouts]).toEqual([4, 100, false, false]);
    expect(() => group.setKwargs({ tempo: 1 })).toThrow(/no option tempo/);
  });

  it("scores together where a member does, and lets go of all of them", async () => {
    const judged = member("g", "x", { rubric: new Rubric([{ name: "rank", fn: groupReward(({ completions }) => completions.map((_, index) => index)) }]) }, 1);
    const gone: string[] = [];
    judged.onTeardown("gone", () => void gone.push("judged"));
    const group = new EnvGroup({ envs: [math(), judged] });
    expect(group.scoringProblem(true)).toMatchObject({ code: "environment_failed" });
    const { outputs } = await group.evaluate(scriptedClient("x"), "m", { rolloutsPerExample: 2 });
    expect(outputs.map(({ reward }) => reward)).toEqual([0.5, 0.5, 0.5, 0.5, 0, 1]);
    await group.teardown();
    expect(gone).toEqual(["judged"]);
  });

  it("still scores together when a rubric was added to the group", async () => {
    const rank = groupReward(function rank({ completions }) {
      return completions.map((_, index) => index);
    });
    const group = new EnvGroup({ envs: [member("g", "x", { rubric: new Rubric([rank]) }, 1)] });
    group.addRubric(new Rubric([{ name: "extra", fn: () => 10 }]));
    const { outputs } = await group.evaluate(scriptedClient("x"), "m", { rolloutsPerExample: 2 });
    expect(outputs.map(({ reward }) => reward)).toEqual([10, 11]);
  });
});
