import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { ProcessSandbox } from "../../../../test/support/environments/process-sandbox.ts";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import { ScriptedSandbox } from "../../sandbox/scripted-sandbox.ts";
import { pythonMath } from "./python-math.ts";

const python = spawnSync("python3", ["--version"]).status === 0;
if (!python) console.log("skipped: there is no python3 (tests of python-math that calculate)");

const rows = [{ question: "What is the sum of the first 100 squares?", answer: "338350" }];
const call = (code: string) => ({ tool_calls: [{ name: "python", arguments: { code } }] });

describe("python-math", () => {
  it("asks with what is there to calculate with", async () => {
    const asked = async (args: object) =>
      (await testEnvironment(pythonMath, { rows, args: { ...args }, sandbox: new ScriptedSandbox() }).getEvalDataset())[0]?.prompt;
    expect(await asked({})).toEqual([
      {
        role: "user",
        content: `Solve the following math problem. Explain your reasoning and put the final answer in \\boxed{}. Use Python for all calculations.\n\nYou have the Python standard library.\n\n${rows[0]?.question}`,
      },
    ]);
    expect((await asked({ pip_install_packages: " sympy " }))?.[0]?.content).toMatch(/you have access to: sympy\.\n/);
    expect((await asked({ instruction_prompt: "" }))?.[0]?.content).toBe(rows[0]?.question);
  });

  it("needs a sandbox, with what was asked for, and installs what was named", async () => {
    expect(pythonMath.check({ env_args: {}, allowed: [] })).toMatchObject({ option: "allow_sandbox_access" });
    const sandbox = new ScriptedSandbox({
      execute: (command) => (command.includes("answer-0") ? '{"stdout":"","stderr":"","error":null,"result":"2","count":1}' : ""),
    });
    const args = { pip_install_packages: "sympy", sandbox_memory_gb: 3, max_turns: 1 };
    const { state, model } = await runExample(testEnvironment(pythonMath, { rows, args: { ...args, max_turns: 2 }, sandbox }), {
      answers: [call("1 + 1"), "\\boxed{2}"],
    });
    expect(state).toMatchObject({ error: null, reward: 0, metrics: { correct_answer: 0, python_calls: 1, num_turns: 2 } });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["python"]);
    expect(sandbox.created[0]?.spec).toMatchObject({ name: "python-env", memory_gb: 3 });
    expect(sandbox.created[0]?.commands[0]).toContain("pip install -q sympy");
    expect(sandbox.running).toEqual([]);
  });

  it.runIf(python)("calculates, with names that stay, and compares the answer as mathematics", async () => {
    const environment = testEnvironment(pythonMath, { rows, sandbox: new ProcessSandbox() });
    const { state } = await runExample(environment, {
      answers: [call("squares = [n * n for n in range(1, 101)]"), call("sum(squares)"), "It is \\boxed{338{,}350.0}."],
    });
    expect(state).toMatchObject({ error: null, reward: 1, stop_condition: "no_tools_called", metrics: { python_calls: 2 } });
    expect(state.completion?.flatMap(({ role, content }) => (role === "tool" ? [content] : []))).toEqual(["(no output)", "Out[2]: 338350"]);
  });
});
