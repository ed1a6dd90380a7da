import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import type { EnvironmentPlace } from "../../../src/environment-http/environment-server.ts";
import { healthOf } from "../../../src/environment-http/health.ts";
import { httpOpener } from "../../../src/environment-http/http-opener.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { isPassing } from "../../../src/errors/passing.ts";
import { failureOf } from "../../../src/errors/result.ts";
import type { Client, RelayReply, RelayRequest } from "../../../src/rollouts/types.ts";
import { describeWalled, walledEnvironment } from "../../../src/walled/walled-environment.ts";
import { context } from "../../support/walled/both.ts";
import { unitOptions } from "../../support/walled/units.ts";

/** A Python with `verifiers`. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
const PACKAGE = join(import.meta.dirname, "../../../python");

function whyNot(): string | null {
  if (PYTHON === "") return "EDGEWISE_TEST_PYTHON is not set";
  try {
    execFileSync(PYTHON, ["-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('verifiers') is None)"], { stdio: "ignore" });
    return null;
  } catch {
    return `${PYTHON} has no verifiers`;
  }
}
const reason = whyNot();
if (reason !== null) console.log(`skipped: ${reason} (the engine with the Python package's server)`);

const processes: ChildProcess[] = [];
afterEach(() => {
  for (const each of processes.splice(0)) each.kill("SIGKILL");
});

async function serving(name: string): Promise<EnvironmentPlace & { readonly process: ChildProcess }> {
  const child = spawn(PYTHON, ["-m", "edgewise_env", join(PACKAGE, `tests/environments/${name}.py`), "--with-parent"], {
    cwd: PACKAGE,
    stdio: ["pipe", "pipe", "ignore"],
  });
  processes.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { url, token } = JSON.parse(line) as EnvironmentPlace;
  return { url, token, process: child };
}

async function opened(place: EnvironmentPlace, args = {}) {
  const open = httpOpener(place, { fetch, waitMs: 20, repeatMs: 500 });
  const facts = await describeWalled(open);
  return { facts, hosted: await walledEnvironment(facts, open).load(args, context) };
}

const reply = (content: string): RelayReply => ({
  status: 200,
  content_type: "application/json",
  text: JSON.stringify({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  }),
});
/** A client that is asked by requests that are passed on, and by nothing else. */
function relaying(answer: (request: RelayRequest) => RelayReply | Promise<RelayReply>): Client & { readonly requests: RelayRequest[] } {
  const requests: RelayRequest[] = [];
  return {
    type: "openai_chat_completions",
    requests,
    getResponse: () => Promise.reject(new Error("not asked this way")),
    relay: async (request) => {
      requests.push(request);
      request.onBegin?.();
      return await answer(request);
    },
  };
}
const rowsOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as { example_id: number; reward: number; error: { code: string } | null });

describe.skipIf(reason !== null)("an environment of Python, served by its package", () => {
  it("is described, loaded, read and played, with its library's rows", { timeout: 120_000 }, async () => {
    const place = await serving("single_turn");
    const { facts, hosted } = await opened(place, { size: 4 });
    expect(facts).toMatchObject({ id: expect.any(String) as string, args: [{ name: "size", default: 3 }, { name: "shout" }, { name: "mood" }] });
    expect(hosted.traits).toMatchObject({ whole: true, args: expect.objectContaining({ size: 4 }) as object });
    const examples = await Array.fromAsync(hosted.examples(-1));
    expect(examples.map(({ prompt }) => prompt.at(-1)?.content)).toEqual([0, 1, 2, 3].map((n) => `What is ${n}?`));
    const client = relaying(({ body }) => reply(/\d+/.exec(JSON.stringify(body.messages))?.[0] ?? ""));
    const units = await Promise.all(examples.map((input) => runUnit(hosted, input, unitOptions(client, 3))));
    const rows = rowsOf(units.flatMap(({ lines }) => lines));
    expect(rows.map(({ example_id, reward, error }) => [example_id, reward, error])).toEqual(
      [0, 1, 2, 3].flatMap((id) => Array.from({ length: 3 }, () => [id, 1, null])),
    );
    expect(client.requests).toHaveLength(12);
    expect(client.requests[0]).toMatchObject({ route: "chat/completions", model: "m", body: expect.objectContaining({ temperature: 0.5 }) as object });
    expect((await healthOf(place, fetch)).conversations).toBe(1);
    await hosted.teardown();
    await expect.poll(async () => (await healthOf(place, fetch)).conversations).toBe(0);
  });

  it("whose process is killed leaves errors around the rollouts, and cannot be opened, which may pass", { timeout: 120_000 }, async () => {
    const place = await serving("single_turn");
    const { hosted } = await opened(place);
    const [input] = await Array.fromAsync(hosted.examples(1));
    if (input === undefined) throw new Error("no example");
    const client = relaying(async () => {
      place.process.kill("SIGKILL");
      return await new Promise<never>(() => undefined);
    });
    const { lines } = await runUnit(hosted, input, unitOptions(client, 2));
    expect(rowsOf(lines).map(({ error }) => error?.code)).toEqual(["sandbox_error", "sandbox_error"]);
    const failed: unknown = await runUnit(hosted, input, unitOptions(client, 1)).catch((thrown: unknown) => thrown);
    expect([failureOf(failed).code, isPassing(failed)]).toEqual(["environment_failed", true]);
    expect(failureOf(failed).message).not.toContain(place.token);
  });

  it("ends what nobody wants any more", { timeout: 120_000 }, async () => {
    const place = await serving("word_chain");
    const { hosted } = await opened(place);
    const [input] = await Array.fromAsync(hosted.examples(1));
    if (input === undefined) throw new Error("no example");
    const stop = new AbortController();
    const client = relaying(async () => {
      stop.abort(new Error("the run was cancelled"));
      return await new Promise<never>(() => undefined);
    });
    const outcome = await runUnit(hosted, input, unitOptions(client, 2, { signal: stop.signal }));
    expect(outcome).toMatchObject({ aborted: true, lines: [] });
    await expect.poll(async () => (await healthOf(place, fetch)).units).toBe(0);
    const { lines } = await runUnit(
      hosted,
      input,
      unitOptions(
        relaying(() => reply("word!")),
        1,
      ),
    );
    expect(rowsOf(lines)).toMatchObject([{ reward: 1, error: null }]);
    await hosted.teardown();
  });
});
