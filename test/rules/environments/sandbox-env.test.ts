import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PythonEnv } from "../../../src/environments/sandbox/python-env.ts";
import { SandboxEnv, type SandboxOptions } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox, type ScriptedCommand } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import type { RolloutInput, State } from "../../../src/rollouts/types.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";
import { ProcessSandbox } from "../../support/environments/process-sandbox.ts";
import { JOB, LONG_OUTPUT, sandboxConformance } from "../../support/environments/sandbox-conformance.ts";
import { calls, type Reply, scriptedClient } from "../../support/clients/scripted-client.ts";

/** Just enough of a shell for the conformance suite. */
const shell: ScriptedCommand = (command, { spec }, { timeoutSeconds }) => {
  if (command.startsWith("sleep")) return timeoutSeconds < Number(command.slice(6)) || timeoutSeconds === Number.POSITIVE_INFINITY ? { timeout: true } : "";
  if (command === LONG_OUTPUT) return `begin\n${"x".repeat(3_000_000)}\nend\n`;
  if (command === JOB) return { stdout: "begun\n", stderr: "over\n", exit_code: 3 };
  if (command.startsWith("echo out;")) return { stdout: "out\n", stderr: "err\n", exit_code: 4 };
  if (command === 'echo "$GREETING"') return `${spec.environment_vars.GREETING}\n`;
  return command.startsWith("echo ") ? `${command.slice(5)}\n` : "";
};
sandboxConformance("a script", () => new ScriptedSandbox({ execute: shell }));
sandboxConformance("processes of this machine", () => new ProcessSandbox());

const INPUT: RolloutInput = { example_id: 0, prompt: [{ role: "user", content: "q" }], task: "t" };
const now = async (): Promise<void> => undefined;
const environment = (sandbox: ScriptedSandbox, options: Partial<SandboxOptions> = {}): SandboxEnv =>
  new SandboxEnv({ dataset: [{ question: "q" }], sandbox, sleep: now, ...options });
const play = (env: SandboxEnv, ...replies: Reply[]): Promise<State> => env.runRollout(INPUT, scriptedClient(...replies), "m");
const toolTexts = (state: State): unknown[] => (state.completion ?? []).filter(({ role }) => role === "tool").map(({ content }) => content);
const bash = (command: string): Reply => calls(["bash", { command }]);

describe("SandboxEnv", () => {
  it("gives each rollout a sandbox of its own, with what was asked for, and ends it", async () => {
    const sandbox = new ScriptedSandbox({ execute: (command) => `ran ${command}` });
    const env = environment(sandbox, { sandboxName: "box", memoryGb: 4, environmentVars: { A: "1" }, labels: ["x"] });
    const states = await Promise.all([play(env, bash("one"), "done"), play(env, bash("two"), "done")]);
    expect(states.map(toolTexts)).toEqual([["ran one"], ["ran two"]]);
    expect(sandbox.created.map(({ id, commands }) => [id, commands])).toEqual([
      ["box-0", ["one"]],
      ["box-1", ["two"]],
    ]);
    expect(sandbox.created[0]?.spec).toMatchObject({
      docker_image: "python:3.11-slim",
      cpu_cores: 1,
      memory_gb: 4,
      environment_vars: { A: "1" },
      labels: ["x"],
    });
    expect(sandbox.running).toEqual([]);
    expect(states[0]).toMatchObject({
      sandbox_id: "box-0",
      sandbox_state: { ready: true },
      metrics: {
        num_turns: 2,
        total_tool_calls: 1,
        bash_calls: 1,
        sandbox_ready_wait_time: expect.any(Number),
        sandbox_command_execution_time: expect.any(Number),
      },
    });
  });

  it("shows the model a command and nothing else", () => {
    expect(Object.keys((environment(new ScriptedSandbox()).toolDefs[0]?.parameters.properties ?? {}) as object)).toEqual(["command"]);
  });

  it.each([
    ["output and errors", { stdout: " out \n", stderr: "warn\n" }, "out\nstderr:\nwarn"],
    ["errors alone", { stderr: "warn" }, "stderr:\nwarn"],
    ["nothing", "", "(no output)"],
    ["more than it may be", { stdout: "x", stdout_truncated: true as const }, "x\n[cut: more than 1048576 bytes]"],
    ["too long", { timeout: true as const }, "Error: Command timed out after 30s"],
  ])("tells of %s", async (_what, answer, text) => {
    expect(toolTexts(await play(environment(new ScriptedSandbox({ execute: () => answer })), bash("x"), "done"))).toEqual([text]);
  });

  it("works where the state says", async () => {
    const folders: unknown[] = [];
    const env = environment(new ScriptedSandbox({ execute: (_command, _instance, { workingDir }) => String(folders.push(workingDir)) }));
    const setup = env.setupState.bind(env);
    env.setupState = async (state) => {
      await setup(state);
      state.working_dir = "/work";
    };
    await play(env, bash("x"), "done");
    expect(folders).toEqual(["/work"]);
  });

  it("ends a rollout whose sandbox fails with an error that is tried again", async () => {
    let broken = true;
    const sandbox = new ScriptedSandbox({ execute: () => (broken ? new SandboxError("gone") : "fine") });
    expect((await play(environment(sandbox), bash("x"))).error).toMatchObject({
      code: "sandbox_error",
      chain: [{ name: "ToolCallError" }, { name: "SandboxError" }],
    });
    expect(sandbox.running).toEqual([]);
    const client = scriptedClient(
      () => bash("x"),
      () => {
        broken = false;
        return bash("x");
      },
      "done",
    );
    broken = true;
    const state = await environment(sandbox).runRollout(INPUT, client, "m", { maxRetries: 1 });
    expect([state.error, toolTexts(state)]).toEqual([null, ["fine"]]);
  });

  it("asks a provider that fails five times", async () => {
    expect((await play(environment(new ScriptedSandbox({ failures: { create: 4 } })), "done")).error).toBeNull();
    const none = new ScriptedSandbox({ failures: { create: 5 } });
    const state = await play(environment(none), "done");
    expect(state).toMatchObject({ stop_condition: "has_error", error: { code: "sandbox_error", chain: [{ name: "SandboxCreationError" }] } });
    const unready = await play(environment(new ScriptedSandbox({ failures: { ready: 1 } })), bash("x"));
    expect(unready.error?.chain.map(({ name }) => name)).toEqual(["ToolCallError", "SandboxNotReadyError"]);
  });

  it("lets an environment take files out before the end, and ends the rest at teardown", async () => {
    const sandbox = new ScriptedSandbox({ failures: { delete: 5 } });
    const seen: unknown[] = [];
    const env = environment(sandbox);
    env.postRollout = async (state) => void seen.push(sandbox.running.includes(String(state.sandbox_id)));
    expect((await play(env, "done")).error).toBeNull();
    expect([seen, sandbox.running]).toEqual([[true], ["sandbox-env-0"]]);
    await env.teardown();
    expect(sandbox.running).toEqual([]);
  });
});

const python = spawnSync("python3", ["--version"]).status === 0;
if (!python) console.log("skipped: there is no python3 (tests of PythonEnv)");

describe.runIf(python)("PythonEnv, with a real Python", () => {
  const withEnv = async (work: (run: (...code: string[]) => Promise<{ texts: unknown[]; state: State }>) => Promise<void>, seconds = 20): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), "edgewise-python-"));
    const env = new PythonEnv({
      dataset: [{ question: "q" }],
      sandbox: new ProcessSandbox(),
      pipInstallPackages: "",
      workerDir: join(folder, "worker"),
      timeoutPerCommandSeconds: seconds,
    });
    // The folder stands for the sandbox's own, whose processes end with it.
    env.postRollout = async (state) =>
      void (await env.sandbox.execute(String(state.sandbox_id), `kill -9 "$(cat ${join(folder, "worker/pid")})"`, { timeoutSeconds: 5 }));
    try {
      await work(async (...code) => {
        const state = await play(env, ...code.map((each) => calls(["python", { code: each }])), "done");
        return { texts: toolTexts(state), state };
      });
    } finally {
      await env.teardown();
      rmSync(folder, { recursive: true, force: true });
    }
  };

  it("keeps names from call to call, shows the last value, what was printed, and what went wrong", () =>
    withEnv(async (run) => {
      const { texts, state } = await run("x = 20", "print('héllo')\nx + 22", "import sys; print('w', file=sys.stderr)", "1/0", "x");
      expect(state.error).toBeNull();
      expect(texts.slice(0, 3)).toEqual(["(no output)", "héllo\nOut[2]: 42", "stderr:\nw"]);
      expect(texts[3]).toMatch(/Traceback[\s\S]*ZeroDivisionError: division by zero$/);
      expect(texts[4]).toBe("Out[5]: 20");
      expect(state.metrics).toMatchObject({ python_calls: 5, python_ready_wait_time: expect.any(Number) });
    }));

  it("starts another process after a call that took too long", () =>
    withEnv(async (run) => {
      const { texts } = await run("y = 1", "while True: pass", "'y' in globals()");
      expect(texts).toEqual(["(no output)", expect.stringMatching(/timed out after 1.5s/), "Out[1]: False"]);
    }, 1.5));

  it("is an error of the sandbox when the process is gone", () =>
    withEnv(async (run) => {
      const { state } = await run("import os; os._exit(0)");
      expect(state.error).toMatchObject({ code: "sandbox_error", chain: [{ name: "ToolCallError" }, { name: "PythonWorkerDeadError" }] });
    }));
});

it("a Python process that does not start is told from one that died", async () => {
  const sandbox = new ScriptedSandbox({ execute: (command) => (command.includes("mkfifo") ? { exit_code: 1, stderr: "no pip" } : "") });
  const env = new PythonEnv({ dataset: [{ question: "q" }], sandbox, sleep: now });
  const state = await play(env, calls(["python", { code: "1" }]));
  expect(state.error?.chain.map(({ name }) => name)).toEqual(["ToolCallError", "PythonWorkerNotReadyError", "SandboxError"]);
  expect(sandbox.created[0]?.spec.name).toBe("python-env");
});
