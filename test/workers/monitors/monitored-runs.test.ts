import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closeTeam, created, CREATION, type Door, openTeam } from "../support/people.ts";
import { Fleet } from "../support/fleet.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, setVars, skip, until } from "../support/service.ts";
import { ToldAlerts } from "../support/told-alerts.ts";

/** Runs of a deployed service that report to a monitor of their team, by calls of its object. */

interface Shown {
  readonly state: string;
  readonly every: string;
  readonly grace: string;
  readonly created_by: string | null;
  readonly last_beat_at: string | null;
  readonly history: readonly { readonly type: string; readonly detail: Record<string, unknown> }[];
}

let door: Door;
let ada: string;
let told: ToldAlerts;
let fleet: Fleet | null;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
  setVars({ HEARTBEAT_MS: "30000" });
  told = new ToldAlerts();
  fleet = null;
});
afterEach(async () => {
  await fleet?.close();
  await closeTeam();
});

const shown = async (name = "nightly"): Promise<Shown> => (await door.json<{ data: Shown }>(ada, "GET", `/monitors/${name}`)).data;
const monitored = (more: object = {}, name = "nightly"): Promise<string> =>
  created(door, ada, { eval_config: { ...CREATION.eval_config, monitor: name, ...more } });
const becomes = (state: string, name = "nightly"): Promise<unknown> => until(`the monitor to be ${state}`, async () => (await shown(name)).state === state);
const logOf = async (id: string): Promise<string> => (await door.call(ada, "GET", `/hosted-evaluations/${id}/logs`)).text();

describe("the monitor that a run names", () => {
  it("is made by it, is alive from its beginning, and done at its end", async () => {
    const id = await monitored();
    await becomes("alive");
    expect(await shown()).toMatchObject({ every: "120s", grace: "60s", created_by: null });
    expect(JSON.stringify(await door.json(ada, "GET", `/evaluations/${id}`))).toContain('"monitor":"nightly"');
    fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
    await run(`acme/${id}`).poke();
    await fleet.settled(`acme/${id}`);
    await becomes("done");
    const { history } = await shown();
    expect(history.map(({ type }) => type)).toEqual(["heartbeat.done", "heartbeat.alive"]);
    expect(told.types.filter((type) => type.startsWith("heartbeat."))).toEqual([]);
  });

  it("stays as somebody made it, hears of the run by the clock, and is done where that is cancelled or interrupted", async () => {
    await door.json(ada, "PUT", "/monitors/nightly", { every: "10m", grace: "1m" });
    const [id, other] = [await monitored(), await monitored({}, "other")];
    await becomes("alive");
    const before = (await shown()).last_beat_at;
    for (let n = 0; n < 5; n++) {
      skip(31_000);
      await run(`acme/${id}`).poke();
    }
    expect(await shown()).toMatchObject({ every: "10m", grace: "1m", created_by: "ada" });
    await until("a later beat", async () => (await shown()).last_beat_at !== before);
    await door.json(ada, "PATCH", `/hosted-evaluations/${id}/cancel`);
    await becomes("done");
    await door.json(ada, "POST", `/evaluations/${other}/interrupt`, {});
    await becomes("done", "other");
    await door.json(ada, "POST", `/evaluations/${other}/resume`, { monitor: "third" });
    await becomes("alive", "third");
    expect((await shown("other")).state).toBe("done");
  });

  it("is lost at once where the run fails, by its name and code, and falls silent with a run that has stalled", async () => {
    const id = await monitored({ stall_minutes: 1 });
    await becomes("alive");
    skip(2 * 60_000);
    await run(`acme/${id}`).poke();
    const silent = (await shown()).last_beat_at;
    skip(60_000);
    await run(`acme/${id}`).poke();
    expect((await shown()).last_beat_at).toBe(silent);
    fleet = new Fleet({ model: new ScriptedModel({ reply: () => ({ kind: "status", status: 401 }) }) });
    await run(`acme/${id}`).poke();
    expect((await fleet.settled(`acme/${id}`)).status).toBe("FAILED");
    await becomes("lost");
    await until("the alert", async () => told.types.includes("heartbeat.lost"));
    expect(told.occurrences.find(({ type }) => type === "heartbeat.lost")).toMatchObject({
      team: "acme",
      data: { reason: `run ${id} ended FAILED (auth_failed)` },
    });
  });

  it("says nothing to a run any more once it is deleted, which the run's log says once", async () => {
    const id = await monitored();
    await becomes("alive");
    await door.json(ada, "DELETE", "/monitors/nightly");
    for (let n = 0; n < 3; n++) {
      skip(31_000);
      await run(`acme/${id}`).poke();
      await until("the log", async () => (await logOf(id)).includes("The monitor nightly is deleted"));
    }
    expect((await logOf(id)).split("The monitor nightly is deleted")).toHaveLength(2);
    expect(await door.status(ada, "GET", "/monitors/nightly")).toBe(404);
  });

  it("is of the team, and a name that none can have is refused before anything is stored", async () => {
    const refused = await door.call(ada, "POST", "/hosted-evaluations", { ...CREATION, eval_config: { ...CREATION.eval_config, monitor: "no name" } });
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("monitor")]);
    expect((await door.json<{ data: unknown[] }>(ada, "GET", "/monitors")).data).toEqual([]);
  });
});

it("a heartbeat URL that is the service's own is heard inside, to its end, and no request leaves", async () => {
  const { beat_url } = await door.json<{ beat_url: string }>(ada, "PUT", "/monitors/nightly", { every: "5m" });
  const id = await created(door, ada, { eval_config: { ...CREATION.eval_config, heartbeat_url: beat_url } });
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
  await run(`acme/${id}`).poke();
  await fleet.settled(`acme/${id}`);
  await becomes("done");
  expect((await shown()).history[0]).toMatchObject({ type: "heartbeat.done", detail: { by: null } });
  expect(await logOf(id)).not.toContain("Heartbeat not taken");
});
