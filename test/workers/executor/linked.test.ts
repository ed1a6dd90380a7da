import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { describeLinked, linkedEnvironment, linkHealth } from "../../../src/offering/linked-environment.ts";
import type { Seen } from "../../support/environment-http/linked-server.ts";
import "../../support/model-server/provided-context.ts";
import { Fleet, type FleetOptions } from "../support/fleet.ts";
import { createRun, expectComplete, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { pause, restoreClock, run, service, setVars, skip, STEADY, until } from "../support/service.ts";

const { url, token } = inject("linkedServer");
const control = async (what: "cut" | "down" | "up" | "seen"): Promise<Seen> => await (await fetch(`${url}/control/${what}`)).json();

let fleet: Fleet;
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await control("up");
  await fleet.close();
  restoreClock();
  await reset();
});

/** Executors whose model is scripted, and whose way to the environment is the real one. */
async function open(model: ScriptedModel, options: Partial<FleetOptions> = {}, urls: readonly string[] = [url], loadMs = 0): Promise<void> {
  const facts = await describeLinked(service, { url, token });
  const offered = linkedEnvironment(service, { name: "reversed", urls, token, facts });
  const toServer = (to: string): boolean => urls.some((each) => to.startsWith(each));
  fleet = new Fleet({
    model: { fetch: (to, init) => (toServer(to) ? fetch(to, init) : model.fetch(to, init)) },
    offered: async () => ({
      ...offered,
      load: async (...asked) => {
        await pause(loadMs);
        return await offered.load(...asked);
      },
    }),
    envDigest: "v2:linked",
    haste: 200,
    ...options,
  });
}
const create = (changes: Partial<RunConfig> = {}) => createRun({ env_id: "reversed", env_version: "7", num_examples: 20, rollouts_per_example: 2, ...changes });

describe("a run of a linked environment, in the real runtime", () => {
  it("has all its rows, by requests that are one at a time, and its token is in nothing that is stored", async () => {
    const before = await control("seen");
    await open(new ScriptedModel({ latencyMs: 5 }), { budget: { connections: 5 } });
    const config = await create();
    await fleet.settled(config.run_id);
    const rows = await expectComplete(config);
    expect(rows.every(({ error }) => error === null)).toBe(true);
    const after = await control("seen");
    expect(after.messages.slice(before.messages.length).filter((type) => type === "play")).toHaveLength(20);
    expect(after.messages.slice(before.messages.length).filter((type) => type === "answer")).toHaveLength(40);
    expect(after.most).toBe(1);
    await expect.poll(async () => (await control("seen")).open).toBe(0);
    const stored = await service.BUCKET.list();
    for (const { key } of stored.objects) expect(await (await service.BUCKET.get(key))?.text(), key).not.toContain(token);
    expect(JSON.stringify([await viewOf(config.run_id), await run(config.run_id).events(0, 1_000)])).not.toContain(token);
  });

  it("says what its server says of itself, and how that is", async () => {
    await open(new ScriptedModel());
    expect(await describeLinked(service, { url, token })).toMatchObject({ id: "reversed", version: "7", args: [{ name: "examples", default: 20 }] });
    expect(await linkHealth(service, { url, token })).toMatchObject({ protocol: 1, environment: "env" });
    await expect(linkHealth(service, { url, token: "another-token" })).rejects.toThrow(/refuses the token of the link/);
    await expect(describeLinked(service, { url: "http://127.0.0.1:9", token })).rejects.toThrow(/http:\/\/127\.0\.0\.1:9 cannot be reached/);
  });

  it("keeps its lease while its environment is loaded, however long that takes", async () => {
    setVars({ LEASE_MS: "1500", BEAT_MS: "200", LEASE_MARGIN_MS: "300", GRACE_MS: "200" });
    await open(new ScriptedModel({ latencyMs: 5 }), {}, [url], 2_000);
    const config = await create({ num_examples: 4 });
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect(await viewOf(config.run_id)).toMatchObject({ lapses: 0 });
  });

  it("waits while its server is busy, says why, and goes on", async () => {
    await open(new ScriptedModel());
    await control("down");
    const config = await create({ num_examples: 4 });
    const waiting = await until("the run to wait", async () => {
      const view = await viewOf(config.run_id);
      return view.loading === undefined ? null : view;
    });
    expect(waiting).toMatchObject({ status: "PENDING", loading: { message: `the environment server ${url} answered HTTP 503: not now` } });
    await control("up");
    await until("the run to settle", async () => {
      const view = await viewOf(config.run_id);
      if (view.loading !== undefined) skip(60_000);
      await run(config.run_id).poke();
      return view.phase === "settled" ? view : null;
    });
    await expectComplete(config);
  });

  it("has each row once where its server's connections are cut: what was under way is an error around the rollout, the rest is played", async () => {
    let calls = 0;
    const model = new ScriptedModel({
      latencyMs: 5,
      reply: async () => {
        if (++calls === 12) await control("cut");
        return null;
      },
    });
    await open(model);
    const config = await create({ max_concurrent: 4 });
    await fleet.settled(config.run_id);
    const rows = await rowsOf(config);
    expect(rows).toHaveLength(40);
    const codes = rows.flatMap(({ error }) => (error === null ? [] : [(error as { code: string }).code]));
    expect(new Set(codes)).toEqual(new Set(["sandbox_error"]));
    expect(codes.length).toBeGreaterThan(0);
    expect(codes.length).toBeLessThan(20);
  });

  it("is played at two addresses", async () => {
    await open(new ScriptedModel({ latencyMs: 5 }), {}, [url, `${url.replace("127.0.0.1", "localhost")}`]);
    const before = await control("seen");
    const config = await create();
    await fleet.settled(config.run_id);
    await expectComplete(config);
    expect((await control("seen")).conversations - before.conversations).toBeGreaterThanOrEqual(2);
  });
});
