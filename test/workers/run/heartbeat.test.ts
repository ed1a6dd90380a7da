import { abortAllDurableObjects, reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { heartbeatsAt } from "../../support/model-server/heartbeats-seen.ts";
import { Fleet } from "../support/fleet.ts";
import { modelServer } from "../support/model-server.ts";
import { createRun, viewOf } from "../support/runs.ts";
import { pause, run, setVars, STEADY, until } from "../support/service.ts";

/** Counted at the monitor itself, which is called by the Run's object over the network. */
let fleet: Fleet;
const pingUrl = (name: string, query = ""): string => `${inject("heartbeatServerUrl")}/ping/${name}${query}`;
const seenOf = (name: string) => heartbeatsAt(inject("heartbeatServerUrl"), name);
const logOf = async (runId: string): Promise<string[]> => ((await run(runId).logTail(100)) ?? []).map(({ level, message }) => `${level} ${message}`);

beforeEach(() => setVars({ ...STEADY, HEARTBEAT_MS: "30000" }));
afterEach(async () => {
  await fleet.close();
  await reset();
});

describe("the monitor of a run", () => {
  it("is called while units finish, once at a time, and a last time at the end, whoever executes them", async () => {
    await modelServer.play({ latency_ms: [15, 30] });
    fleet = new Fleet({ model: modelServer, executors: 3, budget: { requests: 2 } });
    const heartbeat_url = pingUrl("units", "?ms=20");
    const { run_id } = await createRun({ model: "units", base_url: modelServer.baseUrl, num_examples: 60, max_concurrent: 6, heartbeat_url });
    for (let index = 0; index < 3; index++) fleet.start();
    expect((await fleet.settled(run_id)).status).toBe("COMPLETED");
    const commits = (await run(run_id).events(0, 1_000)).filter(({ type }) => type === "commit").length;
    expect(commits).toBeGreaterThan(2);
    // The last one may wait for the one under way.
    const seen = await until("the last heartbeat", async () => {
      const heartbeats = await seenOf("units");
      await pause(200);
      return heartbeats.total >= 2 && (await seenOf("units")).total === heartbeats.total ? heartbeats : null;
    });
    expect(seen.total).toBeLessThanOrEqual(commits + 1);
    expect(seen.peak_in_flight).toBe(1);
    expect(new Set(seen.requests)).toEqual(new Set(["GET /ping/units?ms=20"]));
    await pause(200);
    expect((await seenOf("units")).total).toBe(seen.total);
  });

  it("is called by the clock during one long rollout, until nothing has progressed for stall_minutes, which the log says", async () => {
    setVars({ HEARTBEAT_MS: "100", BEAT_MS: "50" });
    await modelServer.play({ faults: [{ fault: { kind: "never" } }] });
    fleet = new Fleet({ model: modelServer });
    const heartbeat_url = pingUrl("stall");
    const { run_id } = await createRun({ model: "stall", base_url: modelServer.baseUrl, num_examples: 1, heartbeat_url, stall_minutes: 0.04 });
    await until("the stall", async () => (await logOf(run_id)).some((line) => line.startsWith("WARNING Nothing has progressed for 0.04 min")));
    const { total } = await seenOf("stall");
    // Two dozen where nothing keeps the clock waiting.
    expect(total).toBeGreaterThan(1);
    await pause(500);
    expect((await seenOf("stall")).total).toBeLessThanOrEqual(total + 1);
    expect((await viewOf(run_id)).status).toBe("RUNNING");
    await run(run_id).cancel();
  });

  it("is called by the next instance when the run's object was lost, and its executor with it", async () => {
    setVars({ HEARTBEAT_MS: "100", LEASE_MS: "800", BEAT_MS: "200", LEASE_MARGIN_MS: "250", GRACE_MS: "200" });
    await modelServer.play({ latency_ms: 2_500 });
    fleet = new Fleet({ model: modelServer });
    const { run_id } = await createRun({ model: "lost", base_url: modelServer.baseUrl, num_examples: 1, heartbeat_url: pingUrl("lost") });
    await until("a heartbeat", async () => (await seenOf("lost")).total > 0);
    for (const executor of fleet.executors) executor.kill();
    await abortAllDurableObjects();
    const { total } = await seenOf("lost");
    await run(run_id).poke();
    fleet.start();
    expect((await fleet.settled(run_id)).status).toBe("COMPLETED");
    await until("further heartbeats", async () => (await seenOf("lost")).total > total + 1);
    expect((await seenOf("lost")).peak_in_flight).toBe(1);
  });

  it("that refuses is logged once, by its origin, and the run goes on", async () => {
    await modelServer.play({ latency_ms: [15, 30] });
    fleet = new Fleet({ model: modelServer });
    const heartbeat_url = pingUrl("s3cret", "?status=503");
    const { run_id } = await createRun({ model: "refused", base_url: modelServer.baseUrl, num_examples: 10, max_concurrent: 2, heartbeat_url });
    expect((await fleet.settled(run_id)).status).toBe("COMPLETED");
    const told = await until("the warning", async () => (await logOf(run_id)).find((line) => line.includes("Heartbeat not taken")));
    expect(told).toBe(`WARNING Heartbeat not taken: ${inject("heartbeatServerUrl")} answered with status 503`);
    expect((await logOf(run_id)).filter((line) => line.includes("Heartbeat"))).toHaveLength(1);
    expect((await logOf(run_id)).join("\n")).not.toContain("s3cret");
  });
});
