import { afterAll, describe, expect, it } from "vitest";
import { PythonEnv } from "../../../src/environments/sandbox/python-env.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import type { RolloutInput, State } from "../../../src/rollouts/types.ts";
import { calls, type Reply, scriptedClient } from "../../support/clients/scripted-client.ts";
import { bubblewrapProblem, openMachine } from "../../support/environments/local-sandboxes.ts";

const problem = await bubblewrapProblem();
if (problem !== null) console.log(`skipped: no sandboxes of this machine (${problem})`);

const INPUT: RolloutInput = { example_id: 0, prompt: [{ role: "user", content: "q" }], task: "t" };
const toolTexts = (state: State): unknown[] => (state.completion ?? []).filter(({ role }) => role === "tool").map(({ content }) => content);
const play = (env: SandboxEnv, ...replies: Reply[]): Promise<State> => env.runRollout(INPUT, scriptedClient(...replies), "m");
const dataset = [{ question: "q" }];

describe.runIf(problem === null)("on sandboxes of this machine", () => {
  const { driver, sandboxes } = openMachine();
  afterAll(() => sandboxes.close());

  it("SandboxEnv's commands share files and processes within a rollout, and nothing between rollouts", async () => {
    const env = new SandboxEnv({ dataset, sandbox: driver, timeoutPerCommandSeconds: 2 });
    const bash = (command: string): Reply => calls(["bash", { command }]);
    const states = await Promise.all(
      ["one", "other"].map((name) =>
        play(
          env,
          bash(`ls; echo ${name} > file`),
          bash("cat file; echo to >&2"),
          bash("sleep 60"),
          bash("while :; do cat /dev/zero; done"),
          bash("cat file"),
          "done",
        ),
      ),
    );
    const late = "Error: Command timed out after 2s";
    expect(states.map(toolTexts)).toEqual([
      ["(no output)", "one\nstderr:\nto", late, late, "one"],
      ["(no output)", "other\nstderr:\nto", late, late, "other"],
    ]);
    expect(states.map(({ error }) => error)).toEqual([null, null]);
    expect(await driver.list([])).toEqual([]);
    await env.teardown();
  }, 60_000);

  it("PythonEnv's process keeps names, and is replaced when a call takes too long", async () => {
    const env = new PythonEnv({ dataset, sandbox: driver, pipInstallPackages: "", timeoutPerCommandSeconds: 3 });
    const python = (code: string): Reply => calls(["python", { code }]);
    const cells = ["x = 20", "x + 22", "open('/etc/shadow')", "import os; os.listdir('/root')", "while True: pass", "'x' in globals()"].map(python);
    const state = await play(env, ...cells, "done");
    expect(toolTexts(state)).toEqual([
      "(no output)",
      "Out[2]: 42",
      expect.stringMatching(/FileNotFoundError/),
      "Out[4]: []",
      expect.stringMatching(/timed out after 3s/),
      "Out[1]: False",
    ]);
    expect([state.error, await driver.list([])]).toEqual([null, []]);
    await env.teardown();
  }, 60_000);
});
