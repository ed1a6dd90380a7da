import { abortAllDurableObjects } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AlertTask } from "../../../durable-objects/alert-book/alert-task.ts";
import type { ScheduleTask } from "../../../durable-objects/schedule/schedule-task.ts";
import { beginDue } from "../../../src/api/schedules/begin-due.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { alertBookStub, scheduleStub } from "../../../durable-objects/stubs.ts";
import { Fleet } from "../support/fleet.ts";
import { closeTeam, CREATION, created, type Door, openTeam } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service, skip, until } from "../support/service.ts";

/** What runs and schedules tell the alerts of their team, also when they are killed between deciding and telling. */

const { ALERT_BOOK, ALERTS, SCHEDULES } = service;
const HOUR = 3_600_000;
let door: Door;
let ada: string;
let due: ScheduleTask[];

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
  due = [];
  Object.assign(service, {
    ALERTS: { send: async (_task: AlertTask) => undefined },
    SCHEDULES: { send: async (task: ScheduleTask) => void due.push(task) },
  });
});
afterEach(async () => {
  Object.assign(service, { ALERT_BOOK, ALERTS, SCHEDULES });
  await closeTeam();
});

const breakBook = (): void => {
  const refuse = () => Promise.reject(new Error("the book is away"));
  Object.assign(service, { ALERT_BOOK: { getByName: () => ({ take: refuse }) } });
};
const mendBook = (): void => void Object.assign(service, { ALERT_BOOK });
const put = (name: string, changes: object = {}): Promise<unknown> =>
  door.json(ada, "PUT", `/alerts/${name}`, { to: "webhook", url: "https://hooks.example/x", ...changes });
const told = async (name: string): Promise<readonly { type: string; text: string }[]> =>
  (await door.json<{ data: { type: string; text: string }[] }>(ada, "GET", `/alerts/${name}/messages`)).data;

describe("a run", () => {
  it("tells how it ended once, when its files are written, also where nobody could be told then and the objects are reset", async () => {
    await put("all");
    await put("failures", { on: ["run.failed"] });
    breakBook();
    const fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
    const id = await created(door, ada, { name: "nightly numbers" });
    await fleet.settled(`acme/${id}`);
    await fleet.close();
    mendBook();
    expect(await told("all")).toEqual([]);
    await abortAllDurableObjects();
    skip(120_000);
    await run(`acme/${id}`).poke();
    await until("the message", async () => (await told("all")).length > 0);
    skip(120_000);
    await run(`acme/${id}`).poke();
    const text = expect.stringMatching(new RegExp(`^COMPLETED nightly numbers \\(reverse-text, scripted, run ${id}\\), reward \\d\\.\\d{4}\\.$`));
    expect(await told("all")).toMatchObject([{ type: "run.completed", text }]);
    expect(await told("failures")).toEqual([]);
  });

  it("that fails says why, and one that is cancelled says nothing", async () => {
    await put("failures", { on: ["run.failed", "run.completed"] });
    const fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1, answer: () => new Response("{}", { status: 401 }) } as never) });
    const cancelled = await created(door, ada);
    await door.json(ada, "PATCH", `/hosted-evaluations/${cancelled}/cancel`);
    await fleet.settled(`acme/${cancelled}`);
    const limited = await created(door, ada, { eval_config: { ...CREATION.eval_config, timeout_minutes: 1 } });
    skip(10 * 60_000);
    await run(`acme/${limited}`).poke();
    await fleet.settled(`acme/${limited}`);
    await fleet.close();
    const view = await run(`acme/${limited}`).view();
    if (view?.status === "CANCELLED" || view === null) throw new Error("it did not end by itself");
    const all = await until("the message", async () => {
      const messages = await told("failures");
      return messages.length > 0 ? messages : null;
    });
    expect(all).toHaveLength(1);
    expect(all[0]?.text).toContain(limited);
  });

  it("that stands still says so once, and once more when it goes on or ends", async () => {
    await put("stalls", { on: ["run.stalled"] });
    const id = await created(door, ada);
    skip(20 * 60_000);
    await run(`acme/${id}`).poke();
    await until("the message", async () => (await told("stalls")).length === 1);
    skip(20 * 60_000);
    await run(`acme/${id}`).poke();
    await door.json(ada, "POST", `/evaluations/${id}/interrupt`, {});
    await until("the end", async () => (await told("stalls")).length === 2);
    expect(new Set((await told("stalls")).map(({ type }) => type))).toEqual(new Set(["run.stalled"]));
  });

  it("that did not pass a gate is told once by whoever judged it, however often they ask", async () => {
    const id = await created(door, ada, { name: "candidate" });
    const gate = () => door.json<{ message: string }>(ada, "POST", `/evaluations/${id}/gate-failed`, { text: "fell by 0.1", facts: { max_drop: 0.02 } });
    expect((await gate()).message).toContain("no alerts");
    await put("gates", { on: ["gate.failed"], for: ["candidate"] });
    for (let asked = 0; asked < 3; asked++) expect((await gate()).message).toContain("told");
    expect(await told("gates")).toMatchObject([{ type: "gate.failed", text: "fell by 0.1" }]);
  });
});

describe("a schedule", () => {
  const schedule = () => {
    const stub = scheduleStub(service, "acme", "nightly");
    if (stub === null) throw new Error("no schedules");
    return stub;
  };
  const begin = async (): Promise<void> => {
    const ports = portsOf(service).inTeam("acme");
    for (const task of due.splice(0)) await beginDue(ports, task.schedule, task.due);
  };
  const EVAL = { env_id: "reverse-text", model: "scripted", api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY" };

  it("tells of due times that were missed once, and once more when one is begun in time; also where it was killed before it told", async () => {
    await put("missed", { on: ["schedule.missed"], for: ["nightly"] });
    await door.json(ada, "PUT", "/schedules/nightly", { every: "1h", catch_up: "none", eval: EVAL });
    breakBook();
    skip(3 * HOUR + 30 * 60_000);
    await schedule().poke();
    await abortAllDurableObjects();
    mendBook();
    await schedule().poke();
    await schedule().poke();
    expect(await told("missed")).toHaveLength(1);
    skip(30 * 60_000);
    await schedule().poke();
    await begin();
    const all = await told("missed");
    expect(all).toHaveLength(2);
    expect(all[0]?.text).toContain("in time again");
    expect(all[1]?.text).toContain("3 times");
    expect(await alertBookStub(service, "acme")?.list()).toHaveLength(1);
  });

  it("that pauses itself for a missing key says so, and when somebody resumes it", async () => {
    await put("missed", { on: ["schedule.missed"] });
    await door.json(ada, "PUT", "/schedules/nightly", { every: "1h", eval: EVAL });
    Object.assign(service, { MODELS_API_KEY: undefined });
    skip(HOUR);
    await schedule().poke();
    await begin();
    expect((await told("missed")).map(({ text }) => text)).toEqual([expect.stringContaining("paused itself"), expect.stringContaining("could not be created")]);
    await door.json(ada, "POST", "/schedules/nightly/resume", {});
    expect((await told("missed"))[0]?.text).toContain("resumed by ada");
  });
});
