import { abortAllDurableObjects, createScheduledController, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { AuditEntry } from "../../../durable-objects/registry/audit-control.ts";
import { removeExpired } from "../../../src/upkeep/retention.ts";
import { DAY_MS } from "../../../src/teams/retention.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import worker from "../../../src/worker.ts";
import { Fleet } from "../support/fleet.ts";
import { created, Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, service, setVars, silenceQueue, skip, STEADY, until } from "../support/service.ts";

let door: Door;
let ada: string;

interface Shown {
  readonly evaluation_id: string;
  readonly edgewise: { readonly settled: boolean; readonly kept?: boolean; readonly removal_at?: string; readonly stored_bytes: number };
}
const listed = async (): Promise<readonly Shown[]> => (await door.json<{ evaluations: readonly Shown[] }>(ada, "GET", "/evaluations/")).evaluations;
const ids = async (): Promise<string[]> => (await listed()).map(({ evaluation_id }) => evaluation_id).sort();
const shown = (id: string): Promise<Shown> => door.json<Shown>(ada, "GET", `/evaluations/${id}`);
const keep = (id: string, method = "PUT") => door.call(ada, method, `/evaluations/${id}/keep`, method === "PUT" ? {} : undefined);
const retention = (days: number | null) => door.json(ada, "PUT", "/teams/acme/limits", { retention_days: days });
const tick = () => worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
const objects = async (id: string): Promise<number> => {
  const pages = await Promise.all([`teams/acme/runs/${id}/`, "teams/acme/outputs/"].map((prefix) => service.BUCKET.list({ prefix })));
  return pages.flatMap((page) => page.objects).filter(({ key }) => key.includes(id)).length;
};
const audit = async (): Promise<AuditEntry[]> => (await door.json<{ data: AuditEntry[] }>(ada, "GET", "/audit")).data;
const told = (entries: readonly AuditEntry[]) =>
  entries.filter(({ via }) => via === "service").map(({ action, target, status }) => `${action} ${target} ${status}`);

/** Runs that are told to go do so by alarms, which stay with real time where the clock is moved. */
async function gone(runs: readonly string[]): Promise<boolean> {
  for (const id of runs) await runDurableObjectAlarm(service.RUN.getByName(`acme/${id}`));
  const left = await ids();
  return runs.every((id) => !left.includes(id));
}

/** So many runs that have settled. */
async function settled(count: number): Promise<string[]> {
  const fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
  const made = await Promise.all(Array.from({ length: count }, () => created(door, ada)));
  for (const id of made) await fleet.settled(`acme/${id}`);
  await fleet.close();
  silenceQueue();
  await until("the list", async () => (await listed()).every(({ edgewise }) => edgewise.settled));
  return made;
}

beforeEach(async () => {
  setVars(STEADY);
  deploy();
  door = new Door();
  await door.join("ada", ["acme"]);
  ada = await door.token("ada", ["acme"], ["admin"]);
});
afterEach(async () => {
  restoreClock();
  vi.restoreAllMocks();
  undeploy();
  await reset();
});

describe("a settled run", () => {
  it("gets a notice when its time is nearly over, in its object, the list and the audit, and is removed with all that is stored of it", async () => {
    const [old = "", kept = ""] = await settled(2);
    await tick();
    await retention(30);
    const pending = await created(door, ada);
    await tick();
    expect([(await shown(old)).edgewise.removal_at, told(await audit())]).toEqual([undefined, []]);
    skip(23 * DAY_MS + 60_000);
    expect((await keep(kept)).status).toBe(200);
    await tick();
    const { removal_at = "" } = (await shown(old)).edgewise;
    expect(Date.parse(removal_at) - Date.now()).toBeGreaterThan(6.9 * DAY_MS);
    expect(Date.parse(removal_at) - Date.now()).toBeLessThanOrEqual(7 * DAY_MS);
    const standings = [
      [old, removal_at, undefined],
      [kept, undefined, true],
      [pending, undefined, undefined],
    ];
    expect((await listed()).map(({ evaluation_id, edgewise }) => [evaluation_id, edgewise.removal_at, edgewise.kept]).sort()).toEqual(standings.sort());
    await tick();
    expect(told(await audit())).toEqual([`run.notice ${old} ${removal_at} 200`]);
    skip(6 * DAY_MS);
    await tick();
    expect(await ids()).toEqual([old, kept, pending].sort());
    skip(DAY_MS);
    await tick();
    await until("the removal", async () => (await gone([old])) && (await objects(old)) === 0);
    expect(await ids()).toEqual([kept, pending].sort());
    expect(await door.status(ada, "GET", `/evaluations/${old}`)).toBe(404);
    expect(told(await audit())).toEqual([`run.notice ${old} ${removal_at} 200`, `run.delete ${old} 200`]);
    expect(await objects(kept)).toBeGreaterThan(0);
    expect((await keep(old)).status).toBe(404);
    // What is kept no more has a notice like any other.
    expect((await keep(kept, "DELETE")).status).toBe(200);
    await tick();
    expect((await shown(kept)).edgewise.removal_at).toMatch(/Z$/);
  });

  it("loses its notice when it is kept, resumed, or the time is changed, and is never removed without a whole one", async () => {
    const [first = "", second = ""] = await settled(2);
    skip(400 * DAY_MS);
    await retention(10);
    await tick();
    const notice = async (id: string) => (await shown(id)).edgewise.removal_at;
    expect(Date.parse((await notice(first)) ?? "") - Date.now()).toBeGreaterThan(4.9 * DAY_MS);
    await keep(first);
    expect(await notice(first)).toBe(undefined);
    await door.json(ada, "POST", `/evaluations/${second}/resume`, { num_examples: 4, expect: {} });
    await until("its word", async () => (await listed()).every(({ edgewise }) => edgewise.removal_at === undefined));
    skip(6 * DAY_MS);
    await tick();
    expect(await ids()).toHaveLength(2);
    await keep(first, "DELETE");
    await tick();
    expect(await notice(first)).toMatch(/Z$/);
    await retention(null);
    expect(await notice(first)).toBe(undefined);
    skip(30 * DAY_MS);
    await tick();
    expect(await ids()).toContain(first);
  });

  it("is removed once and whole, a few in each turn, however often everything is killed meanwhile", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const made = await settled(5);
    const [kept = ""] = made;
    await keep(kept);
    await retention(2);
    skip(DAY_MS + 60_000);
    /** One turn of two runs, which a kill may cut off anywhere. */
    const cutOff = async (round: number): Promise<void> => {
      const turn = removeExpired(service, 2);
      if (round % 3 === 0) await turn;
      await abortAllDurableObjects();
      await turn;
    };
    for (let round = 0; round < 6; round++) await cutOff(round);
    await removeExpired(service, 4);
    const noticed = (await listed()).filter(({ edgewise }) => edgewise.removal_at !== undefined).map(({ evaluation_id }) => evaluation_id);
    expect(noticed.sort()).toEqual(made.slice(1).sort());
    skip(DAY_MS + 60_000);
    for (let round = 0; round < 6; round++) await cutOff(round);
    await until("the removals", async () => {
      // What was handed out and is still there is handed out again.
      skip(11 * 60_000);
      await removeExpired(service, 2);
      return gone(made.slice(1));
    });
    expect(await ids()).toEqual([kept]);
    for (const id of made.slice(1)) await until(`all of ${id}`, async () => (await objects(id)) === 0);
    const entries = told(await audit());
    for (const id of made.slice(1)) {
      expect(entries.filter((entry) => entry.startsWith(`run.notice ${id} `))).toHaveLength(1);
      expect(entries.filter((entry) => entry.startsWith(`run.delete ${id} `))).toEqual([`run.delete ${id} 200`]);
    }
    const { data } = await door.json<{ data: { used: { stored_bytes: number } } }>(OWNER_TOKEN, "GET", "/teams/acme/limits");
    expect(data.used.stored_bytes).toBe((await shown(kept)).edgewise.stored_bytes);
  });
});

it("the audit is removed by age where its team says so: the oldest entries alone, by the service alone, and with an entry", async () => {
  silenceQueue();
  for (let n = 0; n < 3; n++) await created(door, ada);
  const before = await audit();
  skip(10 * DAY_MS);
  await created(door, ada);
  expect(await door.status(ada, "PUT", "/teams/acme/limits", { audit_days: 5 })).toBe(403);
  await door.json(OWNER_TOKEN, "PUT", "/teams/acme/limits", { audit_days: 5 });
  await tick();
  const after = await audit();
  const last = before.at(-1)?.seq ?? 0;
  expect(after.map(({ seq, action }) => [seq, action])).toEqual([
    [last + 1, "run.create"],
    [last + 2, "team.limit"],
    [last + 3, "audit.prune"],
  ]);
  expect(told(after)).toEqual([`audit.prune ${before.length} entries up to ${last} 200`]);
  // The next turn finds nothing, and notes nothing.
  await tick();
  expect(await audit()).toEqual(after);
  await runInDurableObject(service.REGISTRY.getByName(registryName("acme")), (_, { storage }) => {
    for (const change of [
      "DELETE FROM audit",
      "DELETE FROM audit_end",
      "UPDATE audit SET time = 0",
      "UPDATE audit_bound SET before = 0",
      "DELETE FROM audit_bound",
    ])
      expect(() => storage.sql.exec(change).toArray(), change).toThrow("only added to");
  });
});
