import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type AgentObjects, CliAgentEnv, type CliAgentOptions } from "../../../src/environments/agents/cli-agent-env.ts";
import type { Sandbox } from "../../../src/environments/sandbox/sandbox.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import type { State } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { runExample, type Script } from "../../../src/testing/index.ts";
import { ProcessSandbox } from "../../support/environments/process-sandbox.ts";

const python = spawnSync("python3", ["--version"]).status === 0;
if (!python) console.log("skipped: there is no python3 (tests of CliAgentEnv)");

/** An agent of the standard library alone: it asks until it is told `done`, and writes what it heard into a file. */
const AGENT = `
import json, os, sys, urllib.error, urllib.request
def post(url, body, headers={}):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json", **headers})
    with urllib.request.urlopen(request) as response:
        return response.read().decode()
def chat(messages, **more):
    return post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", {"model": "whatever", "messages": messages, **more})
`;
const LOOP = `${AGENT}
messages = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": open(os.environ["AGENT_PROMPT_FILE"]).read()}]
while True:
    said = json.loads(chat(messages))["choices"][0]["message"]
    messages.append(said)
    if said["content"] == "done":
        break
    messages.append({"role": "user", "content": "and then?"})
open("answer.txt", "w").write("\\n".join(m["content"] for m in messages if m["role"] == "assistant"))
print("finished", os.environ.get("OPENAI_API_KEY"))
`;

/** Each rollout has a sandbox of its own, whose endpoint keeps its files there. */
class Watched extends ProcessSandbox {
  readonly ended: string[] = [];
  readonly made: string[] = [];
  readonly jobs: [id: string, job: string][] = [];
  override async create(...given: Parameters<ProcessSandbox["create"]>): Promise<string> {
    const id = await super.create(...given);
    this.made.push(id);
    return id;
  }
  override async start(...given: Parameters<ProcessSandbox["start"]>): Promise<string> {
    const job = await super.start(...given);
    this.jobs.push([given[0], job]);
    return job;
  }
  override async delete(ids: readonly string[]): Promise<void> {
    this.ended.push(...ids);
    // What ends with a sandbox that has walls.
    for (const [id, job] of this.jobs.splice(0)) await this.stop(id, job);
    await super.delete(ids);
  }
}

class Scripted extends CliAgentEnv {
  readonly #script: string;
  constructor(script: string, options: Partial<CliAgentOptions> & { readonly sandbox: Sandbox }) {
    super({ dataset: [{ question: "Count to two." }], runCommand: "python3 agent.py", agentDir: "endpoint", ...options });
    this.#script = script;
  }
  override async setupSandbox(state: State): Promise<void> {
    const { sandbox, id } = this.sandboxOf(state);
    await sandbox.writeFile(id, "agent.py", new TextEncoder().encode(this.#script));
  }
}

const files = () =>
  new Rubric<AgentObjects>([
    { name: "lines", fn: async ({ state, agent }) => ((await agent.text(state, "answer.txt")) ?? "").split("\n").filter((line) => line !== "").length },
    { name: "has_other", weight: 0, fn: async ({ state, agent }) => (await agent.text(state, "no 'such' file")) !== null },
    { name: "counted", weight: 0, fn: async ({ state, agent }) => Number((await agent.execute(state, "wc -w < answer.txt || echo 0")).stdout) },
  ]);

async function play(script: string, answers: Script, options: Partial<CliAgentOptions> = {}) {
  const sandbox = new Watched();
  const environment = new Scripted(script, { sandbox, rubric: files(), ...options });
  const { state, model } = await runExample(environment, { answers });
  return { state, model, sandbox, environment };
}

describe.runIf(python)("CliAgentEnv", () => {
  it("makes an agent's calls the trajectory, ends with its command, and shows its files to the scorer before the sandbox ends", async () => {
    const { state, model, sandbox } = await play(LOOP, ["one", "two", "done"]);
    expect(state).toMatchObject({ error: null, stop_condition: "agent_completed", agent_exit_code: 0, reward: 3 });
    expect(state.metrics).toMatchObject({ lines: 3, has_other: 0, counted: 3, num_turns: 3, agent_error: 0, agent_timeout: 0 });
    expect(state.agent_stdout).toBe("finished unused\n");
    expect(model.requests.map(({ model: name }) => name)).toEqual(["scripted", "scripted", "scripted"]);
    expect(model.requests[0]?.prompt).toEqual([
      { role: "system", content: "You are an agent." },
      { role: "user", content: "Count to two." },
    ]);
    expect(state.completion?.map(({ content }) => content)).toEqual(["one", "and then?", "two", "and then?", "done"]);
    expect(state.usage).toEqual({ input_tokens: 30, output_tokens: 15 });
    expect(sandbox.ended).toEqual(sandbox.made);
    expect(sandbox.made.map((path) => existsSync(path))).toEqual([false]);
  });

  it("passes answers in pieces, tools, other routes and long requests, several at once", async () => {
    const script = `${AGENT}
from concurrent.futures import ThreadPoolExecutor
streamed = chat([{"role": "user", "content": "stream"}], stream=True, tools=[{"type": "function", "function": {"name": "look", "parameters": {}}}])
assert streamed.rstrip().endswith("data: [DONE]"), streamed
message = json.loads(post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true", {"model": "x", "max_tokens": 5, "system": "Be short.", "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]}))
assert message["content"][0]["text"] == "hi", message
long = json.loads(chat([{"role": "user", "content": "x" * 200000}]))["choices"][0]["message"]["content"]
with ThreadPoolExecutor(3) as pool:
    said = sorted(pool.map(lambda n: json.loads(chat([{"role": "user", "content": str(n)}]))["choices"][0]["message"]["content"], range(3)))
models = json.loads(urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models").read())["data"][0]["id"]
try:
    post(os.environ["OPENAI_BASE_URL"] + "/nothing", {})
except urllib.error.HTTPError as error:
    nothing = error.code
open("answer.txt", "w").write("\\n".join([long, *said, models, str(nothing)]))
`;
    const { state, model } = await play(script, ({ prompt }, call) => {
      if (call === 0) return { content: null, tool_calls: [{ name: "look", arguments: { at: 1 } }] };
      const text = String(prompt.at(-1)?.content);
      return text === "hello" ? "hi" : `${text.length}:${text.slice(0, 1)}`;
    });
    expect(state.agent_stderr).toBe("");
    expect(state).toMatchObject({ error: null, agent_exit_code: 0, reward: 6 });
    expect(state.trajectory.map(({ extras }) => extras.route)).toEqual(["chat/completions", "messages", ...Array(4).fill("chat/completions")]);
    expect(state.trajectory[0]?.completion).toEqual([
      { role: "assistant", content: null, tool_calls: [{ id: "call-1", name: "look", arguments: '{"at":1}' }] },
    ]);
    expect(model.requests[1]?.prompt).toEqual([
      { role: "system", content: "Be short." },
      { role: "user", content: "hello" },
    ]);
  });

  it("tells the agent what was wrong with its request, and ends the rollout for what was not", async () => {
    const script = `${AGENT}
try:
    chat([{"role": "user", "content": "too long"}])
except urllib.error.HTTPError as error:
    open("answer.txt", "w").write(str(error.code))
chat([{"role": "user", "content": "again"}])
`;
    const { state, sandbox } = await play(script, [
      { error: "bad_request", message: "not that" },
      { error: "provider_error", message: "down" },
    ]);
    expect(state.error).toMatchObject({ code: "provider_error", message: "down" });
    expect(state.trajectory.map(({ completion }) => completion[0]?.content)).toEqual([null]);
    expect(sandbox.ended).toEqual(sandbox.made);
    const mended = await play(script, [{ error: "bad_request", message: "not that" }, "fine"]);
    expect(mended.state).toMatchObject({ error: null, stop_condition: "agent_completed", reward: 1 });
  });

  it("an agent that calls nothing is an error where it fails, and scored where it does not", async () => {
    const failed = await play("import sys; sys.exit('no such module')", []);
    expect(failed.state.error).toMatchObject({
      code: "environment_error",
      message: expect.stringMatching(/before it had called the model \(status 1\): no such module/),
    });
    const idle = await play("open('answer.txt', 'w').write('x')", []);
    expect(idle.state).toMatchObject({ error: null, reward: 1, completion: [], trajectory: [] });
    const crashed = await play(`${AGENT}\nchat([{"role": "user", "content": "x"}])\nsys.exit(3)`, ["y"]);
    expect(crashed.state).toMatchObject({ error: null, agent_exit_code: 3, metrics: { agent_error: 1 } });
  });

  it("is ended by its time and by its turns; what it left is scored", async () => {
    const script = `${AGENT}\nopen("answer.txt", "w").write("begun")\nchat([{"role": "user", "content": "x"}])\nimport time; time.sleep(60)`;
    const late = await play(script, ["y"], { timeoutSeconds: 2 });
    expect(late.state).toMatchObject({ error: null, stop_condition: "timeout_reached", reward: 1, metrics: { agent_timeout: 1 } });
    const turns = await play(LOOP, () => "more", { maxTurns: 2 });
    expect(turns.state).toMatchObject({ error: null, stop_condition: "max_turns_reached", reward: 0 });
    expect([...late.sandbox.ended, ...turns.sandbox.ended]).toEqual([...late.sandbox.made, ...turns.sandbox.made]);
  });

  it.each(["null", "[1]", "{", "{}", '{"call": 7, "route": "chat/completions", "body": {}}', '{"call": 1, "route": "../files", "body": {}}'])(
    "an agent that puts something else in the place of its endpoint has broken its sandbox, and nothing else: %s",
    async (line) => {
      const { state, sandbox } = await play(
        `open("endpoint/proxy.py", "w").write(${JSON.stringify(`print(${JSON.stringify(line)})`)})\nimport time; time.sleep(60)`,
        [],
      );
      expect(state.error).toMatchObject({
        code: "sandbox_error",
        message: expect.stringMatching(/the agent's endpoint (says what is no call|cannot be read|does not wait for the agent's next call)/),
      });
      expect(sandbox.ended).toEqual(sandbox.made);
    },
    // Where its first call was waited for already, that wait is over first: twenty seconds.
    90_000,
  );

  it("needs python3 in its sandbox, which it says", async () => {
    const sandbox = new ScriptedSandbox({ execute: (command) => (command.includes("proxy.log") ? "sh: python3: not found" : "") });
    const { state } = await runExample(new Scripted(LOOP, { sandbox }), { answers: [] });
    expect(state.error).toMatchObject({
      code: "sandbox_error",
      message: expect.stringMatching(/did not start in the sandbox, which needs python3: sh: python3: not found/),
    });
    expect(sandbox.running).toEqual([]);
  });
});
