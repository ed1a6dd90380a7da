import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { benchmark, defineBenchmark } from "../../../src/environments/bundled/benchmark/benchmark.ts";
import { runExample, scriptedModel, testEnvironment } from "../../../src/testing/index.ts";

const task = (task_id: string, verifier: JsonObject, more: JsonObject = {}): JsonObject => ({ task_id, instruction: `Task ${task_id}?`, verifier, ...more });
const contains = (expected: string): JsonObject => ({ kind: "in_process", function: "contains", expected });
const JUDGED = task("j", { kind: "llm_judge", rubric: "Is it kind?", expected: "Hello!" });
const JUDGE: JsonObject = { judge_base_url: "https://judge.example/v1", judge_api_key_var: "JUDGE_API_KEY" };

describe("a benchmark that is defined as an environment", () => {
  it("is one of its own id, with its own tasks", async () => {
    const capitals = defineBenchmark({ id: "capitals", version: "1", description: "", dataset: { dataset: "https://example.com/tasks.jsonl" } });
    expect(capitals).toMatchObject({ id: "capitals", defaults: { num_examples: -1, rollouts_per_example: 1 } });
    expect(() => testEnvironment(capitals)).not.toThrow();
    const { state } = await runExample(testEnvironment(capitals, { rows: [task("a", contains("!"))] }), { answers: ["Hello!"] });
    expect(state).toMatchObject({ reward: 1, task: "capitals" });
    expect(() => testEnvironment(capitals, { args: { user_template: "" } })).toThrow(/environment capitals: user_template/);
  });
});

describe("the environment benchmark", () => {
  it("asks a task as its template says, behind the task's own system prompt or the one of the run", async () => {
    const rows = [task("a", contains("!")), task("b", contains("!"), { system_prompt: "Own." })];
    const environment = testEnvironment(benchmark, { rows, args: { system_prompt: "All.", user_template: "<{prompt}>" } });
    const examples = await Array.fromAsync(environment.examples(-1));
    expect(examples.map(({ prompt }) => prompt.map(({ role, content }) => `${role}: ${content}`))).toEqual([
      ["system: All.", "user: <Task a?>"],
      ["system: Own.", "user: <Task b?>"],
    ]);
  });

  it("takes the first so many tasks in their order, and counts all of them", async () => {
    // What stands behind the last one that is taken is not looked into.
    const rows = [...["a", "b", "c"].map((id) => task(id, contains("!"))), task("d", { kind: "e2b" }), { task_id: "no task" }];
    const environment = testEnvironment(benchmark, { rows });
    expect((await Array.fromAsync(environment.examples(2))).map(({ info }) => info?.task_id)).toEqual(["a", "b"]);
    expect(environment.datasetSize).toBe(5);
    await expect(Array.fromAsync(environment.examples(-1))).rejects.toThrow(/benchmark task d cannot be run/);
  });

  it("asks the judge that the run names with the rubric, and takes yes, no and nothing else for an answer", async () => {
    const judged = async (said: string) => {
      const asked: string[] = [];
      const client = scriptedModel(({ prompt }) => {
        asked.push(String(prompt[0]?.content));
        return said;
      });
      const environment = testEnvironment(benchmark, { rows: [JUDGED], args: JUDGE, client });
      const { state } = await runExample(environment, { answers: ["Good day."] });
      return { asked, reward: state.reward, error: state.error };
    };
    const yes = await judged("Yes, it is.");
    expect(yes.reward).toBe(1);
    expect(yes.asked).toHaveLength(1);
    for (const part of ["Task j?", "Good day.", "Hello!", "Is it kind?"]) expect(yes.asked[0]).toContain(part);
    expect((await judged("no")).reward).toBe(0);
    expect((await judged("Perhaps.")).error).toMatchObject({ message: expect.stringContaining("neither yes nor no") });
    expect(() => testEnvironment(benchmark, { rows: [JUDGED], args: { judge_base_url: "https://judge.example/v1" } })).toThrow(/needs judge_api_key_var/);
    await expect(Array.fromAsync(testEnvironment(benchmark, { rows: [JUDGED] }).examples(-1))).rejects.toThrow(/needs a judge/);
  });
});
