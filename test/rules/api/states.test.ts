import { describe, expect, it } from "vitest";
import type { RegistryControl } from "../../../durable-objects/registry/registry-control.ts";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { stateFrames, writtenState } from "../../../src/api/live/states.ts";
import { ListWatch } from "../../../src/api/live/list-watch.ts";
import { fullState, MAX_FOLLOWED } from "../../../src/api/live/live-schemas.ts";
import { listedEvaluation } from "../../../src/api/runs/evaluation-object.ts";
import * as answers from "../../../src/api/response-schemas.ts";
import { evaluationList } from "../../../src/api/runs/list-schemas.ts";
import { RunWatch } from "../../../src/api/runs/run-watch.ts";
import { projectionOf } from "../../../durable-objects/run/reading/view.ts";
import { CONFIG, FakeRun, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const ID = CONFIG.run_id;
const OTHER = "0000ffff";
const SETTLED: Partial<RunView> = { status: "COMPLETED", phase: "settled", units: { total: 2, done: 2, open: 0, pending: 0 } };

interface Frame {
  readonly event: string;
  readonly data: {
    readonly evaluation_id?: string;
    readonly run_id?: string;
    readonly status?: string;
    readonly edgewise?: { readonly done_rollouts: number };
  };
}
const textOf = (frame: Uint8Array | string): string => (typeof frame === "string" ? frame : new TextDecoder().decode(frame));
const parse = (text: string): Frame[] =>
  text.split("\n\n").flatMap((block) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
    return event === undefined || data === undefined ? [] : [{ event, data: JSON.parse(data) as Frame["data"] }];
  });

describe("the states of several runs", () => {
  it("are told at once, each as the list has it, and end when all have settled", async () => {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG, SETTLED);
    const response = await door.call("GET", `/evaluation-states?ids=${ID},${OTHER},${ID}`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const frames = parse(await response.text());
    expect(frames.map(({ event, data }) => [event, data.evaluation_id ?? data.run_id])).toEqual([
      ["gone", OTHER],
      ["state", ID],
      ["end", undefined],
    ]);
    expect(evaluationList.shape.evaluations.element.parse(frames[1]?.data)).toMatchObject({ status: "COMPLETED", edgewise: { settled: true } });
  });

  it("are with `full` as the page of a run needs them: what moves, and the whole state under edgewise", async () => {
    const door = openDoor();
    const totals = { ...viewFor(CONFIG, {}).totals, rollouts: 3, reward_sum: 2, errors: { timeout: 1 }, metrics: { exact: { sum: 2, count: 2 } } };
    door.run(ID).state = viewFor(CONFIG, { ...SETTLED, totals });
    const [state] = parse(await (await door.call("GET", `/evaluation-states?ids=${ID}&full=true`)).text());
    const told = fullState.parse(state?.data);
    expect(told).toMatchObject({
      evaluation_id: ID,
      status: "COMPLETED",
      metrics: { metrics: { exact: 1 } },
      edgewise: { errors: { timeout: 1 }, settled: true },
    });
    const whole = answers.evaluation.parse(await (await door.call("GET", `/evaluations/${ID}`)).json());
    const { settings: _, resumable: __, ...rest } = whole.edgewise;
    expect(told).toEqual({ ...Object.fromEntries(Object.keys(told).map((key) => [key, whole[key as keyof typeof whole]])), edgewise: rest });
  });

  it("are one line each for readers to whom a line ends at more than CR and LF", async () => {
    const door = openDoor();
    const model = "line\u2028separator\u2029and\u0085next";
    door.run(ID).state = viewFor({ ...CONFIG, model }, SETTLED);
    for (const form of ["", "&full=true"]) {
      const text = await (await door.call("GET", `/evaluation-states?ids=${ID}${form}`)).text();
      expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
      expect(JSON.stringify(parse(text))).toContain(model);
    }
  });

  it("come again when they change, and only then; a run that cannot be reached is looked at again", async () => {
    const run = new FakeRun();
    run.state = viewFor(CONFIG, { units: { total: 2, done: 0, open: 2, pending: 0 } });
    let clock = 0;
    let looks = 0;
    const pace = {
      pollMs: 200,
      now: () => clock,
      sleep: async (ms: number) => {
        clock += ms;
        looks += 1;
        if (looks === 5) run.state = viewFor(CONFIG, { units: { total: 2, done: 1, open: 1, pending: 0 } });
        if (looks === 20) run.state = viewFor(CONFIG, SETTLED);
      },
    };
    const broken = new Proxy(run, { get: (target, name) => (name === "view" ? () => Promise.reject(new Error("restart")) : Reflect.get(target, name)) });
    const watch = new RunWatch(pace);
    const frames = stateFrames(
      { followed: [{ id: ID, run: () => (looks === 8 ? broken : run), watch }], changes: null },
      ({ latest }) => (latest === null ? null : writtenState(listedEvaluation(projectionOf(latest, 1), "http://x"))),
      pace,
    );
    let text = "";
    for await (const frame of frames) text += textOf(frame);
    expect(parse(text).map(({ event, data }) => [event, data.edgewise?.done_rollouts])).toEqual([
      ["state", 0],
      ["state", CONFIG.rollouts_per_example],
      ["state", 2 * CONFIG.rollouts_per_example],
      ["end", undefined],
    ]);
    // A viewer that has left is noticed when something is written.
    expect(text).toContain("\n\n:\n\n");
  });

  it("tell when the list is another one, though no run is followed, and outlast a Registry that is away", async () => {
    let clock = 0;
    const pace = {
      pollMs: 1_000,
      now: () => clock,
      sleep: async (ms: number) => {
        clock += ms;
      },
    };
    const changes = async (): Promise<string> => {
      if (clock === 3_000) throw new Error("restart");
      return clock < 5_000 ? "a-1" : "a-2";
    };
    let text = "";
    for await (const frame of stateFrames({ followed: [], changes }, () => null, pace)) text += textOf(frame);
    expect(parse(text)).toEqual([
      { event: "list", data: { changes: "a-1" } },
      { event: "list", data: { changes: "a-2" } },
    ]);
  });

  it("of the list are asked for once for all who wake together, and again where who asked has left", async () => {
    let clock = 0;
    let asked = 0;
    const answers: ((text: string) => void)[] = [];
    const listChanges = (): Promise<string> => {
      asked++;
      return new Promise((answer) => answers.push(answer));
    };
    const registry = { listChanges } as unknown as RegistryControl;
    const watch = new ListWatch();
    const step = (): Promise<string | null> =>
      watch.step(
        () => registry,
        () => clock,
        500,
      );
    const first = Array.from({ length: 200 }, step);
    expect(asked).toBe(1);
    answers[0]?.("a-1");
    expect(new Set(await Promise.all(first))).toEqual(new Set(["a-1", null]));
    clock = 499;
    expect([await step(), asked]).toEqual(["a-1", 1]);
    clock = 600;
    void step();
    expect([await step(), asked]).toEqual(["a-1", 2]);
    // That one never comes back.
    clock = 1_700;
    const later = step();
    expect(asked).toBe(3);
    answers[2]?.("a-2");
    expect([await later, await step()]).toEqual(["a-2", "a-2"]);
  });

  it("leave the events to who follows them: whoever comes for them reads what no look has brought, and then shares again", async () => {
    const run = new FakeRun();
    run.state = viewFor(CONFIG, { seq: 3 });
    let clock = 0;
    let read = 0;
    const counted = new Proxy(run, {
      get: (target, name) => {
        if (name === "events") read += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    const watch = new RunWatch({ pollMs: 200, now: () => clock });
    const look = async (most: number | null): Promise<void> => {
      clock += 500;
      await watch.step({}, () => counted, most);
    };
    await look(500);
    run.state = viewFor(CONFIG, { seq: 7 });
    await look(500);
    expect([read, watch.latest?.seq, watch.reaches(3), watch.reaches(7)]).toEqual([0, 7, false, true]);
    run.state = viewFor(CONFIG, { seq: 9 });
    await look(null);
    run.state = viewFor(CONFIG, { seq: 11 });
    await look(500);
    expect([read, watch.reaches(7)]).toEqual([2, true]);
  });

  it("come as often when two hundred follow, for the looks of one", async () => {
    const run = new FakeRun();
    let clock = 0;
    const pace = { pollMs: 200, now: () => clock, sleep: async () => undefined };
    let looks = 0;
    const counted = new Proxy(run, {
      get: (target, name) => {
        if (name !== "view") return Reflect.get(target, name);
        return async () => {
          looks += 1;
          return viewFor(CONFIG, {});
        };
      },
    });
    const watch = new RunWatch(pace);
    const followers = Array.from({ length: 200 }, () => ({}));
    for (let tick = 0; tick < 10; tick += 1) {
      for (const follower of followers) await watch.step(follower, () => counted, 500);
      clock += 500;
    }
    expect(looks).toBe(10);
    // Who is sent every commit waits longer among so many.
    expect(watch.interval).toBe(2_000);
  });

  it("reach all who follow a run with the look that saw it, whenever each of them came", async () => {
    const run = new FakeRun();
    run.state = viewFor(CONFIG, { units: { total: 2, done: 0, open: 2, pending: 0 } });
    let clock = 0;
    const timers: { readonly at: number; readonly wake: () => void }[] = [];
    const pace = { pollMs: 1_000, now: () => clock, sleep: (ms: number) => new Promise<void>((wake) => timers.push({ at: clock + ms, wake })) };
    const watch = new RunWatch(pace);
    let looks = 0;
    const counted = new Proxy(run, {
      get: (target, name) => {
        if (name === "view") looks += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    const CHANGED_AT = 3_210;
    const heard: number[] = [];
    const follow = async (from: number): Promise<void> => {
      await pace.sleep(from);
      const told = { followed: [{ id: ID, run: () => counted, watch }], changes: null };
      for await (const frame of stateFrames(
        told,
        ({ latest }) => (latest === null ? null : writtenState({ edgewise: { done_rollouts: latest.units.done } })),
        pace,
      ))
        if (textOf(frame).includes('"done_rollouts":1')) heard.push(clock);
    };
    const streams = Array.from({ length: 20 }, (_, index) => follow(index * 27));
    void pace.sleep(CHANGED_AT).then(() => {
      run.state = viewFor(CONFIG, { units: { total: 2, done: 1, open: 1, pending: 0 } });
    });
    while (timers.length > 0) {
      timers.sort((a, b) => b.at - a.at);
      const next = timers.pop();
      clock = next?.at ?? clock;
      next?.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(streams);
    expect(heard).toHaveLength(20);
    expect(Math.max(...heard)).toBeLessThanOrEqual(CHANGED_AT + 600);
    // Two a second, however many follow.
    expect(looks).toBeLessThanOrEqual(2 * 26 + 2);
  });

  it("of a look that takes its time make each stream come once for it, and go on when the stream that took it has left", async () => {
    const LOOK_MS = 120;
    const run = new FakeRun();
    let clock = 0;
    const timers: { readonly at: number; readonly wake: () => void }[] = [];
    const sleep = (ms: number) => new Promise<void>((wake) => timers.push({ at: clock + ms, wake }));
    let [looks, events, wakes] = [0, 0, 0];
    const slow = new Proxy(run, {
      get: (target, name) => {
        if (name === "events") events += 1;
        if (name !== "view") return Reflect.get(target, name) as unknown;
        return async () => {
          looks += 1;
          await sleep(LOOK_MS);
          return viewFor(CONFIG, { seq: looks, units: { total: 200, done: looks, open: 2, pending: 0 } });
        };
      },
    });
    const watch = new RunWatch({ pollMs: 1_000, now: () => clock });
    const STREAMS = 20;
    let heard = 0;
    const follow = async (index: number): Promise<void> => {
      await sleep(index * 27);
      const pace = {
        now: () => clock,
        sleep: (ms: number) => {
          wakes++;
          return sleep(ms);
        },
      };
      const told = { followed: [{ id: ID, run: () => slow, watch }], changes: null };
      for await (const frame of stateFrames(told, ({ latest }) => (latest === null ? null : writtenState({ done: latest.units.done })), pace)) {
        if (textOf(frame).includes('"done"')) heard += 1;
        // The first one is left in the middle: whoever is to take the next look may be.
        if (index === 0 && clock > 10_000) return;
      }
    };
    const streams = Array.from({ length: STREAMS }, (_, index) => follow(index));
    while (timers.length > 0) {
      timers.sort((a, b) => b.at - a.at);
      const next = timers.pop();
      clock = next?.at ?? clock;
      next?.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(streams);
    // 25 s at half a second and the time of a look.
    expect(looks).toBeGreaterThan(35);
    expect(heard).toBeGreaterThan(35 * (STREAMS - 1));
    expect(wakes).toBeLessThan(1.2 * STREAMS * looks);
    // Nobody follows them here.
    expect(events).toBe(0);
  });

  it("of runs that go on end after 25 s, without an end", async () => {
    const run = new FakeRun();
    run.state = viewFor(CONFIG, {});
    let clock = 0;
    const pace = {
      pollMs: 1_000,
      now: () => clock,
      sleep: async (ms: number) => {
        clock += ms;
      },
    };
    let text = "";
    for await (const frame of stateFrames(
      { followed: [{ id: ID, run: () => run, watch: new RunWatch(pace) }], changes: null },
      () => writtenState({ a: 1 }),
      pace,
    ))
      text += textOf(frame);
    expect(parse(text).map(({ event }) => event)).toEqual(["state"]);
    expect(clock).toBe(25_000);
  });

  it.each([
    ["?list=yes", "query.list"],
    ["?full=1", "query.full"],
    ["?ids=,", "run ids"],
    ["?ids=xyz", "run ids"],
    [`?ids=${Array.from({ length: MAX_FOLLOWED + 1 }, () => ID).join(",")}`, `at most ${MAX_FOLLOWED}`],
    [`?ids=${ID}&id=${ID}`, "id"],
  ])("refuses %s", async (query, said) => {
    const response = await openDoor().call("GET", `/evaluation-states${query}`);
    expect(response.status).toBe(422);
    const { detail } = (await response.json()) as { detail: { loc: string[]; msg: string }[] };
    expect(detail.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join("; ")).toContain(said);
  });
});
