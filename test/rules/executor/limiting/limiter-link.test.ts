import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gate } from "../../../../src/clients/gate.ts";
import type { Holder } from "../../../../src/executor/limiting/holder.ts";
import type { LimiterLink } from "../../../../src/executor/limiting/limiter-link.ts";
import { ask, outcome } from "../../../support/limiting/asked.ts";
import { limited, linked, OPEN } from "../../../support/limiting/scripted-limiter.ts";

let ids = 0;
const open = (link: LimiterLink, gate = new Gate(100), passes = () => false, team = "default"): Holder =>
  link.open({ id: `h${++ids}`, run: "r", team, kind: "model", priority: 1, caps: [], gate, passes });

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("an executor and a Limiter that limits nothing", () => {
  it("begins nothing before the first answer, and then as its gate has it", async () => {
    const { link, seen } = linked(() => OPEN);
    const holder = open(link, new Gate(3));
    const asked = ask(holder, 5);
    expect(asked.begun).toBe(0);
    await pass(5);
    expect(asked.begun).toBe(3);
    expect(seen).toHaveLength(1);
    holder.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(4);
  });

  it("begins nothing of another team before the Limiter has heard of that: it may have been given a limit", async () => {
    const { link, seen } = linked(() => OPEN);
    open(link);
    await pass(500);
    const same = ask(open(link), 1);
    const other = ask(open(link, new Gate(9), undefined, "acme"), 1);
    await pass(0);
    expect([same.begun, other.begun]).toEqual([1, 0]);
    await pass(5);
    expect([other.begun, seen.length]).toEqual([1, 2]);
  });

  it("says what was seen every two seconds, however many requests there are", async () => {
    const { link, seen } = linked(() => OPEN);
    const holder = open(link);
    await pass(10);
    for (let n = 0; n < 1_000; n++) {
      await holder.enter();
      await pass(10);
      holder.leave(outcome("accepted"));
    }
    expect(seen.length).toBeLessThanOrEqual(7);
    expect(seen.slice(1).reduce((sum, { request }) => sum + request.seen.accepted, 0)).toBeGreaterThan(800);
    expect(seen.at(-1)?.request.holders[0]).toMatchObject({ most: 100, waiting: 0, mean_cost: { input_tokens: 0, output_tokens: 0 } });
  });

  it("goes on while it does not answer", async () => {
    const { link, seen, troubles } = linked((_, nth) => (nth === 1 ? OPEN : "lost"));
    const holder = open(link);
    await pass(60_000);
    const asked = ask(holder, 10);
    await pass(0);
    expect(asked.begun).toBe(10);
    // After each time that it waits for an answer, up to two seconds.
    expect(seen.length).toBeLessThan(20);
    expect(troubles.some((each) => each.startsWith("silent"))).toBe(true);
  });

  it("goes on as without one that refuses to answer, and asks again later", async () => {
    const { link, seen, troubles } = linked(() => ({ kind: "refused", message: "another version" }));
    const asked = ask(open(link), 10);
    await pass(10);
    expect(asked.begun).toBe(10);
    expect(troubles).toEqual(["refused: another version"]);
    await pass(50_000);
    expect(seen).toHaveLength(1);
    await pass(20_000);
    expect(seen).toHaveLength(2);
  });
});

describe("an executor under a share", () => {
  it("has no more in flight than it says, and takes the next one of its line as one ends", async () => {
    const { link } = linked((request) => limited(request, 2));
    const holder = open(link);
    const asked = ask(holder, 5);
    await pass(5);
    expect(asked.begun).toBe(2);
    holder.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(3);
    expect(holder.inFlight).toBe(2);
    expect(holder.waiting).toBe(2);
  });

  it("begins at the pace of its rates", async () => {
    const { link } = linked((request) => limited(request, null, { requests: 10 }));
    const asked = ask(open(link, new Gate(0)), 1_000);
    await pass(10_000);
    // Ten a second; a little more comes with exchanges that are sent a little early.
    expect(asked.begun).toBeGreaterThan(95);
    expect(asked.begun).toBeLessThan(115);
  });

  it("begins nothing by one that has expired, and goes on when it hears again; what is open is still told", async () => {
    let silent = false;
    const { link, seen } = linked((request) => (silent ? "lost" : limited(request, 2)));
    const holder = open(link);
    const asked = ask(holder, 9);
    await pass(1_500);
    silent = true;
    await pass(3_000);
    holder.leave(outcome("accepted"));
    await pass(10);
    expect(asked.begun).toBe(2);
    silent = false;
    await pass(6_000);
    expect(asked.begun).toBe(3);
    expect(seen.at(-1)?.request.holders[0]?.in_flight).toBe(2);
  });

  it("counts a share from the sending of its exchange", async () => {
    const { link } = linked((request, nth) => (nth === 1 ? limited(request, 1, {}, { valid_ms: 100, again_ms: 3_000 }) : "lost"));
    const holder = open(link);
    const asked = ask(holder, 2);
    await pass(90);
    holder.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(2);
    const late = ask(holder, 1);
    await pass(20);
    holder.leave(outcome("accepted"));
    await pass(0);
    expect(late.begun).toBe(0);
  });

  it("keeps what is open when it becomes smaller, and begins again below it", async () => {
    const { link } = linked((request, nth) => limited(request, nth === 1 ? 4 : 1));
    const holder = open(link);
    const asked = ask(holder, 9);
    await pass(1_100);
    expect(holder.inFlight).toBe(4);
    for (let n = 0; n < 3; n++) holder.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(4);
    holder.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(5);
  });

  it("is lifted when nothing limits any more", async () => {
    const { link } = linked((request, nth) => (nth === 1 ? limited(request, 1) : OPEN));
    const asked = ask(open(link), 9);
    await pass(500);
    expect(asked.begun).toBe(1);
    await pass(600);
    expect(asked.begun).toBe(9);
  });

  it("holds no permit of the gate while it waits, so that another place of the grant has it", async () => {
    const gate = new Gate(2);
    const none = linked((request) => limited(request, 0));
    const all = linked(() => OPEN);
    const waits = ask(open(none.link, gate), 5);
    const works = open(all.link, gate);
    const asked = ask(works, 3);
    await pass(5);
    expect([waits.begun, asked.begun]).toEqual([0, 2]);
    works.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(3);
  });

  it("has one place in the gate's line for all that wait, so that places of a grant take turns", async () => {
    const gate = new Gate(1);
    const [one, other] = [linked(() => OPEN), linked(() => OPEN)];
    const [a, b] = [open(one.link, gate), open(other.link, gate)];
    const [first, second] = [ask(a, 4), ask(b, 4)];
    await pass(5);
    const order: string[] = [];
    for (let n = 0; n < 6; n++) {
      const holder = a.inFlight > 0 ? a : b;
      order.push(holder === a ? "a" : "b");
      holder.leave(outcome("accepted"));
      await pass(0);
    }
    expect(first.begun + second.begun).toBe(7);
    expect(order).toEqual(["a", "a", "b", "a", "b", "a"]);
    expect(gate.inFlight).toBe(1);
  });

  it("gives the gate's permit back that comes when nobody wants it any more", async () => {
    const gate = new Gate(1);
    const { link } = linked(() => OPEN);
    const holder = open(link, gate);
    ask(holder, 1);
    await pass(5);
    const gone = new AbortController();
    const waiting = ask(holder, 3, gone.signal);
    gone.abort(new Error("enough"));
    await pass(0);
    expect(waiting).toEqual({ begun: 0, gaveUp: 3 });
    holder.leave(outcome("accepted"));
    expect(gate.inFlight).toBe(0);
    expect(ask(holder, 1)).toBeDefined();
    await pass(0);
    expect(gate.inFlight).toBe(1);
  });

  it("loses nothing when those that wait for a share give up", async () => {
    let concurrent = 0;
    const { link } = linked((request) => limited(request, concurrent, {}, { again_ms: 200 }));
    const holder = open(link);
    await pass(5);
    const gone = new AbortController();
    const first = ask(holder, 3, gone.signal);
    const second = ask(holder, 2);
    gone.abort(new Error("enough"));
    expect(holder.waiting).toBe(2);
    concurrent = 1;
    await pass(300);
    expect([first.gaveUp, second.begun]).toEqual([3, 1]);
  });
});

describe("exchanges", () => {
  it("come at once where a holder begins to wait that did not, and not again for what the Limiter knows", async () => {
    const { link, seen } = linked((request) => limited(request, 1, {}, { again_ms: 3_000, valid_ms: 9_000 }));
    const holder = open(link);
    await pass(1_000);
    expect(seen).toHaveLength(1);
    ask(holder, 3);
    await pass(100);
    expect(seen).toHaveLength(2);
    expect(seen[1]?.request.holders[0]).toMatchObject({ in_flight: 1, waiting: 2 });
    for (let n = 0; n < 5; n++) {
      ask(holder, 1);
      await pass(100);
    }
    expect(seen).toHaveLength(2);
  });

  it("come at once with the first refusal, and the first request that found no server", async () => {
    const { link, seen } = linked(() => OPEN);
    const holder = open(link);
    ask(holder, 4);
    await pass(500);
    holder.leave(outcome("rate_limited"));
    holder.leave(outcome("rate_limited"));
    await pass(5);
    expect(seen).toHaveLength(2);
    expect(seen[1]?.request.seen).toMatchObject({ sent: 4, rate_limited: 2 });
    await pass(500);
    holder.leave(outcome("missed"));
    await pass(5);
    expect(seen).toHaveLength(3);
  });

  it("are repeated under their number with what was seen then, and everything is told once", async () => {
    const { link, seen } = linked((_, nth) => (nth === 2 || nth === 3 ? "fails" : OPEN));
    const holder = open(link);
    ask(holder, 6);
    await pass(1_000);
    holder.leave(outcome("accepted"));
    // The second one fails, and is repeated after 100 ms and 200 ms.
    await pass(1_050);
    holder.leave(outcome("accepted"));
    await pass(200);
    holder.leave(outcome("accepted"));
    await pass(3_000);
    expect(seen.map(({ request: { seq, seen: told, holders } }) => [seq, told.accepted, holders[0]?.accepted, holders[0]?.in_flight])).toEqual([
      [1, 0, 0, 0],
      [2, 1, 1, 5],
      [2, 1, 1, 4],
      [2, 1, 1, 3],
      [3, 2, 2, 3],
    ]);
  });

  it("that are not answered in time are not believed later", async () => {
    const long = { again_ms: 60_000, valid_ms: 60_000 };
    const { link, seen } = linked((request, nth) => (nth === 1 ? { after: 3_500, answer: limited(request, 4, {}, long) } : limited(request, 1, {}, long)));
    const asked = ask(open(link), 5);
    await pass(10_000);
    expect(seen.map(({ request }) => request.seq)).toEqual([1, 1]);
    expect(asked.begun).toBe(1);
  });

  it("name nobody once all have left, and then stop", async () => {
    const { link, seen } = linked((request) => limited(request, 2));
    const [one, other] = [open(link), open(link)];
    ask(one, 1);
    await pass(300);
    one.close();
    other.close();
    await pass(150);
    // What is in flight is told until it has ended.
    expect(seen.at(-1)?.request.holders).toMatchObject([{ id: one.name.id, in_flight: 1 }]);
    one.leave(outcome("accepted"));
    await pass(150);
    expect(seen.at(-1)?.request.holders).toEqual([]);
    const { length } = seen;
    await pass(60_000);
    expect(seen).toHaveLength(length);
    // Whoever comes later asks first: what is known is old.
    const later = ask(open(link), 1);
    expect(later.begun).toBe(0);
    await pass(5);
    expect(seen.at(-1)?.request.seen.over_ms).toBe(0);
    expect([later.begun, seen.length]).toEqual([1, length + 1]);
  });

  it("is asked for the next grant, though it never heard that the last one was over", async () => {
    const { link, seen } = linked((request) => (request.holders.length === 0 ? "fails" : limited(request, 1)));
    open(link).close();
    await pass(5_000);
    const before = seen.length;
    const asked = ask(open(link), 1);
    await pass(10);
    expect([seen.length, asked.begun]).toEqual([before + 1, 1]);
  });

  it("say at once that the executor leaves, and it waits for no Limiter that is not there", async () => {
    const { link, seen } = linked(() => OPEN);
    open(link);
    await pass(100);
    let left = false;
    link.leave(() => {
      left = true;
    });
    await pass(5);
    expect(left).toBe(true);
    expect(seen.at(-1)?.request.holders).toEqual([]);
    link.leave(() => {
      left = false;
    });
    expect(left).toBe(false);
  });
});

describe("a pause that the Limiter tells", () => {
  it("stops what has not begun, and ends by itself, or earlier by its word", async () => {
    const { link } = linked((_, nth) => ({ ...OPEN, again_ms: 1_000, pause_ms: nth === 1 ? 1_500 : null }));
    const holder = open(link);
    const asked = ask(holder, 2);
    await pass(900);
    expect([asked.begun, holder.waiting, link.pausedUntil !== null]).toEqual([0, 2, true]);
    await pass(200);
    expect(asked.begun).toBe(2);
    const alone = linked((_, nth) => (nth === 1 ? { ...OPEN, pause_ms: 1_500 } : "lost"));
    const others = ask(open(alone.link), 2);
    await pass(1_400);
    expect(others.begun).toBe(0);
    await pass(150);
    expect(others.begun).toBe(2);
  });
});
