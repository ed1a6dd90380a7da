import { evictDurableObject, reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { distribution, errorGroups } from "../../../src/api/summaries/summary-schemas.ts";
import type { Env } from "../../../src/env.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { operations } from "../../../src/operations.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, run, service, setVars, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
const local = { ...service, LOCAL: "1", BOOT_ID: "boot" } as Env;
const get = async (path: string): Promise<Response> => app.request(`http://localhost/api/v1${path}`, {}, local);
const spread = async (id: string, query = "") => distribution.parse(await (await get(`/evaluations/${id}/distribution${query}`)).json());
const errors = async (id: string) => errorGroups.parse(await (await get(`/evaluations/${id}/errors`)).json());

beforeEach(() => setVars(STEADY));
afterEach(() => reset());

const MESSAGE = "ModelError('the server said no')";
/** Of every eleventh example the second attempt has an error, of which its row tells. */
const failed = (unit: number, rollout: number): boolean => unit % 11 === 5 && rollout === 1;
const line = (unit: number, rollout: number): string =>
  `${JSON.stringify({
    example_id: unit,
    rollout_index: rollout,
    reward: 1,
    ...(failed(unit, rollout)
      ? { error: { error: "ModelError", error_chain_repr: `${MESSAGE} ${unit}`, error_chain_str: "ModelError", code: "provider_error" } }
      : {}),
  })}\n`;
const summaryOf = (unit: number, rollout: number): Partial<RolloutSummary> => ({
  reward: failed(unit, rollout) ? 0 : (unit % 5) / 4,
  error: failed(unit, rollout) ? "provider_error" : null,
  metrics: rollout === 0 ? { exact: unit % 2 } : {},
});

describe("what the rows of a run add up to", { timeout: 60_000 }, () => {
  it("is told of a running run and after an eviction the same; rows with errors are in no bin", async () => {
    const { run_id } = await storedRun(110, { lineOf: line, summaryOf, rollouts: 2, events: true, isDone: (unit) => unit % 10 !== 9 });
    const told = await spread(run_id, "?bins=4");
    expect(told).toMatchObject({ metric: "reward", rollouts: 198, errored: 9, n: 189, min: 0, max: 1, zero_one: false });
    expect(told.bins.map(([lo, hi]) => [lo, hi])).toEqual([
      [0, 0.25],
      [0.25, 0.5],
      [0.5, 0.75],
      [0.75, 1],
    ]);
    expect(await spread(run_id, "?metric=exact")).toMatchObject({
      n: 99,
      zero_one: true,
      bins: [
        [0, 0, expect.any(Number)],
        [1, 1, expect.any(Number)],
      ],
    });
    await evictDurableObject(rawRun(run_id));
    expect(await spread(run_id, "?bins=4")).toEqual(told);
  });

  it("names the first example of each error in the order of the data set, with its message, though examples were permuted", async () => {
    const { run_id } = await storedRun(110, { lineOf: line, summaryOf, rollouts: 2, permuted: true });
    expect(await errors(run_id)).toEqual({
      rollouts: 220,
      errors: [
        {
          code: "provider_error",
          count: 10,
          category: "provider",
          resumable: true,
          first: { example: 5, rollout: 1, example_id: 5, message: `${MESSAGE} 5` },
        },
      ],
    });
  });

  it("is read once: what is committed later is counted on", async () => {
    const { run_id } = await storedRun(2_000, { lineOf: line, summaryOf, rollouts: 2, events: true });
    await spread(run_id);
    const before = operations().do_rows_read;
    expect(await spread(run_id, "?metric=exact")).toMatchObject({ n: 2_000 });
    expect(operations().do_rows_read - before).toBeLessThan(50);
  });

  it("grows while a run is played, and is whole when it has settled", async () => {
    const config = await createRun({ num_examples: 12, rollouts_per_example: 2 });
    expect(await spread(config.run_id)).toEqual({ metric: "reward", rollouts: 0, n: 0, errored: 0, min: null, max: null, zero_one: false, bins: [] });
    expect(await errors(config.run_id)).toEqual({ rollouts: 0, errors: [] });
    const fleet = new Fleet({ model: new ScriptedModel({ reply: ({ example }) => (example === 7 ? { kind: "status", status: 400 } : null) }) });
    try {
      await run(config.run_id).poke();
      await fleet.settled(config.run_id, 30_000);
    } finally {
      await fleet.close();
    }
    const { rollouts, n, errored, bins } = await spread(config.run_id);
    expect([rollouts, n, errored, bins.reduce((sum, [, , count]) => sum + count, 0)]).toEqual([24, 22, 2, 22]);
    const [group, ...others] = (await errors(config.run_id)).errors;
    expect([group, others]).toMatchObject([
      { code: "bad_request", count: 2, category: "model", resumable: false, first: { example: 7, rollout: 0, example_id: 7 } },
      [],
    ]);
    expect(group?.first?.message).toContain("400");
  });

  it("is refused in words: an unknown run, one of another team, a metric that no row has, too many bins", async () => {
    const { run_id } = await storedRun(5, { lineOf: line, summaryOf });
    for (const path of ["distribution", "errors"]) expect((await get(`/evaluations/0000dead/${path}`)).status).toBe(404);
    const refusal = await get(`/evaluations/${run_id}/distribution?metric=nothing`);
    expect([refusal.status, await refusal.json()]).toMatchObject([
      422,
      { detail: [{ loc: ["query", "metric"], msg: "must be of reward, exact: no row has nothing" }] },
    ]);
    const tooMany = await get(`/evaluations/${run_id}/distribution?bins=51`);
    expect([tooMany.status, await tooMany.text()]).toEqual([422, expect.stringContaining("bins")]);
  });
});
