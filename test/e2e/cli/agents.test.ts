import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";

const WALL = spawnSync("bwrap", ["--version"]).status === 0;
if (!WALL) console.log("skipped: there is no bubblewrap (an agent in a sandbox of this machine)");

/** Asks twice, by two routes' addresses, and leaves what it heard. */
const ENVIRONMENT = `
import { CliAgentEnv, defineEnvironment, Rubric, z } from "edgewise";

const AGENT = \`
import json, os, urllib.request
def ask(text):
    body = {"model": "agent-model", "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read())["choices"][0]["message"]["content"]
task = open(os.environ["AGENT_PROMPT_FILE"]).read()
with open("answer.txt", "w") as file:
    file.write(ask(task) + "|" + ask("again"))
keys = [name for name, value in os.environ.items() if "secret" in value]
print(json.dumps({"keys": keys, "key": os.environ["OPENAI_API_KEY"]}))
\`;

class Asking extends CliAgentEnv {
  async setupSandbox(state) {
    const { sandbox, id } = this.sandboxOf(state);
    await sandbox.writeFile(id, "agent.py", new TextEncoder().encode(AGENT));
  }
}

export default defineEnvironment({
  id: "asking", version: "1.0.0", description: "An agent that asks.", args: z.object({}),
  load: (_args, { sandbox }) => new Asking({
    sandbox: sandbox(), runCommand: "python3 agent.py", timeoutSeconds: 60,
    dataset: [{ question: "abc" }, { question: "def" }],
    rubric: new Rubric([
      { name: "left", fn: async ({ state, agent }) => (await agent.text(state, "answer.txt")) === [...state.prompt[0].content].reverse().join("") + "|niaga" },
    ]),
  }),
});
`;

it.runIf(WALL)(
  "an agent in a sandbox of this machine, of an environment in an isolate: its calls are the run's, and its files are scored",
  { timeout: 120_000 },
  inPlace({ answer: "reverse", api_key: "a-secret-key" }, async (bench) => {
    const { place } = bench;
    writeFileSync(join(place.folder, "asking.ts"), ENVIRONMENT);
    const env = { OPENAI_API_KEY: "a-secret-key" };
    const args = ["-m", "scripted", "-b", bench.model.url, "-k", "OPENAI_API_KEY", "-n", "2", "-r", "2", "-C", "agent_stdout,agent_exit_code"];
    const { code, stderr } = await place.run(["eval", "run", "./asking.ts", ...args], env);
    expect(code, stderr).toBe(0);
    expect(bench.rows).toHaveLength(4);
    for (const row of bench.rows) {
      expect(row).toMatchObject({ error: null, reward: 1, num_turns: 2, stop_condition: "agent_completed", agent_exit_code: 0 });
      expect(row.agent_stdout).toBe('{"keys": [], "key": "unused"}\n');
    }
    expect(bench.model.ledger.stats().total).toBeGreaterThanOrEqual(8);
  }),
);
