import { describe, expect, it } from "vitest";
import type { Heartbeat } from "../../../../durable-objects/run/sending/heartbeat.ts";
import { HeartbeatSender } from "../../../../durable-objects/run/sending/heartbeat-sender.ts";
import type { Grant } from "../../../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const URL = "https://watch.example.com/ping/s3cret-path?token=s3cret-query";
const WATCHED: Partial<RunConfig> = { heartbeat_url: URL, stall_minutes: 2 };
/** An executor's own interval, which keeps leases alive while time passes. */
const STEP_MS = 5_000;

/** Lets time pass with an executor that beats all along; `answered` gives its count of answered requests. Returns the heartbeats sent. */
function pass(run: RuleRun, grant: Grant, ms: number, answered: (now: number) => number = () => 0): Heartbeat[] {
  const sent: Heartbeat[] = [];
  for (const end = run.now + ms; run.now < end; ) {
    run.now += STEP_MS;
    const vitals = { in_flight: 1, retries: 0, waiting: 0, paused_until: null, progress: answered(run.now) };
    run.call("beat", { ...run.id(grant), started: [], vitals });
    if (run.outbox?.heartbeat) sent.push(run.outbox.heartbeat);
  }
  return sent;
}

const sentBy = (run: RuleRun): Heartbeat | null => run.outbox?.heartbeat ?? null;
const logOf = (run: RuleRun): string[] => run.ledger.events.filter(({ type }) => type === "log").map(({ level, message }) => `${level} ${message}`);

describe("a run with a heartbeat URL", () => {
  it("beats at each commit, and a last time when it is COMPLETED", () => {
    const run = RuleRun.open(3, WATCHED);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 3 });
    expect(sentBy(run)).toBeNull();
    run.commit(grant, [0]);
    expect(sentBy(run)).toBe("unit");
    run.commit(grant, [1]);
    expect(sentBy(run)).toBe("unit");
    run.commit(grant, [2]);
    expect(run.head.status).toBe("COMPLETED");
    expect(sentBy(run)).toBe("last");
    run.call("heartbeat", { heartbeat: "last", problem: null });
    run.leave(grant);
    run.settle();
    run.now += 3_600_000;
    run.call("wake", null);
    expect(sentBy(run)).toBeNull();
  });

  it("does not beat at rows that were committed before", () => {
    const run = RuleRun.open(3, WATCHED);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 3 });
    run.commit(grant, [0], [summary()], "1-2-1");
    run.commit(grant, [0], [summary()], "1-2-1");
    expect(sentBy(run)).toBeNull();
  });

  it("repeats the last one when nothing is known of it: its object was lost on the way", () => {
    const run = RuleRun.open(1, WATCHED);
    run.work();
    expect(run.head.status).toBe("COMPLETED");
    run.settle();
    expect(run.wake).not.toBeNull();
    run.now += 30_000;
    run.call("wake", null);
    expect(sentBy(run)).toBe("last");
    run.call("heartbeat", { heartbeat: "last", problem: "no connection" });
    run.now += 60_000;
    run.call("wake", null);
    expect(sentBy(run)).toBeNull();
  });

  it("beats every 30 s during one long unit, as long as requests are answered", () => {
    const run = RuleRun.open(1, WATCHED);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 1 });
    expect(pass(run, grant, 600_000, (now) => Math.floor(now / 60_000))).toEqual(Array.from({ length: 20 }, () => "timer"));
    expect(logOf(run).join("\n")).not.toContain("progress");
  });

  it("falls silent when nothing has progressed for stall_minutes, says so once, and goes on with the next answer", () => {
    const run = RuleRun.open(1, WATCHED);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 1 });
    expect(pass(run, grant, 600_000)).toHaveLength(3);
    expect(logOf(run).filter((line) => line.startsWith("WARNING Nothing has progressed for 2 min"))).toHaveLength(1);
    expect(pass(run, grant, 60_000, () => 1)).toEqual(["timer", "timer"]);
    expect(logOf(run).at(-1)).toBe("INFO The run progresses again");
  });

  it("counts what a ticket saw of progress after that ticket has ended", () => {
    const run = RuleRun.open(2, WATCHED);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 1 });
    pass(run, grant, 100_000, (now) => now);
    run.leave(grant);
    run.now += 90_000;
    run.call("wake", null);
    expect(logOf(run).join("\n")).not.toContain("Nothing has progressed");
  });

  it("wakes by itself for what is due: a beat, and the look whether it stands still", () => {
    const run = RuleRun.open(1, WATCHED);
    run.grant("a");
    run.call("offered", run.head.offer.seq);
    run.call("projected", run.head.projection.version);
    expect(run.wake).toBe(run.now + run.timing.lease + run.timing.grace);
    for (let look = 0; look < 40 && !run.head.pulse?.stalled; look++) {
      run.now = run.wake ?? Number.NaN;
      run.call("wake", null);
      run.call("offered", run.head.offer.seq);
    }
    expect(run.head.pulse?.stalled).toBe(true);
    expect(run.now).toBe(1_000_000 + 120_000);
    run.call(
      "alertsTold",
      (run.head.alerts?.owed ?? []).map(({ id }) => id),
    );
    expect(run.wake).toBeNull();
  });

  it("beats by the clock only while an executor works for it", () => {
    const run = RuleRun.open(5, WATCHED);
    run.leave(run.grant("a"));
    run.now += 40_000;
    run.call("wake", null);
    expect(sentBy(run)).toBeNull();
  });

  it.each([
    ["FAILED", (run: RuleRun, grant: Grant) => run.call("fail", { ...run.id(grant), failure: { code: "internal", message: "refused" } })],
    ["CANCELLED", (run: RuleRun) => run.call("cancel", null)],
    ["RUNNING", (run: RuleRun) => run.call("interrupt", null)],
  ] as const)("says nothing more after an end as %s", (status, end) => {
    const run = RuleRun.open(5, WATCHED);
    const grant = run.grant("a");
    end(run, grant);
    expect(run.head.status).toBe(status);
    expect(sentBy(run)).toBeNull();
    run.leave(grant);
    for (let minute = 0; minute < 30; minute++) {
      run.now += 60_000;
      run.call("wake", null);
      expect(sentBy(run)).toBeNull();
    }
  });

  it("says nothing when its last commit made it FAILED", () => {
    const run = RuleRun.open(1, WATCHED);
    run.work(() => [summary({ error: "provider_error" })]);
    expect(run.head.status).toBe("FAILED");
    expect(sentBy(run)).toBeNull();
  });

  it("goes on after a resume, with another URL where one is given", () => {
    const run = RuleRun.open(2, WATCHED);
    run.call("interrupt", null);
    run.resume({ heartbeat_url: "https://other.example.com/b", stall_minutes: 5 });
    expect(run.ledger.config()).toMatchObject({ heartbeat_url: "https://other.example.com/b", stall_minutes: 5 });
    const grant = run.grant("b");
    run.claim(grant, 1, { free: 1 });
    run.commit(grant, [0]);
    expect(sentBy(run)).toBe("unit");
  });

  it("logs the first of several heartbeats that nobody took, and the first that is taken again", () => {
    const run = RuleRun.open(2, WATCHED);
    for (const problem of ["status 500", "status 502", null, null]) run.call("heartbeat", { heartbeat: "unit", problem });
    expect(logOf(run).filter((line) => /heartbeat/i.test(line))).toEqual(["WARNING Heartbeat not taken: status 500", "INFO Heartbeats are taken again"]);
  });
});

describe("a run without one", () => {
  it("notes a standstill too, after 15 minutes, and beats never", () => {
    const run = RuleRun.open(1);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 1 });
    expect(pass(run, grant, 890_000)).toEqual([]);
    expect(logOf(run).join("\n")).not.toContain("Nothing has progressed");
    pass(run, grant, 20_000);
    expect(logOf(run).at(-1)).toBe("WARNING Nothing has progressed for 15 min: no request was answered and no unit finished");
  });

  it("that an earlier version stored opens, and is watched from then on", () => {
    const run = RuleRun.open(1);
    const { pulse: _, ...head } = run.head;
    run.ledger.putHead(head);
    run.grant("a");
    expect(run.head.pulse).toMatchObject({ progressed_at: run.now, stalled: false });
  });
});

describe("the sender of heartbeats", () => {
  const answers = (status: number) => async () => new Response("body", { status });

  it("has one under way at most, skips what falls due meanwhile, and lets the last one wait for it", async () => {
    const open: ((response: Response) => void)[] = [];
    const sender = new HeartbeatSender(() => new Promise((resolve) => void open.push(resolve)));
    const first = sender.send(URL, "unit");
    expect(await sender.send(URL, "unit")).toBeNull();
    expect(await sender.send(URL, "timer")).toBeNull();
    const last = sender.send(URL, "last");
    expect(open).toHaveLength(1);
    open[0]?.(new Response(null));
    expect(await first).toEqual({ heartbeat: "unit", problem: null });
    await expect.poll(() => open.length).toBe(2);
    open[1]?.(new Response(null));
    expect(await last).toEqual({ heartbeat: "last", problem: null });
  });

  it("gives up after its time, and may send again", async () => {
    const never = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error(`aborted ${URL}`))));
    const sender = new HeartbeatSender(never, 20);
    expect(await sender.send(URL, "unit")).toEqual({ heartbeat: "unit", problem: "https://watch.example.com did not answer within 0.02 s" });
    expect(await sender.send(URL, "unit")).not.toBeNull();
  });

  it.each([
    [answers(200), null],
    [answers(302), "https://watch.example.com answered with status 302; redirects are not followed"],
    [answers(404), "https://watch.example.com answered with status 404"],
    [() => Promise.reject(new Error(`cannot reach ${URL}`)), "no connection to https://watch.example.com"],
  ])("tells what came of it without a word of path and query (%#)", async (answer, problem) => {
    const asked: unknown[] = [];
    const sender = new HeartbeatSender((url, { method, redirect }) => {
      asked.push([url, method, redirect]);
      return answer();
    });
    expect(await sender.send(URL, "timer")).toEqual({ heartbeat: "timer", problem });
    expect(asked).toEqual([[URL, "GET", "manual"]]);
  });
});
