import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, setVars, STEADY, until } from "../support/service.ts";

let fleet: Fleet;
const refusal = (): Response => Response.json({ error: { message: "no such key", type: "invalid_request_error" } }, { status: 401 });

beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

describe("a key that is refused after answers", () => {
  it("in one of two executors: the other does its units too, and the run completes", async () => {
    let answers = 0;
    let misplaced: string | null = null;
    let refused = 0;
    fleet = new Fleet({
      model: new ScriptedModel({ latencyMs: 20 }),
      executors: 2,
      async onFetch({ by, send }) {
        if (answers >= 6) misplaced ??= by.id;
        if (by.id === misplaced) {
          refused++;
          return refusal();
        }
        const answer = await send();
        answers++;
        return answer;
      },
    });
    const config = await createRun({ num_examples: 40, max_concurrent: 8 });
    expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED", failure: null });
    await expectComplete(config);
    // What it had open, and nothing more: it stays away.
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThanOrEqual(8);
    const log = (await run(config.run_id).logTail(1_000))?.map(({ message }) => message) ?? [];
    expect(log.filter((line) => line.startsWith("auth_failed: ") && line.includes("so the run goes on"))).toHaveLength(1);
  });

  it("everywhere: the run ends after a while of nothing else, keeps what it has, and a resume does the rest", async () => {
    setVars({ REFUSALS_MS: "600" });
    let answers = 0;
    let open = false;
    fleet = new Fleet({
      model: new ScriptedModel({ latencyMs: 5 }),
      async onFetch({ send }) {
        if (answers >= 10 && !open) return refusal();
        answers++;
        return await send();
      },
    });
    const config = await createRun({ num_examples: 30, max_concurrent: 4 });
    await until("its end", async () => (await viewOf(config.run_id)).status === "FAILED");
    const view = await fleet.settled(config.run_id);
    expect(view).toMatchObject({ status: "FAILED", failure: { code: "auth_failed", message: expect.stringContaining("nothing was answered for ") } });
    expect(view.failure?.message).toContain(config.api_key_var);
    const rows = await rowsOf(config);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ error }) => error === null)).toBe(true);

    open = true;
    expect(await run(config.run_id).resume(NOTHING_NEW)).toMatchObject({ ok: true, value: { owed_rollouts: 30 - rows.length } });
    await fleet.settled(config.run_id);
    await expectComplete(config);
  });
});
