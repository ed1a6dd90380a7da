import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { monitorIndexStub } from "../../../durable-objects/stubs.ts";
import { beatKeyIn } from "../../../src/monitors/beat-url.ts";
import { pokeMonitors } from "../../../src/upkeep/monitor-watchdog.ts";
import { closeTeam, type Door, openTeam } from "../support/people.ts";
import { service, skip } from "../support/service.ts";
import { ToldAlerts } from "../support/told-alerts.ts";

/** Monitors of a deployed service, in real objects: whatever is repeated, late, lost or evicted, a job that beats is not lost, and one that does not is. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

interface Shown {
  readonly state: string;
  readonly losses: number;
  readonly history: readonly { readonly type: string; readonly detail: Record<string, unknown> }[];
}

let door: Door;
let ada: string;
let url: string;
let told: ToldAlerts;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
  told = new ToldAlerts();
  url = (await door.json<{ beat_url: string }>(ada, "PUT", "/monitors/trainer", { every: "5m", grace: "2m" })).beat_url;
});
afterEach(closeTeam);

const shown = async (): Promise<Shown> => (await door.json<{ data: Shown }>(ada, "GET", "/monitors/trainer")).data;
const state = async (): Promise<string> => (await shown()).state;
const beat = async (query = ""): Promise<void> => {
  expect(await door.status(null, "GET", `/${new URL(url).pathname}${query}`)).toBe(200);
};
const raw = () => service.MONITOR.getByName(beatKeyIn(url)?.id ?? "");
/** Time passes, in each minute of which the watchdog is there. */
const spend = async (ms: number): Promise<void> => {
  for (let left = ms; left > 0; left -= MINUTE) {
    skip(Math.min(left, MINUTE));
    await monitorIndexStub(service).notePulse();
  }
};
/** And the alarm comes. */
const pass = async (ms: number): Promise<void> => {
  await spend(ms);
  await runDurableObjectAlarm(raw());
};
const storedBeat = (): Promise<number | null> =>
  runInDurableObject(raw(), (_, { storage }) => {
    const [{ state: text } = { state: "{}" }] = storage.sql.exec<{ state: string }>("SELECT state FROM head").toArray();
    return (JSON.parse(text) as { beat_at: number | null }).beat_at;
  });

describe("a job that falls silent", () => {
  it("is late, then lost, which is told once however often the alarm comes, and once more when it is back", async () => {
    await beat();
    await pass(5 * MINUTE + SECOND);
    expect(await state()).toBe("late");
    expect(told.types).toEqual([]);
    await pass(2 * MINUTE);
    for (const _ of [1, 2]) await Promise.all([runInDurableObject(raw(), (object) => object.alarm?.()), pokeMonitors(service)]);
    expect(await state()).toBe("lost");
    expect(told.types).toEqual(["heartbeat.lost"]);
    skip(60 * MINUTE);
    await beat();
    expect(await shown()).toMatchObject({ state: "alive", losses: 1 });
    expect(told.types).toEqual(["heartbeat.lost", "heartbeat.back"]);
    const [lost, back] = told.occurrences;
    expect(lost).toMatchObject({ team: "acme", names: ["trainer"], subject: { monitor: "trainer" }, condition: { state: "on" } });
    expect(lost?.text).toMatch(/^Monitor trainer is lost: the last known beat was at 2.*, and one is expected every 5m \(grace 2m\)\.$/);
    expect(back?.condition).toEqual({ ...lost?.condition, state: "off" });
    expect(back?.id).not.toBe(lost?.id);
  });

  it("is told of though the alerts were away when it was lost, and once", async () => {
    await beat();
    told.away = true;
    await pass(8 * MINUTE);
    expect([await state(), told.types]).toEqual(["lost", []]);
    await abortAllDurableObjects();
    told.away = false;
    await pokeMonitors(service);
    await pokeMonitors(service);
    await pass(MINUTE);
    expect(told.types).toEqual(["heartbeat.lost"]);
  });

  it("is found by the watchdog where its alarm is lost", async () => {
    await beat();
    await spend(5 * MINUTE + 30 * SECOND);
    await runInDurableObject(raw(), (_, { storage }) => storage.deleteAlarm());
    for (let minute = 0; minute < 3; minute++) {
      skip(MINUTE);
      await runInDurableObject(raw(), (_, { storage }) => storage.deleteAlarm());
      await pokeMonitors(service);
    }
    expect(told.types).toEqual(["heartbeat.lost"]);
  });

  it("that has ended, is paused or whose monitor is deleted is expected no more; who was lost is told to be so no longer", async () => {
    await beat("?done=1");
    await pass(20 * MINUTE);
    expect([await state(), told.types]).toEqual(["done", []]);
    for (const [what, body] of [
      ["done", {}],
      ["pause", { reason: "holidays" }],
    ] as const) {
      await beat();
      await pass(8 * MINUTE);
      expect(await state()).toBe("lost");
      await door.json(ada, "POST", `/monitors/trainer/${what}`, body);
    }
    expect(told.types).toEqual(["heartbeat.lost", "heartbeat.back", "heartbeat.lost", "heartbeat.back"]);
    expect(told.occurrences.map(({ text }) => text).filter((text) => text.includes("back"))).toEqual([
      "Monitor trainer is back: ended by ada.",
      "Monitor trainer is back: paused by ada.",
    ]);
    await pass(20 * MINUTE);
    expect(await state()).toBe("paused");
    await door.json(ada, "POST", "/monitors/trainer/resume", {});
    expect(await state()).toBe("alive");
    await pass(8 * MINUTE);
    expect(await state()).toBe("lost");
    told.away = true;
    expect(await door.status(ada, "DELETE", "/monitors/trainer")).toBe(200);
    expect([await door.status(ada, "GET", "/monitors/trainer"), await door.status(null, "GET", `/${new URL(url).pathname}`)]).toEqual([404, 404]);
    told.away = false;
    await pokeMonitors(service);
    expect(told.occurrences.at(-1)).toMatchObject({ type: "heartbeat.back", text: "Monitor trainer is back: the monitor was deleted." });
    skip(2 * MINUTE);
    await pokeMonitors(service);
    expect(await monitorIndexStub(service, "acme").monitorId("trainer")).toBeNull();
    expect(await runInDurableObject(raw(), (_, { storage }) => storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'head'").toArray())).toEqual([]);
  });
});

describe("a job that beats", () => {
  it("writes nothing for most beats, and is not lost where those go with their object", async () => {
    await beat();
    const first = await storedBeat();
    for (let n = 0; n < 5; n++) {
      skip(10 * SECOND);
      await beat();
    }
    expect(await storedBeat()).toBe(first);
    // The last known one is nearly a minute older than the last one.
    await abortAllDurableObjects();
    await pass(7 * MINUTE - 30 * SECOND);
    expect([await state(), told.types]).toEqual(["late", []]);
    await beat();
    expect(await state()).toBe("alive");
    await abortAllDurableObjects();
    await pass(8 * MINUTE);
    expect([await state(), told.types]).toEqual(["lost", ["heartbeat.lost"]]);
  });

  it("is not lost for what nobody could hear while the service was away", async () => {
    await beat();
    await pokeMonitors(service);
    skip(60 * MINUTE);
    // The alarm comes before the watchdog, or after it.
    await runDurableObjectAlarm(raw());
    expect([await state(), told.types]).toEqual(["alive", []]);
    await pokeMonitors(service);
    for (let minute = 0; minute < 6; minute++) {
      skip(MINUTE);
      await pokeMonitors(service);
    }
    expect([await state(), (await shown()).history[1]?.type]).toEqual(["late", "watch.interrupted"]);
    for (let minute = 0; minute < 3; minute++) {
      skip(MINUTE);
      await pokeMonitors(service);
    }
    expect(told.types).toEqual(["heartbeat.lost"]);
  });

  it("keeps a history of bounded length", async () => {
    await runInDurableObject(raw(), (_, { storage }) => {
      for (let n = 0; n < 700; n++) storage.sql.exec("INSERT INTO history (at, entry) VALUES (0, ?)", JSON.stringify({ type: "heartbeat.done", by: null }));
    });
    await beat();
    expect(await runInDurableObject(raw(), (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT count(*) AS n FROM history").one().n)).toBe(500);
    expect((await shown()).history).toHaveLength(100);
  });
});

it("a name that was reserved for a monitor that was never made is forgotten", async () => {
  await monitorIndexStub(service, "acme").reserveMonitor("ghost");
  skip(2 * MINUTE);
  await pokeMonitors(service);
  expect(await monitorIndexStub(service, "acme").monitorId("ghost")).toBeNull();
});
