import { describe, expect, it } from "vitest";
import { SWEEP_AFTER_MS } from "../../../../durable-objects/run/course/sweep.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

/** What is left of a run that nobody works for: a look whether it stands still, a quarter of an hour after it began. */
const STALL_LOOK = 1_000_000 + 15 * 60_000;

/** Everyone who was told has answered. */
function acknowledge(run: RuleRun): void {
  run.call("offered", run.head.offer.seq);
  run.call("projected", run.head.projection.version);
  run.call(
    "alertsTold",
    (run.head.alerts?.owed ?? []).map(({ id }) => id),
  );
}

describe("the alarm", () => {
  it("repeats an offer that nobody acknowledged, ever more slowly, and is never left in the past", () => {
    const run = RuleRun.open(10);
    acknowledge(run);
    run.leave(run.grant("a"));
    run.call("projected", run.head.projection.version);
    const waits: number[] = [];
    for (let tries = 0; tries < 12; tries++) {
      const wake = run.wake ?? Number.NaN;
      waits.push(wake - run.now);
      run.now = wake;
      run.call("wake", null);
      expect(run.outbox?.offer).toEqual({ want: run.head.offer.want, idle: true, seq: run.head.offer.seq });
    }
    expect(waits[0]).toBe(1_000);
    expect(waits.every((wait, index) => wait > 0 && wait <= 60_000 && wait >= (waits[index - 1] ?? 0))).toBe(true);
    run.call("offered", run.head.offer.seq);
    expect(run.wake).toBe(STALL_LOOK);
  });

  it("does not take the acknowledgement of an older offer for that of a newer one", () => {
    const run = RuleRun.open(10);
    const { seq } = run.head.offer;
    run.grant("a");
    expect(run.head.offer.seq).toBeGreaterThan(seq);
    run.call("offered", seq);
    expect(run.head.offer.due).toBe(true);
  });

  it("looks after orphaned segments a day after the end, then nobody is woken any more", () => {
    const run = RuleRun.open(1);
    run.work();
    run.settle();
    acknowledge(run);
    expect(run.wake).toBe(run.now + SWEEP_AFTER_MS);
    run.call("swept", { epoch: run.head.epoch, failed: false });
    expect(run.wake).toBeNull();
  });

  it("ends the pause before an endpoint that could not be reached", () => {
    const run = RuleRun.open(10);
    const head = run.head;
    head.health.backoff_until = run.now + 5_000;
    run.ledger.putHead(head);
    run.call("wake", null);
    acknowledge(run);
    expect(run.head.offer.want).toBe(0);
    expect(run.wake).toBe(run.now + 5_000);
    run.now += 5_000;
    run.call("wake", null);
    expect(run.outbox?.offer?.want).toBeGreaterThan(0);
    acknowledge(run);
    expect(run.wake).toBe(STALL_LOOK);
  });
});

describe("a poke", () => {
  it("announces the run again to whoever may have forgotten it", () => {
    const run = RuleRun.open(10);
    acknowledge(run);
    const { seq, want } = run.head.offer;
    run.call("wake", null);
    expect(run.outbox).toEqual({ offer: null, projection: null, heartbeat: null });
    run.call("poke", null);
    // The same as before, so that whoever has it does nothing.
    expect(run.outbox?.offer).toEqual({ want, idle: true, seq });
    expect(run.outbox?.projection).toBe(run.head.projection.version);
  });

  it("of a run that has settled says nothing", () => {
    const run = RuleRun.open(1);
    run.work();
    run.settle();
    acknowledge(run);
    run.call("poke", null);
    expect(run.outbox).toEqual({ offer: null, projection: null, heartbeat: null });
  });
});

describe("an offer", () => {
  it("is the lanes that are free, at most the units that wait, and none while nothing may start", () => {
    const run = RuleRun.open(10, { max_concurrent: 8 });
    expect(run.head.offer.want).toBe(8);
    const grant = run.grant("a", 3);
    expect(run.head.offer.want).toBe(5);
    run.block(grant, 1, { free: 3 });
    run.grant("b", 3);
    expect(run.head.offer.want).toBe(2);
    run.call("interrupt", null);
    expect(run.head.offer.want).toBe(0);
  });

  it("of a run that prepares or writes its results is one lane, for one executor", () => {
    const run = new RuleRun();
    expect(run.outbox?.offer).toMatchObject({ want: 1 });
    const grant = run.grant("a");
    expect(run.head.offer.want).toBe(0);
    run.leave(grant);
    run.call("cancel", null);
    expect(run.head).toMatchObject({ phase: "finalising", offer: { want: 1 } });
  });
});
