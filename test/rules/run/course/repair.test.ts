import { describe, expect, it, vi } from "vitest";
import { countDebts, countedInTurns } from "../../../../durable-objects/run/course/owed.ts";
import { ROLLOUTS_A_TURN } from "../../../../durable-objects/run/course/repair.ts";
import { metadataOf } from "../../../../durable-objects/run/reading/run-metadata.ts";
import { NOTHING_NEW } from "../../../support/run/resume-request.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const failed = summary({ error: "timeout", reward: 0 });

/** Complete, with the units of `broken` ended by infrastructure; five rollouts are looked at in a turn. */
function brokenRun(n: number, broken: readonly number[]): RuleRun {
  const run = RuleRun.open(n);
  run.slice = 5;
  run.work((unit) => [broken.includes(unit) ? failed : summary()]);
  run.settle();
  return run;
}

describe("a repair of a large run", () => {
  it("hands out what it has found after its first turn, and looks on with every call and by itself", () => {
    const run = brokenRun(20, [1, 2, 7, 19]);
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 4 } });
    expect(run.head).toMatchObject({ phase: "open", pending: 2, done: 18, repair: { from: 5 } });
    const grant = run.grant("a");
    expect(run.wake).toBeLessThanOrEqual(run.now);
    expect(run.block(grant, 1, { free: 8 })).toMatchObject({ lo: 1, hi: 3 });
    run.call("wake", null);
    run.call("wake", null);
    expect(run.head.repair).toBeUndefined();
    expect(run.wake).toBeGreaterThan(run.now);
    expect(run.block(grant, 2, { free: 8 })).toMatchObject({ lo: 7, hi: 8 });
    run.commit(grant, [1, 2, 7]);
    expect(run.head).toMatchObject({ status: "RUNNING", done: 19 });
    expect(run.block(grant, 3, { free: 8 })).toMatchObject({ lo: 19, hi: 20 });
    run.commit(grant, [19]);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 20, totals: { rollouts: 20, errors: {} } });
  });

  it("is not complete before all was looked at, though nothing is pending", () => {
    const run = brokenRun(40, [0, 39]);
    run.resume();
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0]);
    expect(run.head).toMatchObject({ status: "RUNNING", pending: 0, done: 40 });
    for (let turn = 0; turn < 4; turn++) run.call("wake", null);
    expect(run.head).toMatchObject({ status: "RUNNING", pending: 1, done: 39 });
  });

  it("that is cancelled leaves the rest as it was; the next one counts and finds it", () => {
    const run = brokenRun(20, [1, 12]);
    run.resume();
    run.call("cancel", null);
    expect(run.head.repair).toBeUndefined();
    run.settle();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
    for (let turn = 0; turn < 4; turn++) run.call("wake", null);
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", totals: { rollouts: 20, errors: {} } });
  });

  it("looks at nothing where nothing is to be repaired", () => {
    const run = brokenRun(20, []);
    run.resume({ num_examples: 25 });
    expect(run.head).toMatchObject({ phase: "preparing" });
    expect(run.head.repair).toBeUndefined();
  });
});

describe("what is counted before a resume", () => {
  it("is what the resume is decided on, as long as the run has not changed since", async () => {
    const run = brokenRun(10, [3]);
    const counted = await countedInTurns(run.ledger, async () => true);
    expect(counted?.debts).toEqual(countDebts(run.ledger));
    const none = counted && { ...counted, debts: { ...counted.debts, fresh: { missing: 0, infrastructure: 0, scorer: 0 } } };
    const request = { ...NOTHING_NEW, boot: run.boot };
    expect(run.call("resume", { ...request, counted: none })).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
    expect(run.call("resume", { ...request, counted: none && { ...none, mark: "of before" } })).toMatchObject({ ok: true, value: { owed_rollouts: 1 } });
  });
});

describe("what a resume of a large run owes", () => {
  it("is known from the totals, without a look at its units, where none waits for a repair", async () => {
    const run = RuleRun.open(10);
    run.work((unit) => [unit === 3 ? failed : unit === 4 ? summary({ error: "scorer_error", reward: 0 }) : summary()]);
    run.settle();
    const expected = countDebts(run.ledger);
    expect(expected.fresh).toEqual({ missing: 0, infrastructure: 1, scorer: 1 });
    const looks = vi.spyOn(run.ledger, "doneFrom");
    expect((await countedInTurns(run.ledger, async () => true))?.debts).toEqual(expected);
    expect(looks).not.toHaveBeenCalled();
  });

  it("is counted unit by unit where an earlier repair has left some of them owed", async () => {
    const run = brokenRun(20, [1, 12]);
    run.resume();
    run.call("cancel", null);
    run.settle();
    const counted = await countedInTurns(run.ledger, async () => true);
    expect(counted?.debts).toEqual(countDebts(run.ledger));
    expect(counted?.debts).toMatchObject({ done: 20, fresh: { infrastructure: 1 }, left: { infrastructure: 1 } });
  });
});

describe("looking through a whole run", () => {
  it("lets others have their turn, and ends where the run is gone", async () => {
    const run = RuleRun.open(2 * ROLLOUTS_A_TURN + 10);
    run.ledger.putDones(
      Array.from({ length: 2 * ROLLOUTS_A_TURN + 10 }, (_, unit) => ({ unit, segment: "1-1-1", offset: 0, length: 1, rollouts: [summary()], owed: false })),
    );
    let pauses = 0;
    const metadata = await metadataOf(run.ledger, async () => ++pauses > 0);
    expect([pauses, metadata?.avg_reward]).toEqual([2, 1]);
    expect(await metadataOf(run.ledger, async () => false)).toBeNull();
  });
});
