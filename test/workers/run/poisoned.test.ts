import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Isolate } from "../../../src/executor/session/isolate.ts";
import { Fleet, NEVER } from "../support/fleet.ts";
import { createRun, expectComplete, type ResultRow, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, setVars, skip, STEADY, STEADY_LAPSE_MS } from "../support/service.ts";

const KILLER = 41;

let fleet: Fleet;

beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

const codeOf = ({ error }: ResultRow): unknown => (error as { code?: unknown } | null)?.code ?? null;
/** What the executor sent before it died has arrived; then its lease is over. */
async function lapse(runId: string): Promise<void> {
  await viewOf(runId);
  skip(STEADY_LAPSE_MS);
  await run(runId).poke();
}
const exampleOf = (init: unknown): number => Number(new Headers((init as RequestInit).headers).get("x-session-id"));

describe("one unit that kills its executor among a hundred", () => {
  it.each([
    ["with many lanes", 8],
    ["with a single lane", 1],
  ])("is the only one given up, %s, and the run ends", async (_, max_concurrent) => {
    const model = new ScriptedModel();
    let deaths = 0;
    fleet = new Fleet({
      model,
      budget: { requests: max_concurrent },
      onFetch: ({ by, args: [, init], send }) => {
        if (exampleOf(init) !== KILLER) return send();
        deaths++;
        by.kill();
        void lapse(config.run_id);
        return NEVER;
      },
    });
    const config = await createRun({ num_examples: 100, max_concurrent });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(rows.filter((row) => codeOf(row) !== null).map((row) => [row.example_id, codeOf(row)])).toEqual([[KILLER, "poisoned"]]);
    // Twice among others and three times alone; once more where it died before anybody knew that it had begun.
    expect(deaths).toBeGreaterThanOrEqual(5);
    expect(deaths).toBeLessThanOrEqual(6);
    expect(await viewOf(config.run_id)).toMatchObject({ lapses: deaths, totals: { errors: { poisoned: 1 } } });
  });

  it("takes its whole isolate with it, and no unit of another run there is given up for that", async () => {
    // The others take longer than the killer: each time it runs beside them, it ends them.
    const model = new ScriptedModel({ latencyMs: 150 });
    let isolate = new Isolate(Date.now);
    let deaths = 0;
    fleet = new Fleet({
      model,
      executors: 2,
      isolate: () => isolate,
      budget: { requests: 4 },
      onFetch: async ({ args: [, init], send }) => {
        const { model: asked } = JSON.parse(String((init as RequestInit).body)) as { model: string };
        if (asked !== "killing" || exampleOf(init) !== 1) return send();
        deaths++;
        for (const executor of fleet.living) executor.kill();
        isolate = new Isolate(Date.now);
        void Promise.all(configs.map(({ run_id }) => viewOf(run_id))).then(async () => {
          skip(STEADY_LAPSE_MS);
          for (const { run_id } of configs) await run(run_id).poke();
        });
        return NEVER;
      },
    });
    const innocent = await createRun({ num_examples: 6, max_concurrent: 3 });
    const killing = await createRun({ num_examples: 3, max_concurrent: 3, model: "killing" });
    const configs = [innocent, killing];
    for (const { run_id } of configs) await fleet.settled(run_id);
    expect((await expectComplete(innocent)).map(codeOf)).toEqual(Array.from({ length: 6 }, () => null));
    expect((await expectComplete(killing)).map(codeOf)).toEqual([null, "poisoned", null]);
    expect(deaths).toBeLessThanOrEqual(9);
  });

  it("is run again with its neighbours when its killing was chance", async () => {
    const model = new ScriptedModel();
    let deaths = 0;
    fleet = new Fleet({
      model,
      budget: { requests: 8 },
      onFetch: ({ by, args: [, init], send }) => {
        if (exampleOf(init) !== KILLER || deaths >= 4) return send();
        deaths++;
        by.kill();
        void lapse(config.run_id);
        return NEVER;
      },
    });
    const config = await createRun({ num_examples: 60, max_concurrent: 8 });
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(rows.filter((row) => codeOf(row) !== null)).toEqual([]);
    expect(deaths).toBe(4);
  });
});
