import { describe, expect, it } from "vitest";
import type { Grant, Holding } from "../../../../durable-objects/run/protocol.ts";
import type { SteeredSettings } from "../../../../src/config/plan/steered.ts";
import { PROTOCOL } from "../../../../durable-objects/run/protocol.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

const VITALS = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };

/** A grant to an executor that takes another allowance. */
function joined(run: RuleRun, executor: string, free = 4): Grant {
  const { boot, runtime } = run;
  const answer = run.call("join", { protocol: PROTOCOL, executor, seq: 1, free, boot, runtime, checks_code: true, sorts: true, steers: true });
  if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
  return answer;
}

const set = (run: RuleRun, settings: SteeredSettings) => run.call("steer", { kind: "set", settings });
const steer = (run: RuleRun, kind: "pause" | "continue") => run.call("steer", { kind });
const beat = (run: RuleRun, grant: Grant, holds?: Holding & { size?: number }) =>
  run.call("beat", { ...run.id(grant), started: [], vitals: VITALS, ...(holds === undefined ? {} : { holds }) });
const requests = (run: RuleRun): number[] => run.ledger.tickets().map((ticket) => ticket.requests);
const logged = (run: RuleRun): string[] => run.ledger.events.filter(({ type }) => type === "log").map(({ message }) => message);

describe("a working run that is set to more requests", () => {
  it("counts them at once, and tells its executor with the next answer until it has heard", () => {
    const run = RuleRun.open(100, { max_concurrent: 4 });
    const grant = joined(run, "a", 64);
    expect(set(run, { max_concurrent: 16 }).ok).toBe(true);
    expect(requests(run)).toEqual([16]);
    const allows = { lanes: 16, requests: 16, scoring: 16, size: 1 };
    expect(beat(run, grant)).toMatchObject({ kind: "continue", allows });
    // The answer was lost.
    expect(run.block(grant, 1)).toMatchObject({ allows });
    expect(beat(run, grant, { ...allows })).toEqual({ kind: "continue" });
    expect(logged(run)).toContain("Run set: max_concurrent 16 (was 4)");
  });

  it("gives each executor no more than it can carry, and offers the rest to others", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    joined(run, "a", 5);
    joined(run, "b", 3);
    set(run, { max_concurrent: 32 });
    expect(requests(run)).toEqual([5, 3]);
    expect(run.head.offer.want).toBe(24);
  });

  it("takes no word of an older allowance for one of the newest", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    const grant = joined(run, "a", 64);
    set(run, { max_concurrent: 32 });
    // Sent before it heard: half was to be given back.
    beat(run, grant, { lanes: 4, requests: 4, scoring: 4 });
    expect(requests(run)).toEqual([32]);
    beat(run, grant, { lanes: 4, requests: 4, scoring: 4, size: 1 });
    expect(requests(run)).toEqual([4]);
  });

  it("leaves grants of executors of before as they are", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    const grant = run.grant("old", 64);
    set(run, { max_concurrent: 32 });
    expect([requests(run), beat(run, grant), run.head.offer.want]).toEqual([[8], { kind: "continue" }, 24]);
  });
});

describe("a working run that is set to fewer requests", () => {
  it("counts what is under way until its executors say that it is less, and grants nothing before", () => {
    const run = RuleRun.open(100, { max_concurrent: 16 });
    const [a, b] = [joined(run, "a", 8), joined(run, "b", 8)];
    set(run, { max_concurrent: 6 });
    expect([requests(run), run.head.offer.want]).toEqual([[8, 8], 0]);
    expect(beat(run, a)).toMatchObject({ allows: { lanes: 3, requests: 3, scoring: 3, size: 1 } });
    beat(run, a, { lanes: 3, requests: 5, scoring: 5, size: 1 });
    beat(run, b, { lanes: 3, requests: 3, scoring: 3, size: 1 });
    expect([requests(run), run.head.offer.want]).toEqual([[5, 3], 0]);
    set(run, { max_concurrent: 7 });
    // Still five and three under way: of seven.
    beat(run, a, { lanes: 3, requests: 3, scoring: 3, size: 2 });
    expect([requests(run), run.head.offer.want]).toEqual([[3, 3], 1]);
  });

  it("lets executors end for which nothing is left: others go on with what they have open", () => {
    const run = RuleRun.open(100, { max_concurrent: 12 });
    const grants = ["a", "b", "c"].map((name) => joined(run, name, 4));
    set(run, { max_concurrent: 2 });
    expect(grants.map((grant) => beat(run, grant).allows?.requests)).toEqual([1, 1, 0]);
  });

  it("shares out the limits for generation and for judges in the same way", () => {
    const run = RuleRun.open(100, { max_concurrent: 16 });
    const [a, b] = [joined(run, "a", 8), joined(run, "b", 8)];
    set(run, { max_concurrent_generation: 4, max_concurrent_scoring: 6 });
    expect([a, b].map((grant) => beat(run, grant).allows)).toEqual([
      { lanes: 8, requests: 8, generation: 2, scoring: 3, size: 1 },
      { lanes: 8, requests: 8, generation: 2, scoring: 3, size: 1 },
    ]);
    // All that may be under way counts for the new limit.
    expect(run.ledger.tickets().map(({ generation }) => generation)).toEqual([8, 8]);
    set(run, { max_concurrent_generation: 0, max_concurrent_scoring: null });
    expect(beat(run, a).allows).toEqual({ lanes: 8, requests: 8, scoring: 8, size: 2 });
  });
});

describe("a run that is paused", () => {
  it("allows its executors nothing, grants no units, and wants nobody", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    const grant = joined(run, "a", 4);
    expect(run.head.offer.want).toBe(4);
    expect(steer(run, "pause").ok).toBe(true);
    expect(run.head).toMatchObject({ status: "RUNNING", phase: "open", paused: { at: run.now }, offer: { want: 0 } });
    expect(beat(run, grant)).toEqual({ kind: "continue", allows: { lanes: 0, requests: 0, scoring: 4, size: 1 } });
    expect([run.claim(grant, 1).kind, run.join("b").kind]).toEqual(["empty", "none"]);
    run.leave(grant);
    run.boot = "boot-2";
    expect([run.join("c").kind, run.head.paused !== undefined]).toEqual(["none", true]);
  });

  it("takes the rows of what was under way, and goes on where it was", () => {
    const run = RuleRun.open(10, { max_concurrent: 8 });
    const grant = joined(run, "a", 4);
    const { lo } = run.block(grant, 1);
    steer(run, "pause");
    expect(run.commit(grant, [lo])).toEqual(["accepted"]);
    run.leave(grant);
    steer(run, "continue");
    expect(run.head).toMatchObject({ done: 1, pending: 9, offer: { want: 8, idle: true } });
    expect(run.head.paused).toBeUndefined();
    run.work();
    expect(run.head.status).toBe("COMPLETED");
  });

  it("gives back to an executor that is still there what it had", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    const grant = joined(run, "a", 8);
    steer(run, "pause");
    beat(run, grant, { lanes: 0, requests: 2, scoring: 2, size: 1 });
    steer(run, "continue");
    expect(beat(run, grant).allows).toEqual({ lanes: 8, requests: 8, scoring: 8, size: 2 });
  });

  it("tells executors of before to finish what they have open", () => {
    const run = RuleRun.open(100, { max_concurrent: 8 });
    const grant = run.grant("old", 4);
    steer(run, "pause");
    expect(run.beat(grant)).toBe("drain");
  });

  it("keeps the rest of its time: the limit is for work", () => {
    const run = RuleRun.open(100, { max_concurrent: 8, timeout_minutes: 10 });
    joined(run, "a");
    run.now += 5 * 60_000;
    steer(run, "pause");
    run.now += 60 * 60_000;
    run.call("wake", null);
    expect(run.head.status).toBe("RUNNING");
    steer(run, "continue");
    run.now += 5 * 60_000 - 1;
    run.call("wake", null);
    expect(run.head.status).toBe("RUNNING");
    run.now += 1;
    run.call("wake", null);
    expect(run.head.status).toBe("TIMEOUT");
  });

  it("is never said to have stalled, and its heartbeats go on", () => {
    const run = RuleRun.open(100, { heartbeat_url: "https://watch.example/1", stall_minutes: 1 });
    const grant = joined(run, "a");
    steer(run, "pause");
    run.leave(grant);
    run.now += 60 * 60_000;
    run.call("wake", null);
    expect([run.head.pulse?.stalled, run.outbox?.heartbeat]).toEqual([false, "timer"]);
    steer(run, "continue");
    run.now += 59_000;
    run.call("wake", null);
    expect(run.head.pulse?.stalled).toBe(false);
    run.now += 2_000;
    run.call("wake", null);
    expect(run.head.pulse?.stalled).toBe(true);
    steer(run, "pause");
    expect(run.head.pulse?.stalled).toBe(false);
    expect(logged(run)).not.toContain("The run progresses again");
  });

  it("can be cancelled, which ends the pause, and not be resumed while its command lives", () => {
    const run = RuleRun.open(10);
    steer(run, "pause");
    expect(run.resume()).toMatchObject({ ok: false, error: { code: "run_busy", message: "The run is paused." } });
    run.call("cancel", null);
    expect([run.head.status, run.head.paused]).toEqual(["CANCELLED", undefined]);
    expect(steer(run, "continue")).toMatchObject({ ok: false, error: { code: "illegal_transition" } });
  });

  it("goes on with the resume that follows an interruption", () => {
    const run = RuleRun.open(10, { attended: true });
    steer(run, "pause");
    run.call("interrupt", null);
    expect(steer(run, "continue")).toMatchObject({ ok: false, error: { code: "illegal_transition" } });
    expect(run.resume().ok).toBe(true);
    expect([run.head.paused, run.head.offer.want]).toEqual([undefined, 8]);
  });

  it("says nothing the second time", () => {
    const run = RuleRun.open(10);
    steer(run, "pause");
    const { at } = run.head.paused ?? { at: 0 };
    run.now += 1_000;
    expect([steer(run, "pause").ok, run.head.paused?.at, logged(run).filter((line) => line.startsWith("Run paused")).length]).toEqual([true, at, 1]);
  });
});

describe("the time limit of a working run", () => {
  it("counts from its first grant, whatever is set", () => {
    const run = RuleRun.open(10, { timeout_minutes: null });
    joined(run, "a");
    const began = run.now;
    run.now += 2 * 60_000;
    expect(set(run, { timeout_minutes: 5 }).ok).toBe(true);
    expect(run.head.deadline_at).toBe(began + 5 * 60_000);
    expect(set(run, { timeout_minutes: 2 })).toMatchObject({
      ok: false,
      error: { message: "timeout_minutes: the run has worked for 2 minutes; 2 would end it." },
    });
    expect(set(run, { timeout_minutes: null }).ok).toBe(true);
    expect([run.head.deadline_at, run.ledger.config().timeout_minutes]).toEqual([null, null]);
  });
});
