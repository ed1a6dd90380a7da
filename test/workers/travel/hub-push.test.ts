import { createScheduledController, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Env } from "../../../src/env.ts";
import { readStatements } from "../../../src/exports/card-statement.ts";
import { makeExport } from "../../../src/exporting/make-export.ts";
import { registryStub } from "../../../durable-objects/stubs.ts";
import { pushRun } from "../../../src/pushing/push-run.ts";
import worker from "../../../src/worker.ts";
import { HUB, MockHub, TOKEN } from "../../support/mock-hub/mock-hub.ts";
import { Fleet } from "../support/fleet.ts";
import { CREATION, Door, deploy, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, restoreClock, run, service, setVars, skip, STEADY, until } from "../support/service.ts";

const queue = service.EXPORTS;
const LIMITS = { sleep: async () => undefined };
let door: Door;
let ada: string;
let fleet: Fleet | null = null;
let hub: MockHub;
/** Messages of the queue; nobody takes them unless a test does. */
let sent: unknown[];

beforeEach(async () => {
  setVars(STEADY);
  deploy();
  sent = [];
  hub = new MockHub();
  Object.assign(service, { HF_ENDPOINT: HUB, EXPORTS: { send: async (message: unknown) => void sent.push(message) } });
  door = new Door();
  await door.join("ada", ["acme"]);
  ada = await door.token("ada", ["acme"], ["runs:write", "secrets:write"]);
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  restoreClock();
  undeploy();
  Object.assign(service, { EXPORTS: queue });
  delete (service as { HF_ENDPOINT?: string }).HF_ENDPOINT;
  await reset();
});

const keep = (hosts: readonly string[], value = TOKEN) => door.json(ada, "POST", "/secrets/", { name: "HF_TOKEN", value, hosts });
const bodyOf = (settings: object): object => ({
  ...CREATION,
  eval_config: { ...(CREATION as { eval_config?: object }).eval_config, num_examples: 4, rollouts_per_example: 1, ...settings },
});
const refusal = async (settings: object): Promise<string> =>
  JSON.stringify(await (await door.call(ada, "POST", "/hosted-evaluations", bodyOf(settings))).json());
const about = async (id: string) =>
  (await door.json<{ data?: unknown; edgewise?: unknown }>(ada, "GET", `/evaluations/${id}`)) as {
    status: string;
    edgewise: { hub_push?: Record<string, unknown> };
  };

/** A run of the team that has completed, and whose push has been asked for. */
async function completedRun(settings: object = { hf_hub_dataset_name: "me/rollouts" }): Promise<{ readonly id: string; readonly name: string }> {
  fleet = new Fleet({ model: new ScriptedModel() });
  const { evaluation_id: id } = await door.json<{ evaluation_id: string }>(ada, "POST", "/hosted-evaluations", bodyOf({ save_to_hf_hub: true, ...settings }));
  const name = `acme/${id}`;
  await until("the push to be asked for", async () => sent.length > 0);
  expect([sent, (await run(name).view())?.status, (await run(name).view())?.hub_push]).toEqual([
    [{ protocol: 1, push_of: name }],
    "COMPLETED",
    { status: "pushing", dataset: expect.stringMatching(/^me\//), retry_at: expect.any(Number) },
  ]);
  return { id, name };
}

/** The service for whoever is killed at use `at` of storage or network, counted together. */
function dying(at: number): { readonly env: Env; readonly fetch: MockHub["fetch"] } {
  let used = 0;
  const step = (): void => {
    if (++used >= at) throw new Error("killed");
  };
  const wrapped = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          step();
          return (value as (...all: unknown[]) => unknown).apply(of, args);
        };
      },
    });
  return {
    env: { ...service, BUCKET: wrapped(service.BUCKET) },
    fetch: async (url, init) => {
      step();
      return hub.fetch(url, init);
    },
  };
}

describe("a run that is to be saved to the Hub", () => {
  it("is pushed by the service when it has settled, in one commit, wherever those who work on it are killed", { timeout: 60_000 }, async () => {
    await keep(["hub.example/me"]);
    const { id, name } = await completedRun();
    await makeExport(service, name);
    let kills = 0;
    // Each gets a little further than the one before.
    for (; (await run(name).view())?.hub_push?.status === "pushing"; kills++) {
      const { env, fetch } = dying(kills + 1);
      await pushRun(env, name, { ...LIMITS, fetch });
      expect(kills).toBeLessThan(60);
    }
    expect(kills).toBeGreaterThan(12);
    expect([hub.problems, hub.commits("me/rollouts").length, hub.repositories.get("me/rollouts")?.isPrivate]).toEqual([[], 1, true]);
    const config = `reverse-text--${(CREATION as { inference_model: string }).inference_model}--${id}`.replaceAll(/[^\w.-]+/g, "-");
    expect(Object.keys(hub.tree("me/rollouts"))).toEqual([".gitattributes", "README.md", `${config}/train-00000-of-00001.parquet`]);
    expect(hub.text("me/rollouts", "README.md")).toContain("| 4 | 4 | 0 |");
    expect(readStatements(hub.text("me/rollouts", "README.md")).configs).toMatchObject([
      {
        config,
        files: [{ rows: 4, sha256: hub.tree("me/rollouts")[`${config}/train-00000-of-00001.parquet`], marks: expect.any(String) }],
        runs: [{ run_id: id }],
      },
    ]);
    const [commit] = hub.commits("me/rollouts");
    expect(await about(id)).toMatchObject({
      status: "COMPLETED",
      // The attempt whose answer was lost made the commit, and the next one found it.
      edgewise: { hub_push: { status: "pushed", dataset: "me/rollouts", url: `${HUB}/datasets/me/rollouts`, commit: expect.toBeOneOf([null, commit?.oid]) } },
    });
    // A message that comes late, or twice.
    const asked = hub.asked.length;
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    expect(hub.asked).toHaveLength(asked);
    expect(JSON.stringify(await run(name).events(0, 1_000))).not.toContain(TOKEN);
  });

  it("is asked for again where the message is lost, and goes on where its Parquet or its slice is not done yet", async () => {
    await keep(["hub.example/me"]);
    const { name } = await completedRun();
    skip(10 * 60_000);
    await run(name).poke();
    await until("it to be asked for again", async () => sent.length === 2);
    sent.length = 0;
    // Nobody has made Parquet of it: that is begun, and this comes again.
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    expect(sent).toEqual([
      { protocol: 1, export_of: name },
      { protocol: 1, push_of: name },
    ]);
    await makeExport(service, name);
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch, slice_ms: -1 });
    expect([sent.length, hub.asked.filter((line) => /^PUT |commit/.test(line))]).toEqual([3, []]);
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    expect([hub.problems, hub.commits("me/rollouts").length]).toEqual([[], 1]);
  });

  it("is asked for again by the watchdog where its alarm is lost too, until it is pushed, and counts for no limit meanwhile", async () => {
    await keep(["hub.example/me"]);
    const { id, name } = await completedRun();
    const registry = registryStub(service, "acme");
    await until("the Registry to know", async () => (await registry.list({ skip: 0, limit: 1, environment_name: null })).runs[0]?.owes_push === true);
    expect((await registry.limits({ team: "acme" })).used).toMatchObject({ runs: 0, rollouts: 0 });
    await runInDurableObject(rawRun(name), (_, { storage }) => storage.deleteAlarm());
    sent.length = 0;
    skip(10 * 60_000);
    await worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
    await until("it to be asked for again", async () => sent.length > 0);
    await makeExport(service, name);
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    expect(hub.commits("me/rollouts").length).toBe(1);
    expect(await registry.has(id)).toBe(true);
    await until("nobody to watch it any more", async () => (await registry.turn(10)).length === 0);
  });

  it("whose push the Hub refuses has completed all the same, and says why and what to do, without the token", async () => {
    await keep(["hub.example/me"], "hf_thatTheHubDoesNotKnow");
    const { id, name } = await completedRun({});
    await makeExport(service, name);
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    const told = await about(id);
    expect(told).toMatchObject({
      status: "COMPLETED",
      edgewise: {
        hub_push: {
          status: "failed",
          failure: { code: "hub_refused", message: expect.stringContaining("does not accept the token"), hint: expect.anything() },
          command: `npx edgewise push ${id} --to hf:${told.edgewise.hub_push?.dataset}`,
        },
      },
    });
    expect(told.edgewise.hub_push?.dataset).toMatch(/^me\/.+_n4_r1$/);
    const events = JSON.stringify(await run(name).events(0, 1_000));
    expect(events).toContain("Not pushed to the Hugging Face Hub: ");
    expect(events + JSON.stringify(told)).not.toContain("hf_that");
    skip(24 * 3_600_000);
    await run(name).poke();
    expect(sent.filter((message) => "push_of" in (message as object))).toHaveLength(1);
  });

  it("is pushed again by a resume where the push failed, under the name that was said", async () => {
    await keep(["hub.example/me"], "hf_thatTheHubDoesNotKnow");
    const { id, name } = await completedRun({});
    await makeExport(service, name);
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    const failed = (await about(id)).edgewise.hub_push;
    const { data } = await door.json<{ data: { id: string }[] }>(ada, "GET", "/secrets/");
    const secret = data[0]?.id;
    await door.json(ada, "PATCH", `/secrets/${secret}`, { value: TOKEN });
    sent.length = 0;
    const resumed = await door.json<{ warnings: readonly string[] }>(ada, "POST", `/evaluations/${id}/resume`, {});
    expect(resumed.warnings).toEqual(["The push to the Hugging Face Hub, which failed, is tried again."]);
    await until("the push to be asked for", async () => sent.length > 0);
    await pushRun(service, name, { ...LIMITS, fetch: hub.fetch });
    expect((await about(id)).edgewise.hub_push).toEqual({
      status: "pushed",
      dataset: failed?.dataset,
      url: `${HUB}/datasets/${failed?.dataset}`,
      commit: hub.commits(`${failed?.dataset}`)[0]?.oid,
    });
    // Nothing is owed any more.
    sent.length = 0;
    expect(await door.json(ada, "POST", `/evaluations/${id}/resume`, {})).toMatchObject({ warnings: [] });
    expect(sent).toEqual([]);
  });

  it("is refused at its creation without a token of the team that was created for the namespace, and for what everybody sees", async () => {
    const wanted = { save_to_hf_hub: true, hf_hub_dataset_name: "me/rollouts" };
    expect(await refusal(wanted)).toContain("needs a secret HF_TOKEN of the team: npx edgewise secret create HF_TOKEN --host hub.example/me");
    await keep(["hub.example/other", "hub.example/open:public", "huggingface.co/me"]);
    expect(await refusal(wanted)).toContain("HF_TOKEN of the team was created for other, open, and not for me");
    expect(await refusal({ save_to_hf_hub: true })).toContain("must be owner/name: HF_TOKEN of the team is for other, open");
    expect(await refusal({ ...wanted, hf_hub_dataset_name: "other/x", hf_hub_public: true })).toContain("may make nothing in other that everybody sees");
    expect(await refusal({ ...wanted, hf_hub_dataset_name: "a/b/c" })).toContain("hf_hub_dataset_name");
    fleet = new Fleet({ model: new ScriptedModel() });
    const open = { ...wanted, hf_hub_dataset_name: "Open/x", hf_hub_public: true };
    const { evaluation_id } = await door.json<{ evaluation_id: string }>(ada, "POST", "/hosted-evaluations", bodyOf(open));
    expect((await run(`acme/${evaluation_id}`).view())?.config.hub_push).toEqual({ owner: "Open", name: "x", public: true });
  });
});
