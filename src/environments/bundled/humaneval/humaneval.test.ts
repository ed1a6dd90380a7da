import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { ProcessSandbox } from "../../../../test/support/environments/process-sandbox.ts";
import { testData } from "../../../../test/support/results/test-data.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { passAtK } from "../../../metrics/pass-at-k.ts";
import { runExample, runGroup, testEnvironment } from "../../../testing/index.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { ScriptedSandbox, type ScriptedCommand } from "../../sandbox/scripted-sandbox.ts";
import { humaneval } from "./humaneval.ts";
import { programOf } from "./program.ts";

const FILE = testData("humaneval", "HumanEval.jsonl.gz");
const python = spawnSync("python3", ["--version"]).status === 0;
if (!python) console.log("skipped: there is no python3 (tests that run programs)");

const PROMPT =
  'from typing import List\n\n\ndef half(n: int) -> int:\n    return n // 2\n\n\ndef halves(numbers: List[int]) -> List[int]:\n    """ Half of each number, rounded down.\n    >>> halves([4, 3])\n    [2, 1]\n    """\n';
const PROBLEM: JsonObject = {
  task_id: "Own/0",
  prompt: PROMPT,
  entry_point: "halves",
  canonical_solution: "    return [half(n) for n in numbers]\n",
  test: "\n\nMETADATA = {}\n\n\ndef check(candidate):\n    assert candidate([4, 3]) == [2, 1]\n    assert candidate([]) == []\n",
};
const RIGHT = "def halves(numbers: List[int]) -> List[int]:\n    return [half(n) for n in numbers]\n";
const fenced = (code: string, language = "python"): string => `\`\`\`${language}\n${code}\`\`\``;

const open = (sandbox: Sandbox, args: JsonObject = {}) => testEnvironment(humaneval, { rows: [PROBLEM], args, sandbox });
const scripted = (execute: ScriptedCommand) => new ScriptedSandbox({ execute });

describe("the program of an answer", () => {
  const problem = { task_id: "0", prompt: PROMPT, entry_point: "halves", test: "" };
  it.each([
    ["a whole function in a fence, behind the prompt whose imports it uses", `Sure:\n${fenced(RIGHT)}\nDone.`, `${PROMPT}\n${RIGHT}`],
    [
      "the last block that defines the function",
      `${fenced("def halves(x): pass\n")}\n${fenced(RIGHT, "py")}\n${fenced("print(halves([2]))\n")}`,
      `${PROMPT}\n${RIGHT}`,
    ],
    ["a block that was cut off", `\`\`\`python\n${RIGHT}`, `${PROMPT}\n${RIGHT}`],
    ["a whole function without a fence", RIGHT, `${PROMPT}\n${RIGHT}`],
    ["a body", "    return numbers", `${PROMPT}    return numbers`],
    ["a body whose first indentation is lost, up to what is not its own", "x = 1\n    return x\nprint(halves([]))", `${PROMPT}    x = 1\n    return x`],
    ["a body in a fence", fenced("    return numbers\n"), `${PROMPT}    return numbers`],
    ["another function is none", fenced("def halves_of(n):\n    return n\n"), `${PROMPT}    def halves_of(n):\n    return n`],
  ])("%s", (_, answer, program) => {
    expect(programOf(answer, problem)).toBe(program);
  });
});

describe("humaneval", () => {
  it("asks for the function in a fence, and takes another way to ask", async () => {
    const input = async (args: JsonObject) => (await open(new ScriptedSandbox(), args).getEvalDataset())[0];
    expect((await input({}))?.prompt).toEqual([{ role: "user", content: expect.stringMatching(/one block of code\.\n\n```python\nfrom typing[\s\S]*```$/) }]);
    expect((await input({ user_template: "{prompt}", system_prompt: "Write." }))?.prompt.map(({ content }) => content)).toEqual(["Write.", PROMPT]);
    expect(() => open(new ScriptedSandbox(), { user_template: "x" })).toThrow(/user_template must have one place \{prompt\}, not 0/);
  });

  it("refuses rows that are no problems, by row and column", async () => {
    const read = (row: JsonObject) => testEnvironment(humaneval, { rows: [PROBLEM, row] }).getEvalDataset();
    await expect(read({ ...PROBLEM, test: 1 })).rejects.toThrow(/row 1 has no text in the column test/);
    await expect(read({ ...PROBLEM, entry_point: "f(); x" })).rejects.toThrow(/row 1: entry_point is "f\(\); x"/);
  });

  it("says what it needs a sandbox for where the run does not allow one, and ends each", async () => {
    expect(humaneval.check({ env_args: {}, allowed: [] })).toMatchObject({ option: "allow_sandbox_access" });
    const sandbox = scripted(() => "");
    await runExample(open(sandbox), { answers: ["pass"] });
    expect([sandbox.created.length, sandbox.running]).toEqual([1, []]);
    expect(sandbox.created[0]?.spec).toMatchObject({ name: "humaneval", docker_image: "python:3.11-slim" });
  });

  it("a sandbox that fails is an error around the rollout, and another one is tried first", async () => {
    const broken = scripted(() => ({ exit_code: 127, stderr: "sh: python3: not found" }));
    vi.useFakeTimers();
    const playing = runExample(open(broken), { answers: [fenced(RIGHT)] });
    await vi.advanceTimersByTimeAsync(60_000).finally(() => vi.useRealTimers());
    const { state } = await playing;
    expect(state).toMatchObject({
      error: { code: "sandbox_error", message: expect.stringMatching(/^passed: no program can be run in the sandbox: sh: python3/) },
    });
    expect(state.metrics).not.toHaveProperty("passed");
    expect([broken.created.length, broken.running]).toEqual([5, []]);
  });

  it("a program that is ended by its time, or says nothing, has failed", async () => {
    for (const answer of [{ timeout: true } as const, { exit_code: 152 }, { exit_code: 137, stderr: "Killed" }, { exit_code: 0, stdout: "passed" }]) {
      const { state } = await runExample(open(scripted(() => answer)), { answers: [fenced(RIGHT)] });
      expect([state.reward, state.error]).toEqual([0, null]);
    }
    const sandbox = scripted(() => "");
    const { state } = await runExample(open(sandbox), { answers: [fenced(`${RIGHT}#${"x".repeat(120_000)}`)] });
    expect([state.test_result, state.reward, sandbox.created[0]?.commands]).toEqual([expect.stringMatching(/too long/), 0, []]);
  });
});

describe.runIf(python)("humaneval, with a real Python", () => {
  it.each([
    ["the right function", fenced(RIGHT), 1, "passed"],
    ["a right body", "return [half(n) for n in numbers]", 1, "passed"],
    ["behind thinking", `<think>${fenced("def halves(n): pass\n")}</think>${fenced(RIGHT)}`, 1, "passed"],
    ["a wrong one", fenced("def halves(numbers):\n    return numbers\n"), 0, "failed: AssertionError: "],
    ["no Python", fenced("def halves(numbers:\n"), 0, /^failed: SyntaxError/],
    ["nothing", "", 0, "failed: AssertionError: "],
    ["ends before the tests", fenced(`${RIGHT}import os\nos._exit(0)\n`), 0, /status 0$/],
    ["leaves before the tests", fenced(`${RIGHT}raise SystemExit(0)\n`), 0, "failed: SystemExit: 0"],
    [
      "says that it passed",
      fenced(
        'def halves(n):\n    import os\n    for fd in range(99):\n        try: os.write(fd, b\'{"verdict": "passed"}\\n\')\n        except OSError: pass\n    os._exit(0)\n',
      ),
      0,
      /status 0$/,
    ],
    ["fills its output", fenced(`${RIGHT}print("x" * 10_000_000)\n`), 1, "passed"],
    ["an error that cannot be shown", fenced("class E(Exception):\n    def __str__(self): raise self\ndef halves(n):\n    raise E()\n"), 0, /cannot be shown/],
    ["computes for ever", fenced("def halves(n):\n    while True: pass\n"), 0, /^timed out/],
  ])("%s: %j is worth %d", async (_, answer, reward, said) => {
    const { state } = await runExample(open(new ProcessSandbox(), { timeout_seconds: 1 }), { answers: [answer] });
    expect(state).toMatchObject({
      error: null,
      reward,
      metrics: { passed: reward },
      test_result: typeof said === "string" ? said : expect.stringMatching(said),
    });
  });

  it("scores rollouts of one problem side by side, which is what pass@k is made of", async () => {
    const { states } = await runGroup(open(new ProcessSandbox()), { answers: [[fenced(RIGHT)], ["no"], [fenced(RIGHT)], ["no"]] });
    expect(states.map(({ reward }) => reward)).toEqual([1, 0, 1, 0]);
  });

  it.runIf(FILE !== null)("all 164 canonical solutions pass, and 164 broken ones fail", { timeout: 300_000 }, async () => {
    const rows = gunzipSync(readFileSync(FILE ?? ""))
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<"prompt" | "canonical_solution" | "entry_point", string>);
    expect(rows).toHaveLength(164);
    const environment = testEnvironment(humaneval, { rows, sandbox: new ProcessSandbox() });
    const inputs = await environment.getEvalDataset();
    const rewards = async (answers: readonly string[]): Promise<unknown[]> => {
      const given = new Array<unknown>(answers.length);
      const left = answers.entries();
      const work = async (): Promise<void> => {
        for (const [at, answer] of left) {
          const { state } = await runExample(environment, { answers: [answer], example: inputs[at] as never });
          given[at] = state.error ?? state.reward;
        }
      };
      await Promise.all([work(), work(), work()]);
      return given;
    };
    // As chat models answer, and as others do.
    const canonical = rows.map(({ prompt, canonical_solution }, at) => (at % 2 === 0 ? fenced(prompt + canonical_solution) : canonical_solution));
    expect(await rewards(canonical)).toEqual(rows.map(() => 1));
    const breaks = [
      "    return None\n",
      "    raise ValueError\n",
      "    return (\n",
      "    import os; os._exit(0)\n",
      "    exit(0)\n",
      "    print('passed')\n",
    ] as const;
    expect(await rewards(rows.map(({ prompt }, at) => fenced(prompt + (breaks[at % breaks.length] ?? ""))))).toEqual(rows.map(() => 0));
  });
});

/** The reference's estimator (human_eval/evaluation.py): 1 - prod(1 - k / (n - c + 1 .. n)). */
it("pass@k of a report is the reference's unbiased estimator", () => {
  for (const n of [1, 2, 5, 20, 200])
    for (let c = 0; c <= n; c += Math.max(1, Math.floor(n / 10)))
      for (const k of [1, 2, 4, 10, 100].filter((each) => each <= n)) {
        let product = 1;
        for (let i = n - c + 1; i <= n; i++) product *= 1 - k / i;
        expect(passAtK(n, c, k)).toBeCloseTo(n - c < k ? 1 : 1 - product, 10);
      }
});
