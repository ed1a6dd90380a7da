import { abortAllDurableObjects, reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ScheduleTask } from "../../../durable-objects/schedule/schedule-task.ts";
import { scheduleName } from "../../../src/teams/team-name.ts";
import { beginDue } from "../../../src/api/schedules/begin-due.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { step } from "../../../src/schedules/policy.ts";
import type { ScheduleState } from "../../../src/schedules/state.ts";
import type { AppPorts } from "../../../src/api/app-ports.ts";
import { pokeSchedules } from "../../../src/upkeep/schedule-watchdog.ts";
import { scheduleStub } from "../../../durable-objects/stubs.ts";
import { Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { restoreClock, run, service, setVars, silenceQueue, skip, STEADY } from "../support/service.ts";

/** Schedules of a deployed service, in real objects: whatever is repeated, late, lost or reset, each due time has one run. */

const HOUR = 3_600_000;
const EVAL = {
  env_id: "reverse-text",
  model: "scripted",
  num_examples: 2,
  rollouts_per_example: 1,
  api_base_url: "https://models.example/v1",
  api_key_var: "MODELS_API_KEY",
};
interface Shown {
  readonly next: readonly string[];
  readonly paused: { readonly reason: string; readonly by: string | null; readonly failure?: { readonly code: string } } | null;
  readonly active: { readonly due_at: string; readonly run_id: string | null } | null;
  readonly waiting: readonly { readonly due_at: string }[];
  readonly series: readonly {
    readonly due_at: string;
    readonly outcome: string;
    readonly run_id: string | null;
    readonly reason: string | null;
    readonly removed: boolean;
    readonly kind: string;
  }[];
  readonly events: readonly { readonly type: string; readonly detail: Record<string, unknown> }[];
  readonly pinned_dataset_digest: string | null;
}

let door: Door;
let ada: string;
let sent: ScheduleTask[];
const { SCHEDULES } = service;

beforeEach(async () => {
  setVars(STEADY);
  silenceQueue();
  deploy();
  sent = [];
  Object.assign(service, { SCHEDULES: { send: async (task: ScheduleTask) => void sent.push(task) } });
  door = new Door();
  await door.join("ada", ["acme"]);
  ada = await door.token("ada", ["acme"], ["runs:write"]);
});
afterEach(async () => {
  vi.restoreAllMocks();
  restoreClock();
  Object.assign(service, { SCHEDULES });
  undeploy();
  await reset();
});

const ports = (): AppPorts => portsOf(service).inTeam("acme");
const object = (name = "nightly") => {
  const stub = scheduleStub(service, "acme", name);
  if (stub === null) throw new Error("no schedules");
  return stub;
};
const raw = (name = "nightly") => service.SCHEDULE.getByName(scheduleName("acme", name));
const put = async (changes: object = {}, name = "nightly", token = ada): Promise<Shown> =>
  (await door.json<{ data: Shown }>(token, "PUT", `/schedules/${name}`, { every: "1h", eval: EVAL, ...changes })).data;
const shown = async (name = "nightly"): Promise<Shown> => (await door.json<{ data: Shown }>(ada, "GET", `/schedules/${name}`)).data;
const runs = async (): Promise<readonly { evaluation_id: string; name: string }[]> =>
  (await door.json<{ evaluations: { evaluation_id: string; name: string }[] }>(ada, "GET", "/evaluations/")).evaluations;
const deliver = async (): Promise<void> => {
  for (const { schedule, due } of sent.splice(0)) await beginDue(ports(), schedule, due);
};
const comeDue = async (ms = HOUR): Promise<void> => {
  skip(ms);
  await object().poke();
};
/** Lets the run that is at work end. */
const end = async (): Promise<void> => {
  const { active } = await shown();
  if (active?.run_id) await run(`acme/${active.run_id}`).interrupt();
  skip(2 * 60_000);
  await object().poke();
};

describe("one due time is one run", () => {
  it("when alarms repeat, messages repeat, and the watchdog looks as well", async () => {
    const { next } = await put();
    expect(next).toHaveLength(5);
    skip(HOUR);
    await Promise.all([runDurableObjectAlarm(raw()), object().poke(), object().poke(), pokeSchedules(service)]);
    await runDurableObjectAlarm(raw());
    expect(sent.length).toBeGreaterThan(0);
    const [task] = sent;
    if (task === undefined) throw new Error("nothing was sent");
    await Promise.all([beginDue(ports(), task.schedule, task.due), beginDue(ports(), task.schedule, task.due)]);
    await deliver();
    await runDurableObjectAlarm(raw());
    const { series, active } = await shown();
    expect(series).toMatchObject([{ due_at: next[0], outcome: "run", kind: "due" }]);
    const made = await runs();
    expect(made.map(({ evaluation_id }) => evaluation_id)).toEqual([active?.run_id]);
    expect(made[0]?.name).toBe(`nightly ${next[0]?.slice(0, 10)}`);
  });

  it("when the alarm throws in the middle, and when the message is lost", async () => {
    await put();
    skip(HOUR);
    Object.assign(service, { SCHEDULES: { send: async () => Promise.reject(new Error("no queue now")) } });
    await runDurableObjectAlarm(raw());
    Object.assign(service, { SCHEDULES: { send: async (task: ScheduleTask) => void sent.push(task) } });
    expect(sent).toEqual([]);
    skip(10_000);
    await object().poke();
    expect(sent).toHaveLength(1);
    // Lost on its way.
    sent.length = 0;
    skip(3 * 60_000);
    await object().poke();
    expect(sent).toHaveLength(1);
    await deliver();
    expect(await runs()).toHaveLength(1);
  });

  it("when the object is reset between the creation of the run and writing it down", async () => {
    await put();
    await comeDue();
    const [task] = sent.splice(0);
    if (task === undefined) throw new Error("nothing was sent");
    const own = ports();
    const lossy: AppPorts = {
      ...own,
      registry: own.registry,
      schedules: own.schedules && {
        ...own.schedules,
        index: own.schedules.index,
        of: () => ({ ...object(), order: (due) => object().order(due), created: () => Promise.reject(new Error("reset")) }),
      },
    };
    await expect(beginDue(lossy, task.schedule, task.due)).rejects.toThrow("reset");
    const [made] = await runs();
    expect((await shown()).active?.run_id).toBeNull();
    await abortAllDurableObjects();
    skip(60_000);
    await object().poke();
    await deliver();
    expect((await runs()).map(({ evaluation_id }) => evaluation_id)).toEqual([made?.evaluation_id]);
    expect((await shown()).active?.run_id).toBe(made?.evaluation_id);
  });

  it("when its alarm is lost: the watchdog finds it overdue", async () => {
    await put();
    skip(HOUR + 30_000);
    await runInDurableObject(raw(), (_, state) => state.storage.deleteAlarm());
    await pokeSchedules(service);
    await deliver();
    expect(await runs()).toHaveLength(1);
  });
});

describe("a run of a schedule", () => {
  it("says which schedule and due time made it, in the run and in its log", async () => {
    const { next } = await put({ run_name: "nightly of {{date}}" });
    await comeDue();
    await deliver();
    const [made] = await runs();
    const evaluation = await door.json<{ name: string; edgewise: { schedule: unknown } }>(ada, "GET", `/evaluations/${made?.evaluation_id}`);
    expect(evaluation.edgewise.schedule).toEqual({ name: "nightly", due_at: next[0] });
    expect(evaluation.name).toBe(`nightly of ${next[0]?.slice(0, 10)}`);
    expect(await (await door.call(ada, "GET", `/hosted-evaluations/${made?.evaluation_id}/logs`)).text()).toContain(
      `Made by the schedule nightly, due ${next[0]}`,
    );
  });

  it("is that of its team: another team sees neither", async () => {
    await put();
    await comeDue();
    await deliver();
    await door.join("bob", ["quokkas"]);
    const bob = await door.token("bob", ["quokkas"], ["runs:write"]);
    expect(await door.status(bob, "GET", "/schedules/nightly")).toBe(404);
    expect((await door.json<{ data: unknown[] }>(bob, "GET", "/schedules")).data).toEqual([]);
    expect((await door.json<{ evaluations: unknown[] }>(bob, "GET", "/evaluations/")).evaluations).toEqual([]);
    const reader = await door.token("ada", ["acme"], ["runs:read"]);
    expect([await door.status(reader, "GET", "/schedules/nightly"), await door.status(reader, "POST", "/schedules/nightly/run", {})]).toEqual([200, 403]);
  });

  it("is not made by whose token was revoked: the schedule pauses, and whoever resumes it runs it", async () => {
    const { data } = await door.json<{ data: readonly { id: string }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=acme");
    await put();
    await door.json(OWNER_TOKEN, "DELETE", `/tokens/${data[0]?.id}`);
    const other = await door.token("ada", ["acme"], ["runs:write"]);
    ada = other;
    await comeDue();
    await deliver();
    expect(await runs()).toEqual([]);
    const { paused, series, events } = await shown();
    expect(paused).toMatchObject({ by: null, failure: { code: "forbidden" } });
    expect(series).toMatchObject([{ outcome: "failed" }]);
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(["schedule.paused", "schedule.failed"]);
    await comeDue(3 * HOUR);
    expect(sent).toEqual([]);
    await door.json(ada, "POST", "/schedules/nightly/resume", {});
    await comeDue();
    await deliver();
    expect(await runs()).toHaveLength(1);
  });

  it("keeps the revision of a team's data set that the first run had, unless it takes the latest", async () => {
    const revise = async (rows: string): Promise<void> => {
      const bytes = new TextEncoder().encode(rows);
      const digest = await sha256Hex(rows);
      expect(await door.status(ada, "PUT", `/datasets/${digest}`, bytes)).toBeLessThan(300);
      await door.json(ada, "PUT", "/named-datasets/news", { files: [{ path: "train.jsonl", dataset: `sha256:${digest}` }] });
    };
    const environment = { ...EVAL, env_id: "gsm8k", env_args: { dataset: "edgewise/news" } };
    await revise('{"question": "1+1?", "answer": "#### 2"}\n{"question": "1+2?", "answer": "#### 3"}\n');
    await put({ eval: environment });
    await put({ eval: environment, data: "latest" }, "fresh");
    const datasets: unknown[][] = [];
    for (const round of [0, 1]) {
      skip(HOUR);
      for (const name of ["nightly", "fresh"]) await object(name).poke();
      await deliver();
      const made = await Promise.all(["nightly", "fresh"].map(async (name) => (await shown(name)).active?.run_id ?? ""));
      const views = await Promise.all(made.map((id) => run(`acme/${id}`).view()));
      datasets.push(views.map((view) => view?.config.env_args.dataset));
      if (round === 1) expect(views.map((view) => view?.config.schedule?.dataset_digest)).toEqual(["d".repeat(64), undefined]);
      // As its executor would have pinned them, and ended.
      for (const name of ["nightly", "fresh"])
        await runInDurableObject(raw(name), (_, { storage }) => {
          const [{ state } = { state: "{}" }] = storage.sql.exec<{ state: string }>("SELECT state FROM head").toArray();
          const told = JSON.parse(state) as ScheduleState;
          const env_args = { dataset: String(datasets[round]?.[0]) };
          const seen = {
            over: true,
            status: "COMPLETED",
            suspended: false,
            failure: null,
            avg_reward: 1,
            rollouts: 1,
            errored: 0,
            stopped: false,
            dataset_digest: "d".repeat(64),
            env_digest: null,
            env_args,
          } as const;
          const ended = step(told, Date.now(), { type: "looked", run_id: told.active?.run_id ?? "", seen });
          storage.sql.exec("UPDATE head SET state = ?", JSON.stringify(ended.state));
        });
      await revise('{"question": "2+2?", "answer": "#### 4"}\n{"question": "2+3?", "answer": "#### 5"}\n');
    }
    const [first, second] = datasets;
    expect(first?.[0]).toMatch(/^sha256:/);
    expect(second?.[0]).toBe(first?.[0]);
    expect(second?.[1]).not.toBe(first?.[1]);
  });

  it("is not made without its key: the schedule pauses with the reason", async () => {
    await put();
    delete (service as unknown as Record<string, unknown>).MODELS_API_KEY;
    await comeDue();
    await deliver();
    const { paused } = await shown();
    expect(paused).toMatchObject({ by: null, failure: { code: "missing_key" } });
    expect(paused?.reason).toContain("MODELS_API_KEY");
    expect(await door.status(ada, "PUT", "/schedules/other", { every: "1h", eval: EVAL })).not.toBe(200);
  });

  it("waits where the team's limit is reached, and is made when there is room", async () => {
    await door.json(OWNER_TOKEN, "PUT", "/teams/acme/limits", { runs: 1 });
    await put();
    await put({}, "other");
    await comeDue();
    await deliver();
    expect(await runs()).toHaveLength(1);
    await object("other").poke();
    await deliver();
    expect(await shown("other")).toMatchObject({ paused: null, active: { run_id: null, failure: { code: "limit_reached" } } });
    await door.json(OWNER_TOKEN, "PUT", "/teams/acme/limits", { runs: 5 });
    skip(5 * 60_000);
    await object("other").poke();
    await deliver();
    expect(await runs()).toHaveLength(2);
  });
});

describe("while and after", () => {
  it("a due time is skipped while the run before is at work, and says so", async () => {
    await put();
    await comeDue();
    await deliver();
    await comeDue();
    const { series, events } = await shown();
    expect(series.map(({ outcome }) => outcome)).toEqual(["skipped", "run"]);
    expect(events[0]).toMatchObject({ type: "schedule.skipped" });
    await end();
    await comeDue();
    await deliver();
    expect(await runs()).toHaveLength(2);
  });

  it("a run asked for is made beside those of the due times, once for one key", async () => {
    await put();
    for (const _ of [1, 2]) await door.json(ada, "POST", "/schedules/nightly/run", {}, { "idempotency-key": "once" });
    await deliver();
    await end();
    await deliver();
    expect((await shown()).series).toMatchObject([{ kind: "manual", outcome: "run" }]);
    expect(await runs()).toHaveLength(1);
  });

  it("runs beyond those that are kept are deleted, but for one that somebody keeps", async () => {
    await put({ keep: 1 });
    const made: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      await comeDue();
      await deliver();
      const { active } = await shown();
      made.push(active?.run_id ?? "");
      if (round === 1) await door.json(ada, "PUT", `/evaluations/${active?.run_id}/keep`, {});
      await end();
    }
    skip(60_000);
    await object().poke();
    const { series } = await shown();
    expect(series.map(({ removed }) => removed)).toEqual([false, true, true, true]);
    // A run is gone when its files are; their alarms go by the real clock.
    for (const id of [made[0], made[2]]) await runDurableObjectAlarm(service.RUN.getByName(`acme/${id}`));
    const left = (await runs()).map(({ evaluation_id }) => evaluation_id);
    expect(left.toSorted()).toEqual([made[1], made[3]].sort());
  });

  it("a pause holds it, and nothing that was due meanwhile is made up for", async () => {
    await put();
    await door.json(ada, "POST", "/schedules/nightly/pause", { reason: "holidays" });
    expect(await shown()).toMatchObject({ paused: { by: "ada", reason: "holidays" }, next: [] });
    await comeDue(50 * HOUR);
    expect(sent).toEqual([]);
    await door.json(ada, "POST", "/schedules/nightly/resume", {});
    expect(sent).toEqual([]);
    await comeDue();
    await deliver();
    expect(await runs()).toHaveLength(1);
  });

  it("what passed during an outage is missed, and caught up with as it says", async () => {
    for (const [name, catch_up] of [
      ["none", "none"],
      ["last", "last"],
      ["all", "all"],
    ] as const)
      await put({ catch_up }, name);
    // Half an hour and more after the third: none is in time.
    skip(3 * HOUR + 40 * 60_000);
    for (const name of ["none", "last", "all"]) await object(name).poke();
    await deliver();
    const [none, last, all] = [await shown("none"), await shown("last"), await shown("all")];
    for (const { events } of [none, last, all]) expect(events.find(({ type }) => type === "schedule.missed")?.detail).toMatchObject({ count: 3 });
    expect([none.series.length, last.series.length, all.series.length + all.waiting.length]).toEqual([0, 1, 3]);
    expect(last.series[0]).toMatchObject({ kind: "late", due_at: new Date(Date.parse(last.next[0] ?? "") - HOUR).toISOString() });
  });
});
