import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { registryStub } from "../../../durable-objects/stubs.ts";
import type { AppPorts } from "../../../src/api/app-ports.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { pokeSchedules } from "../../../src/upkeep/schedule-watchdog.ts";
import { type Door, closeTeam, openTeam } from "../support/people.ts";
import { service, skip } from "../support/service.ts";

/** What the door says of schedules, of a deployed service. */

const EVAL = {
  env_id: "reverse-text",
  model: "scripted",
  num_examples: 2,
  rollouts_per_example: 1,
  api_base_url: "https://models.example/v1",
  api_key_var: "MODELS_API_KEY",
};

let door: Door;
let ada: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
});
afterEach(closeTeam);

const ports = (): AppPorts => portsOf(service).inTeam("acme");

describe("at the door", () => {
  it("a dry run says what would change and stores nothing; the same once more changes nothing", async () => {
    const body = { cron: "0 3 * * *", time_zone: "Europe/Berlin", eval: EVAL };
    const plan = (changes: object) => door.json<{ change: string; fields: string[] }>(ada, "PUT", "/schedules/nightly?dry_run=true", { ...body, ...changes });
    expect(await plan({})).toMatchObject({ change: "add", fields: [] });
    expect(await door.status(ada, "GET", "/schedules/nightly")).toBe(404);
    await door.json(ada, "PUT", "/schedules/nightly", body);
    expect(await plan({})).toMatchObject({ change: "none", fields: [] });
    expect(await plan({ keep: 30, overlap: "queue" })).toMatchObject({ change: "change", fields: ["keep", "overlap"] });
    await door.json(ada, "PUT", "/schedules/nightly", body);
    expect((await door.json<{ data: { events: unknown[] } }>(ada, "GET", "/schedules/nightly")).data.events).toEqual([]);
    // Said as it is where nothing is said, it is no change; what is otherwise is one.
    expect(await plan({ drift: { baseline: "first", first: 3 } })).toMatchObject({ change: "none" });
    expect(await plan({ drift: { baseline: "main", detect: 0.02 } })).toMatchObject({ change: "change", fields: ["drift"] });
    const { data } = await door.json<{ data: { definition: { drift: unknown } } }>(ada, "GET", "/schedules/nightly");
    expect(data.definition.drift).toEqual({ baseline: "first", first: 3, metric: "reward", false_alarms: 1 });
    expect(await door.status(ada, "DELETE", "/schedules/nightly")).toBe(200);
    expect(await door.status(ada, "DELETE", "/schedules/nightly")).toBe(404);
    expect((await door.json<{ data: unknown[] }>(ada, "GET", "/schedules")).data).toEqual([]);
  });

  it.each([
    [{ cron: "61 * * * *" }, "cron"],
    [{ cron: "0 3 * * *", every: "1h" }, "cron"],
    [{ every: "1h", time_zone: "Europe/Nowhere" }, "time_zone"],
    [{ every: "0s" }, "every"],
    [{ every: "1h", overlap: "wait" }, "overlap"],
    [{ every: "1h", keep: 0 }, "keep"],
    [{ every: "1h", until: "2020-01-01T00:00:00Z" }, "until"],
    [{ every: "1h", eval: { ...EVAL, env_args: { dataset: "edgewise/news-{{date}}" } } }, "data"],
    [{ every: "1h", eval: { ...EVAL, env_id: "no-such-thing" } }, "no-such-thing"],
    [{ every: "1h", eval: { ...EVAL, rollouts: 3 } }, "rollouts"],
    [{ every: "1h", eval: { ...EVAL, api_base_url: "http://127.0.0.1:1/v1" } }, "api_base_url"],
    [{ every: "1h", cronn: "x" }, "cronn"],
    [{ every: "1h", drift: { baseline: "no name" } }, "baseline"],
    [{ every: "1h", drift: { baseline: "main", first: 3 } }, "first"],
    [{ every: "1h", drift: { false_alarms: 0 } }, "false_alarms"],
  ])("%j is refused by the name of its field", async (changes, field) => {
    const answer = await door.call(ada, "PUT", "/schedules/nightly", { eval: EVAL, ...changes });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(await answer.text()).toContain(field);
    expect(await door.status(ada, "GET", "/schedules/nightly")).toBe(404);
  });

  it("one that was reserved and never made is forgotten", async () => {
    await ports().schedules?.index.reserveSchedule("ghost");
    skip(2 * 60_000);
    await pokeSchedules(service);
    expect(await ports().schedules?.index.dueSchedules(Date.now(), 10)).toEqual([]);
    expect(await registryStub(service, "acme").turn(10)).toEqual([]);
  });
});
