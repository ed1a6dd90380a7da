import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { Fleet, type FleetOptions, NEVER } from "../support/fleet.ts";
import { createRun, expectComplete, type ResultRow, rowsOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, STEADY_LAPSE_MS, until } from "../support/service.ts";

const READ_WRITE = { mode: "read-write", days: 30 } as const;
const READ = { mode: "read", days: 30 } as const;
const SETTINGS = { num_examples: 12, rollouts_per_example: 2, max_concurrent: 12, cache: READ_WRITE };
const CALLS = 24;

let fleet: Fleet;
let model: ScriptedModel;
/** Answers of a model that never says the same twice. */
let said = 0;

const open = (options: Partial<FleetOptions> = {}): void => {
  fleet = new Fleet({ model, executors: 3, budget: { requests: 8 }, ...options });
};
beforeEach(() => {
  restoreClock();
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-cached-answers" });
  said = 0;
  model = new ScriptedModel({ latencyMs: 5, reply: () => `answer ${++said}` });
  open();
});
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

const settled = async (config: RunConfig): Promise<readonly ResultRow[]> => {
  await fleet.settled(config.run_id, 60_000);
  await expectComplete(config);
  return rowsOf(config);
};
const ran = async (changes: Partial<RunConfig> = {}): Promise<readonly ResultRow[]> => settled(await createRun({ ...SETTINGS, ...changes }));
const completions = (rows: readonly ResultRow[]): readonly string[] => rows.map(({ completion }) => JSON.stringify(completion));
const stored = async (prefix = "answers/"): Promise<readonly R2Object[]> => (await service.BUCKET.list({ prefix })).objects;

describe("a run that was there before", { timeout: 120_000 }, () => {
  it("is repeated without a call, each rollout with its own answer", async () => {
    const first = await ran();
    expect(model.total).toBe(CALLS);
    expect(new Set(completions(first)).size).toBe(CALLS);
    expect(completions(await ran())).toEqual(completions(first));
    expect(completions(await ran({ cache: READ }))).toEqual(completions(first));
    expect(model.total).toBe(CALLS);
    // Four more rollouts of each are four more calls.
    expect(completions(await ran({ rollouts_per_example: 6 })).filter((text) => !completions(first).includes(text))).toHaveLength(48);
    expect(model.total).toBe(3 * CALLS);
  });

  it("is asked anew where anything is another: the model, an argument, a header, the place, the team", async () => {
    await ran({ num_examples: 2 });
    const others: Partial<RunConfig>[] = [
      { model: "scripted-2" },
      { sampling_args: { max_tokens: 7 } },
      { headers: { "x-variant": "b" } },
      { base_url: "http://127.0.0.1:9/v2" },
      { cache: undefined as never },
    ];
    for (const [at, changes] of others.entries()) {
      await ran({ num_examples: 2, ...changes });
      expect([changes, model.total]).toEqual([changes, 4 * (at + 2)]);
    }
    // How an answer is brought, and what the run's own affairs are, is nothing that changes it.
    await ran({ num_examples: 2, max_concurrent: 1, name: "another", base_url: "http://127.0.0.1:9/v1/" });
    expect(model.total).toBe(4 * (others.length + 1));
  });

  it("keeps no key, no header and no prompt", async () => {
    await ran({ num_examples: 2, headers: { "x-secretive": "header-value" } });
    const kept = await stored();
    expect(kept).toHaveLength(4);
    for (const { key } of kept) {
      const text = (await (await service.BUCKET.get(key))?.text()) ?? "";
      expect(Object.keys(JSON.parse(text))).toEqual(["v", "stored_at", "expires_at", "answer"]);
      for (const secret of ["sk-cached-answers", "header-value", "Reverse"]) expect(text).not.toContain(secret);
    }
  });

  it("keeps no answer that repeats the key", async () => {
    model.options = { reply: () => "your key is sk-cached-answers" };
    await ran({ num_examples: 2 });
    expect(await stored()).toEqual([]);
  });

  it("keeps refusals and empty answers for nobody", async () => {
    model.options = { reply: ({ example }) => (example === 0 ? { kind: "status", status: 400 } : "") };
    const refused = await createRun({ ...SETTINGS, num_examples: 2 });
    await fleet.settled(refused.run_id, 60_000);
    expect(await stored()).toEqual([]);
    const before = model.total;
    model.options = { reply: () => "fine" };
    await ran({ num_examples: 2 });
    expect([model.total - before, (await stored()).length]).toEqual([4, 4]);
  });

  it("takes hostile answers as they were", async () => {
    const hostile = '{"__proto__": {"polluted": true}} \u0000\u2028\ud800 </script> "\\u0000" cached v';
    model.options = { reply: () => hostile };
    const first = await ran({ num_examples: 1 });
    expect(completions(await ran({ num_examples: 1 }))).toEqual(completions(first));
    expect(JSON.stringify(first[0]?.completion)).toContain("polluted");
    expect(model.total).toBe(2);
  });
});

describe("answers that are read only", { timeout: 120_000 }, () => {
  it("are taken where they are there; what is asked beside them is not kept", async () => {
    await ran({ num_examples: 2 });
    await ran({ num_examples: 4, cache: READ });
    expect([model.total, (await stored()).length]).toEqual([8, 4]);
  });
});

describe("answers that have expired", { timeout: 120_000 }, () => {
  it("are asked for anew", async () => {
    await ran({ num_examples: 2, cache: { mode: "read-write", days: 1 } });
    skip(25 * 60 * 60_000);
    await ran({ num_examples: 2 });
    expect(model.total).toBe(8);
  });
});

describe("two runs at once", { timeout: 120_000 }, () => {
  it("ask each question once, and have the same answers", async () => {
    model.options = { ...model.options, latencyMs: 40 };
    const configs = [await createRun(SETTINGS), await createRun(SETTINGS)];
    const [a = [], b = []] = await Promise.all(configs.map(settled));
    expect(completions(a)).toEqual(completions(b));
    expect(model.total).toBe(CALLS);
  });

  it("ask again what an executor asked that was killed", async () => {
    let killed = false;
    await fleet.close();
    open({
      executors: 2,
      onFetch: ({ by, send }) => {
        if (!killed) {
          killed = true;
          by.kill();
          return NEVER;
        }
        return send();
      },
    });
    const configs = [await createRun({ ...SETTINGS, num_examples: 3 }), await createRun({ ...SETTINGS, num_examples: 3 })];
    await until("one to be killed, and the other to have its answers", async () => killed && model.inFlight === 0);
    skip(STEADY_LAPSE_MS);
    for (const { run_id } of configs) await run(run_id).poke();
    const [a = [], b = []] = await Promise.all(configs.map(settled));
    expect(completions(a)).toEqual(completions(b));
    expect(model.total).toBe(6);
  });
});

describe("where answers cannot be kept", { timeout: 120_000 }, () => {
  const broken = [
    ["the desk fails", { onDesk: () => Promise.reject(new Error("the desk is away")) }],
    ["storage fails", { onStore: ({ args, send }) => (String(args[0]).startsWith("answers/") ? Promise.reject(new Error("storage is away")) : send()) }],
  ] as const satisfies readonly (readonly [string, Partial<FleetOptions>])[];

  it.each(broken)("%s: the model is asked, and the run goes on", async (_, options) => {
    await fleet.close();
    open(options);
    const rows = await ran();
    expect([rows.length, model.total, (await stored()).length]).toEqual([CALLS, CALLS, 0]);
  });
});
