import { describe, expect, it, vi } from "vitest";
import type { RunView } from "../../../durable-objects/run/control.ts";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";
import { eventFrames } from "../../../src/api/runs/events.ts";
import { type Pace, RunWatch } from "../../../src/api/runs/run-watch.ts";
import { CONFIG, FakeRun, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const ID = CONFIG.run_id;
const log = (seq: number, message: string): StoredEvent => ({ seq, time: 1000 + seq, type: "log", level: "INFO", message, rollouts: 0 });
const commit = (seq: number, rollouts: number): StoredEvent => ({ seq, time: 1000 + seq, type: "commit", level: "INFO", message: "", rollouts });
const SETTLED: Partial<RunView> = { status: "COMPLETED", phase: "settled", units: { total: 2, done: 2, open: 0, pending: 0 } };

interface Frame {
  id?: string;
  event?: string;
  data?: unknown;
  retry?: string;
}
function parse(text: string): Frame[] {
  const blocks = text.split("\n\n").filter((block) => block !== "" && block !== ":");
  return blocks.map((block) => {
    const fields = Object.fromEntries(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
    return { ...fields, ...(fields.data === undefined ? {} : { data: JSON.parse(fields.data) }) };
  });
}
const names = (frames: Frame[]): (string | undefined)[] => frames.map(({ event, id }) => (id === undefined ? event : `${event} ${id}`));

describe("an event stream", () => {
  it("of a finished run: everything stored, in order, then the end", async () => {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG, { ...SETTLED, seq: 3 });
    door.run(ID).stored = [log(1, "two\nlines"), commit(2, 2), log(3, "done")];
    const response = await door.call("GET", `/evaluations/${ID}/events`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const frames = parse(await response.text());
    expect(frames).toEqual([
      { retry: "100" },
      { id: "1", event: "log", data: { seq: 1, time: 1001, level: "INFO", message: "two\nlines" } },
      { id: "2", event: "commit", data: { seq: 2, rollouts: 2 } },
      { id: "3", event: "log", data: { seq: 3, time: 1003, level: "INFO", message: "done" } },
      { event: "end", data: expect.objectContaining({ settled: true, done_rollouts: 4 }) },
    ]);
  });

  it.each([
    ["?after=2", {}],
    ["?after=0", { "last-event-id": "2" }],
  ])("goes on where the viewer was: %s %o", async (query, headers) => {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG, { ...SETTLED, seq: 3 });
    door.run(ID).stored = [log(1, "a"), log(2, "b"), log(3, "c")];
    const text = await (await door.call("GET", `/evaluations/${ID}/events${query}`, undefined, headers)).text();
    expect(names(parse(text))).toEqual([undefined, "log 3", "end"]);
  });

  it("pages through any number of stored events before it ends", async () => {
    const door = openDoor();
    const stored = Array.from({ length: 1201 }, (_, index) => log(index + 1, "x"));
    door.run(ID).state = viewFor(CONFIG, { ...SETTLED, seq: 1201 });
    door.run(ID).stored = stored;
    const found = names(parse(await (await door.call("GET", `/evaluations/${ID}/events`)).text())).filter((name) => name?.startsWith("log"));
    expect(found).toEqual(stored.map(({ seq }) => `log ${seq}`));
  });

  it("refuses a place that is no number", async () => {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG);
    expect((await door.call("GET", `/evaluations/${ID}/events?after=-1`)).status).toBe(422);
    expect((await door.call("GET", `/evaluations/${ID}/events`, undefined, { "last-event-id": "x" })).status).toBe(422);
  });
});

/** A pace whose sleeps pass at once, and move the clock. */
const paceOf = (clock: { now: number }, pollMs = 1): Pace => ({
  pollMs,
  now: () => clock.now,
  sleep: async (ms) => {
    clock.now += ms;
  },
});

/** A run whose state follows a script, one step per look, under a clock that the looks move. */
function scripted(steps: readonly Partial<RunView>[], msPerLook: number) {
  const run = new FakeRun();
  const clock = { now: 0, looks: 0 };
  run.view = async () => {
    clock.now += msPerLook;
    return viewFor(CONFIG, steps[Math.min(clock.looks++, steps.length - 1)]);
  };
  return { run, clock };
}
const textOf = (chunk: Uint8Array | string): string => (typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
async function* follow(run: FakeRun, clock: { now: number }): AsyncGenerator<Uint8Array | string> {
  const pace = paceOf(clock);
  const opened = await run.view();
  if (opened !== null) yield* eventFrames(() => run, opened, 0, new RunWatch(pace), pace);
}
async function collect(frames: AsyncGenerator<Uint8Array | string>): Promise<Frame[]> {
  let text = "";
  for await (const frame of frames) text += textOf(frame);
  return parse(text);
}

describe("the progress of a run", () => {
  it("is shown at once, then only when it changed", async () => {
    const units = (done: number) => ({ units: { total: 2, done, open: 0, pending: 0 } });
    const { run, clock } = scripted([units(0), units(0), units(0), units(1), units(1), { ...SETTLED }], 300);
    const frames = await collect(follow(run, clock));
    expect(frames.slice(1).map(({ event, data }) => [event, (data as { done_units: number }).done_units])).toEqual([
      ["progress", 0],
      ["progress", 1],
      ["end", 2],
    ]);
  });

  it("is shown at most every 250 ms", async () => {
    const steps = Array.from({ length: 10 }, (_, done) => ({ units: { total: 10, done, open: 0, pending: 0 } }));
    const { run, clock } = scripted([...steps, SETTLED], 100);
    const frames = await collect(follow(run, clock));
    expect(frames.filter(({ event }) => event === "progress").length).toBe(4);
  });

  it("of a run that goes on ends after 25 s, without an end", async () => {
    const { run, clock } = scripted([{}], 1000);
    const frames = await collect(follow(run, clock));
    expect(names(frames)).toEqual([undefined, "progress"]);
    // One when it was opened, and one per second.
    expect(clock.looks).toBe(26);
  });

  it("does not end before the last stored event was sent", async () => {
    const { run, clock } = scripted([{ ...SETTLED, seq: 2 }], 1);
    run.stored = [log(1, "a"), log(2, "b")];
    run.events = async (after) => run.stored.filter(({ seq }) => seq === after + 1);
    expect(names(await collect(follow(run, clock)))).toEqual([undefined, "log 1", "log 2", "end"]);
  });

  it("breaks off, and is taken up again later, when the Run cannot be reached", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { run, clock } = scripted([{}], 300);
    run.events = () => Promise.reject(new Error("reset"));
    const { view } = run;
    run.view = async () => ({ ...viewFor(CONFIG), ...(await view()), seq: clock.looks > 1 ? 1 : 0 });
    expect(names(await collect(follow(run, clock)))).toEqual([undefined, "progress"]);
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });

  it("writes something every second even when nothing happens, so that a viewer that left is noticed", async () => {
    const { run, clock } = scripted([{}], 100);
    const written: number[] = [];
    for await (const frame of follow(run, clock)) {
      if (frame === ":\n\n") written.push(clock.now);
    }
    expect(written.length).toBeGreaterThan(20);
    expect(Math.max(...written.slice(1).map((time, index) => time - (written[index] ?? 0)))).toBeLessThanOrEqual(1100);
  });

  it("stops looking when the viewer leaves", async () => {
    const door = openDoor({ pollMs: 5 });
    door.run(ID).state = viewFor(CONFIG);
    let looks = 0;
    const view = door.run(ID).view.bind(door.run(ID));
    door.run(ID).view = () => {
      looks++;
      return view();
    };
    const response = await door.call("GET", `/evaluations/${ID}/events`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    const atCancel = looks;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(looks).toBe(atCancel);
  });
});

describe("many followers of one run", () => {
  /** A run that commits at every look, one look per 200 ms of a clock that all followers share. */
  function busy() {
    const run = new FakeRun();
    const clock = { now: 1_000, looks: 0, pages: 0 };
    run.view = async () => {
      clock.looks++;
      const seq = clock.looks * 3;
      run.stored = Array.from({ length: seq }, (_, index) => commit(index + 1, 2));
      return viewFor(CONFIG, { seq, units: { total: 1000, done: seq, open: 0, pending: 0 } });
    };
    const { events } = run;
    run.events = async (after, limit) => {
      clock.pages++;
      return events.call(run, after, limit);
    };
    return { run, clock };
  }
  /** Followers in step: each takes a turn, then time passes for all of them. */
  async function turns(watch: RunWatch, run: FakeRun, clock: { now: number }, followers: readonly object[], times: number): Promise<void> {
    for (let turn = 0; turn < times; turn++) {
      await Promise.all(followers.map((follower) => watch.step(follower, () => run)));
      clock.now += watch.interval;
    }
  }
  const open = (times: number): object[] => Array.from({ length: times }, () => ({}));
  const none = viewFor(CONFIG);

  it("look once, read each event once, and are sent the same bytes", async () => {
    const { run, clock } = busy();
    const watch = new RunWatch(paceOf(clock, 200));
    const followers = open(200);
    await turns(watch, run, clock, followers, 10);
    expect(clock.looks).toBe(10);
    expect(clock.pages).toBe(9);
    const [first, second] = [watch.bytes(27, "progress"), watch.bytes(27, "progress")];
    expect(first).toBe(second);
    expect(names(parse(textOf(first ?? "")))).toEqual(["commit 28", "commit 29", "commit 30", "progress"]);
  });

  it("make looks rarer, up to two seconds, and again more frequent when they have gone", async () => {
    const { run, clock } = busy();
    const watch = new RunWatch(paceOf(clock, 200));
    const [one, ...others] = open(200);
    if (one === undefined) throw new Error("no follower");
    await turns(watch, run, clock, [one, ...others], 3);
    expect(watch.interval).toBe(2_000);
    await turns(watch, run, clock, [one, ...others.slice(0, 24)], 3);
    expect(watch.interval).toBe(600);
    await turns(watch, run, clock, [one], 3);
    expect(watch.interval).toBe(200);
  });

  it("do not tell one who comes later what was seen before: the run may have been resumed since", async () => {
    const { run, clock } = busy();
    const watch = new RunWatch(paceOf(clock, 200));
    await watch.step({}, () => run);
    const resumed = viewFor(CONFIG, { seq: 4 });
    expect([watch.since(viewFor(CONFIG, { seq: 3 }))?.view.seq, watch.since(resumed)]).toEqual([3, null]);
    clock.now += 200;
    await watch.step({}, () => run);
    expect(watch.since(resumed)?.view.seq).toBe(6);
    // Deleted, and made again under its old id: fewer events, which are news all the same.
    expect(watch.since(viewFor(CONFIG, { seq: 1, created_at: CONFIG.created_at + 1 }))).toBeNull();
  });

  it("go on when the one that was looking has left in the middle of it", async () => {
    const { run, clock } = busy();
    const watch = new RunWatch(paceOf(clock, 200));
    const answered = run.view;
    let answer: (view: RunView | null) => void = () => undefined;
    run.view = () => new Promise((resolve) => (answer = resolve));
    const lost = watch.step({}, () => run);
    run.view = answered;
    const other = {};
    await watch.step(other, () => run);
    expect(clock.looks).toBe(0);
    clock.now += 1_000;
    await watch.step(other, () => run);
    expect(watch.since(none)?.view.seq).toBe(3);
    // What comes back after all is old news.
    answer(viewFor(CONFIG, { seq: 1 }));
    await lost;
    expect(watch.since(none)?.view.seq).toBe(3);
  });

  it("who is far behind reads by itself what is not kept, and misses nothing", async () => {
    const { run, clock } = busy();
    const watch = new RunWatch(paceOf(clock, 200));
    await turns(watch, run, clock, open(1), 400);
    expect([watch.reaches(0), watch.reaches(199), watch.reaches(200)]).toEqual([false, false, true]);
    const pace = paceOf(clock, 200);
    const frames = eventFrames(() => run, viewFor(CONFIG), 0, watch, pace);
    const seen: string[] = [];
    for (let chunk = await frames.next(); !chunk.done && seen.length < 1_200; chunk = await frames.next()) {
      seen.push(...parse(textOf(chunk.value)).flatMap(({ id }) => (id === undefined ? [] : [id])));
    }
    expect(seen.slice(0, 1_200)).toEqual(Array.from({ length: 1_200 }, (_, index) => String(index + 1)));
  });
});
