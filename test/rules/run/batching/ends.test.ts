import { describe, expect, it } from "vitest";
import { BATCH_CLOSING_MS } from "../../../../durable-objects/run/batching/closing.ts";
import { BatchRun } from "../../../support/run/batch-run.ts";
import { summary } from "../../../support/run/rule-run.ts";

const MINUTE = 60_000;

/** Ten units: four in job 1, which is at the provider, and six that are not asked. */
function underWay(changes: Parameters<typeof BatchRun.open>[1] = {}) {
  const run = BatchRun.open(10, changes);
  const carrier = run.carrier();
  const plan = run.plan(carrier);
  run.wrote(carrier, plan, { units: [{ lo: 0, hi: 4 }] });
  run.tell(carrier, { kind: "uploaded", job: 1, file_id: "file-1" });
  run.tell(carrier, { kind: "creating", job: 1 });
  run.tell(carrier, { kind: "submitted", job: 1, batch_id: "batch-1", expires_at: null });
  return { run, carrier };
}

/** What the batch answered before it was cancelled is collected: units 0 and 1. */
function closed({ run, carrier }: ReturnType<typeof underWay>): void {
  expect(run.plan(carrier)).toEqual({ kind: "cancel", job: 1, place: 0, batch_id: "batch-1" });
  run.tell(carrier, { kind: "seen", job: 1, state: "cancelling", counts: { answered: 2, failed: 0 } });
  expect(run.plan(carrier)).toEqual({ kind: "wait", until_ms: 5_000 });
  run.now += 5_000;
  run.ended(carrier, 1, 2, 2);
  run.collect(carrier, 1, [{ lo: 0, hi: 2 }], [{ lo: 2, hi: 4 }], { cancelled: 2 });
  expect([run.plan(carrier).kind, run.head.pending, run.head.batching?.unasked]).toEqual(["none", 2, 8]);
  const worker = run.worker();
  run.block(worker, 1);
  run.commit(worker, [0, 1]);
}

describe("a run in batches whose time is over", () => {
  it("writes no more, cancels what is under way, plays what was answered, and ends with that", () => {
    const world = underWay({ timeout_minutes: 1_440 });
    const { run, carrier } = world;
    run.leave(carrier);
    run.now += 1_440 * MINUTE;
    run.call("wake", null);
    expect([run.head.status, run.head.batching?.closing?.why]).toEqual(["RUNNING", "timeout"]);
    closed({ run, carrier: run.carrier("next") });
    expect([run.head.status, run.head.failure?.code, run.head.done, run.head.batching?.closing]).toEqual(["TIMEOUT", "timeout", 2, undefined]);
  });

  it("waits no longer than it may for a provider that does not stop, and is looked at while it does", () => {
    const { run, carrier } = underWay({ timeout_minutes: 1 });
    run.leave(carrier);
    run.now += MINUTE;
    run.call("wake", null);
    const until = run.head.batching?.closing?.until ?? 0;
    expect([run.head.status, until - run.now]).toEqual(["RUNNING", BATCH_CLOSING_MS]);
    run.now = until - 1;
    run.call("wake", null);
    expect(run.head.status).toBe("RUNNING");
    run.now = until;
    run.call("wake", null);
    expect([run.head.status, run.ledger.batching.jobs()[0]?.state]).toEqual(["TIMEOUT", "submitted"]);
  });

  it("ends at once where nothing of it was asked", () => {
    const run = BatchRun.open(3, { timeout_minutes: 1 });
    run.leave(run.carrier());
    run.now += MINUTE;
    run.call("wake", null);
    expect(run.head.status).toBe("TIMEOUT");
  });
});

describe("a run in batches that is cancelled", () => {
  it("ends with what its batches had answered, however long they take to stop", () => {
    const world = underWay();
    expect(world.run.call("cancel", null)).toEqual({ ok: true, value: null });
    expect([world.run.head.status, world.run.head.batching?.closing?.why]).toEqual(["RUNNING", "cancelled"]);
    closed(world);
    expect([world.run.head.status, world.run.head.done]).toEqual(["CANCELLED", 2]);
  });

  it("ends at once where it is cancelled a second time; a resume collects what is there", () => {
    const { run, carrier } = underWay();
    run.call("cancel", null);
    run.call("cancel", null);
    expect([run.head.status, run.plan(carrier).kind]).toEqual(["CANCELLED", "lost"]);
    run.leave(carrier);
    run.settle();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 10 } });
    const next = run.carrier("next");
    expect(run.plan(next)).toEqual({ kind: "look", job: 1, place: 0, batch_id: "batch-1" });
    run.ended(next, 1, 4);
    run.collect(next, 1, [{ lo: 0, hi: 4 }]);
    expect(run.plan(next)).toMatchObject({ kind: "write", job: 2, first: true, units: [{ lo: 4, hi: 10 }] });
  });

  it("looks for a batch that somebody may have created, and creates none", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    run.wrote(carrier, run.plan(carrier));
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: null });
    run.tell(carrier, { kind: "creating", job: 1 });
    run.call("cancel", null);
    expect(run.plan(carrier)).toMatchObject({ kind: "create", job: 1, find_only: true, creating_at: run.now });
    expect(run.tell(carrier, { kind: "creating", job: 1 })).toBe("lost");
    run.tell(carrier, { kind: "absent", job: 1 });
    expect([run.head.status, run.head.batching?.unasked, run.ledger.batching.jobs()[0]?.state]).toEqual(["CANCELLED", 2, "dropped"]);
  });

  it("is cancelled at its provider though it was suspended", () => {
    const { run, carrier } = underWay();
    run.call("interrupt", null);
    expect(run.beat(carrier)).toBe("abort");
    run.leave(carrier);
    expect([run.head.offer.want, run.join("nobody", { batches: true }).kind]).toEqual([0, "none"]);
    run.call("cancel", null);
    expect(run.plan(run.carrier("next"))).toMatchObject({ kind: "cancel", batch_id: "batch-1" });
  });
});

describe("a run in batches whose budget is over", () => {
  it("ends as by its time limit, by that name", () => {
    const { run, carrier } = underWay({ max_cost: 1 });
    const over = { span: "total", limit: 1e9, settled: 1e9, unseen: { calls: 0, amount: 0 } } as const;
    run.call("endOverBudget", { ...run.id(carrier), budget: `run/${run.ledger.config().run_id}`, over });
    expect(run.head.batching?.closing?.why).toBe("budget");
    closed({ run, carrier });
    expect([run.head.status, run.head.failure?.code]).toEqual(["CANCELLED", "over_budget"]);
  });
});

describe("a run in batches that is closing when money for its scores is over", () => {
  const over = { span: "total", limit: 1e9, settled: 1e9, unseen: { calls: 0, amount: 0 } } as const;
  const overBy = (run: BatchRun, grant: Parameters<BatchRun["id"]>[0]) =>
    run.call("endOverBudget", { ...run.id(grant), budget: `run/${run.ledger.config().run_id}`, over });

  it("collects what its batches answered nevertheless, and then waits for no score that nobody can pay", () => {
    const { run, carrier } = underWay({ max_cost: 1 });
    overBy(run, carrier);
    overBy(run, carrier);
    expect([run.head.status, run.plan(carrier).kind]).toEqual(["RUNNING", "cancel"]);
    run.ended(carrier, 1, 2, 2);
    run.collect(carrier, 1, [{ lo: 0, hi: 2 }], [{ lo: 2, hi: 4 }], { cancelled: 2 });
    const worker = run.worker();
    run.block(worker, 1);
    expect([run.head.status, run.head.pending]).toEqual(["RUNNING", 0]);
    overBy(run, worker);
    expect([run.head.status, run.head.failure?.code]).toEqual(["CANCELLED", "over_budget"]);
  });

  it("ends by what it was closing for", () => {
    const { run, carrier } = underWay({ max_cost: 1, timeout_minutes: 1 });
    run.leave(carrier);
    run.now += MINUTE;
    const next = run.carrier("next");
    overBy(run, next);
    expect([run.head.status, run.head.batching?.closing?.why]).toEqual(["RUNNING", "timeout"]);
    closed({ run, carrier: next });
    expect(run.head.status).toBe("TIMEOUT");
  });
});

describe("an example of which one job takes a part", () => {
  it("is played when the jobs after it have answered the rest, and not before", () => {
    const run = BatchRun.open(1, { rollouts_per_example: 3 });
    const carrier = run.carrier();
    const all = [{ lo: 0, hi: 1 }];
    for (let job = 1; job <= 5; job++) {
      const plan = run.plan(carrier);
      expect(plan).toMatchObject({ kind: "write", job, units: all });
      run.wrote(carrier, plan, job < 5 ? { cut: true } : {});
      run.tell(carrier, { kind: "uploaded", job, file_id: "f" });
      run.tell(carrier, { kind: "creating", job });
      run.tell(carrier, { kind: "submitted", job, batch_id: `b${job}`, expires_at: null });
      run.ended(carrier, job, 1);
      expect(run.head.pending).toBe(0);
      // What it lost beside an answer counts as no try of those that are in no job yet.
      run.tell(carrier, {
        kind: "collected",
        job,
        index: `answers-${job}`,
        counts: { answered: 1, failed: 0 },
        lost: job === 2 ? { expired: 1 } : {},
        ready: job === 2 ? [] : all,
        again: job === 2 ? all : [],
      });
    }
    expect([run.plan(carrier).kind, run.head.pending]).toEqual(["none", 1]);
  });

  it("is given up as others are where three jobs in a row bring nothing", () => {
    const run = BatchRun.open(1, { rollouts_per_example: 3 });
    const carrier = run.carrier();
    for (let job = 1; job <= 3; job++) {
      expect(run.head.pending).toBe(0);
      run.wrote(carrier, run.plan(carrier), { cut: true });
      run.tell(carrier, { kind: "uploaded", job, file_id: "f" });
      run.tell(carrier, { kind: "creating", job });
      run.tell(carrier, { kind: "submitted", job, batch_id: `b${job}`, expires_at: null });
      run.ended(carrier, job, 0, 1);
      run.tell(carrier, {
        kind: "collected",
        job,
        index: `answers-${job}`,
        counts: { answered: 0, failed: 0 },
        lost: { expired: 1 },
        ready: [],
        again: [{ lo: 0, hi: 1 }],
      });
    }
    expect(run.head.pending).toBe(1);
  });
});

describe("a run in batches that is refused for good", () => {
  it("fails by that name, and a resume goes on with what is at the provider", () => {
    const { run, carrier } = underWay();
    run.now += 5_000;
    const failure = { code: "auth_failed", message: "no such key" } as const;
    run.tell(carrier, { kind: "refused", job: 1, failure, how: "for-good" });
    expect([run.head.status, run.head.failure]).toEqual(["FAILED", failure]);
    run.leave(carrier);
    run.settle();
    run.resume();
    expect(run.plan(run.carrier("next"))).toMatchObject({ kind: "look", batch_id: "batch-1" });
  });

  it("begins anew where nothing of it was asked", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    run.wrote(carrier, run.plan(carrier));
    run.tell(carrier, { kind: "refused", job: 1, failure: { code: "auth_failed", message: "no" }, how: "for-good" });
    run.leave(carrier);
    run.settle();
    run.resume();
    run.pin(3);
    expect(run.plan(run.carrier("next"))).toMatchObject({ kind: "write", job: 2, units: [{ lo: 0, hi: 3 }] });
  });
});

describe("rollouts that came back without an answer", () => {
  it("are asked three times in all, and then played as they are; a resume asks them again", () => {
    const run = BatchRun.open(1);
    const carrier = run.carrier();
    for (let job = 1; job <= 3; job++) {
      expect([run.submit(carrier), run.head.pending]).toEqual([job, 0]);
      run.ended(carrier, job, 0, 1);
      run.collect(carrier, job, [], [{ lo: 0, hi: 1 }], { expired: 1 });
    }
    expect([run.plan(carrier).kind, run.head.pending]).toEqual(["none", 1]);
    const worker = run.worker();
    expect(run.block(worker, 1).jobs?.map(({ job }) => job)).toEqual([1, 2, 3]);
    run.commit(worker, [0], [summary({ error: "batch_unanswered" })]);
    expect(run.head.failure?.code).toBe("all_rollouts_failed");
    run.leave(worker);
    run.leave(carrier);
    run.settle();
    run.resume();
    const next = run.carrier("next");
    expect(run.plan(next)).toMatchObject({ kind: "write", job: 4, redo: [{ unit: 0, keep: [] }], known: [{ job: 1, earlier: true }, { job: 2 }, { job: 3 }] });
    for (let job = 4; job <= 5; job++) {
      run.submit(next);
      run.ended(next, job, 0, 1);
      run.collect(next, job, [], [{ lo: 0, hi: 1 }], { expired: 1 });
    }
    expect(run.plan(next)).toMatchObject({ kind: "write", job: 6 });
  });

  it("are asked again where the provider does not know their batch any more", () => {
    const { run, carrier } = underWay();
    run.tell(carrier, { kind: "refused", job: 1, failure: { code: "model_not_found", message: "no such batch" }, how: "missing" });
    expect([run.ledger.batching.jobs()[0]?.state, run.head.batching?.unasked]).toEqual(["dropped", 10]);
  });
});
