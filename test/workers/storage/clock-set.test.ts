import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countTime } from "../../../src/steady-clock.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, restoreClock, run, setClock, setVars } from "../support/service.ts";

const HOUR = 3_600_000;
let fleet: Fleet;
let stopCounting: () => void = () => undefined;

beforeEach(() => {
  setVars({ ...QUICK, LEASE_MS: "6000", BEAT_MS: "500", LEASE_MARGIN_MS: "1500", GRACE_MS: "1000" });
  // As each executor of the local service does.
  stopCounting = countTime();
});
afterEach(async () => {
  stopCounting();
  await fleet.close();
  restoreClock();
  await reset();
});

describe("a machine whose clock is set while a run works", () => {
  it.each([
    ["an hour ahead", (now: number) => now + HOUR],
    ["an hour back", (now: number) => now - HOUR],
  ])("%s: nothing lapses, nothing is asked twice, and nothing counts as a standstill", async (_, clock) => {
    let asked = 0;
    const model = new ScriptedModel();
    fleet = new Fleet({
      model,
      budget: { requests: 4 },
      onFetch: ({ send }) => {
        asked++;
        if (asked === 20) setClock(clock);
        return send();
      },
    });
    const config = await createRun({ num_examples: 60, max_concurrent: 4, timeout_minutes: 30 });
    const view = await fleet.settled(config.run_id);
    expect(view).toMatchObject({ status: "COMPLETED", lapses: 0 });
    await expectComplete(config);
    expect(asked).toBe(60);
    const log = ((await run(config.run_id).logTail(100)) ?? []).map(({ message }) => message).join("\n");
    expect(log).not.toContain("Nothing has progressed");
    expect((await viewOf(config.run_id)).started_at).toBeLessThanOrEqual((await viewOf(config.run_id)).ended_at ?? 0);
  });
});
