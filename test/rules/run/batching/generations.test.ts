import { describe, expect, it } from "vitest";
import { BatchRun } from "../../../support/run/batch-run.ts";
import { MemoryLedger } from "../../../support/run/memory-ledger.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

/** Its requests are answered, and its units played; those that `fail` end in what a resume runs again. */
function played(run: BatchRun, fail: readonly number[] = []): void {
  const carrier = run.carrier();
  const n = run.head.n ?? 0;
  const job = run.submit(carrier);
  run.ended(carrier, job, n);
  run.collect(carrier, job, [{ lo: 0, hi: n }]);
  run.leave(carrier);
  run.work((unit) => [fail.includes(unit) ? summary({ error: "connection_cut" }) : summary()]);
  run.settle();
}

describe("a resume of a run in batches", () => {
  it("looks at what was answered before it asks, and plays what is there", () => {
    const run = BatchRun.open(3);
    played(run, [1]);
    expect(run.resume()).toMatchObject({ value: { owed_rollouts: 1 } });
    const carrier = run.carrier("next");
    const plan = run.plan(carrier);
    expect(plan).toMatchObject({
      kind: "write",
      job: 2,
      first: true,
      units: [{ lo: 1, hi: 2 }],
      redo: [{ unit: 1, keep: [] }],
      known: [{ job: 1, earlier: true }],
    });
    run.wrote(carrier, plan, { ready: [{ lo: 1, hi: 2 }] });
    expect([run.plan(carrier).kind, run.head.pending, run.ledger.batching.jobs().length]).toEqual(["none", 1, 1]);
  });

  it("asks nothing for rollouts that are scored again alone", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    run.submit(carrier);
    run.ended(carrier, 1, 2);
    run.collect(carrier, 1, [{ lo: 0, hi: 2 }]);
    run.leave(carrier);
    run.work((unit) => [unit === 0 ? summary({ error: "scorer_error" }) : summary()]);
    run.settle();
    run.resume({ env_digest: "mended", accept_code_change: true });
    expect([run.head.pending, run.head.batching?.unasked, run.head.batching?.next_at]).toEqual([1, 0, null]);
  });

  it("asks what it grows by, once it is pinned, and waits for a whole job while more is read", () => {
    const run = BatchRun.open(2);
    played(run);
    run.resume({ num_examples: 6 });
    const grant = run.pin(4, { more: true });
    expect([run.head.version, run.head.batching]).toEqual([3, { unasked: 2, next_at: null }]);
    run.pin(6, { grant, from: 4 });
    expect([run.head.version, run.head.batching]).toEqual([3, { unasked: 4, next_at: 0 }]);
    expect(run.plan(run.carrier("next"))).toMatchObject({ units: [{ lo: 2, hi: 6 }], known: [] });
  });

  it("may turn to batches: what is not done is asked in them", () => {
    const run = new BatchRun({ num_examples: 4 });
    run.pin(4);
    const worker = run.worker();
    run.block(worker, 1, { free: 2 });
    run.commit(worker, [0]);
    run.leave(worker);
    run.call("interrupt", null);
    expect(run.head.pending).toBe(3);
    expect(run.resume({ batch: true }).ok).toBe(true);
    expect([run.head.version, run.head.pending, run.head.batching?.unasked]).toEqual([3, 0, 3]);
    expect(run.plan(run.carrier("next"))).toMatchObject({ units: [{ lo: 1, hi: 4 }] });
  });

  it("may turn away from them where nothing that is paid for would be lost", () => {
    const run = BatchRun.open(4);
    const carrier = run.carrier();
    const plan = run.plan(carrier);
    run.wrote(carrier, plan, { units: [{ lo: 0, hi: 2 }] });
    run.leave(carrier);
    run.call("interrupt", null);
    expect(run.resume({ batch: false }).ok).toBe(true);
    expect([run.head.version, run.head.pending, run.head.batching]).toEqual([1, 4, undefined]);
    expect(run.block(run.grant("worker"), 1, { free: 8, soon: 8 })).toMatchObject({ lo: 0, hi: 2 });
  });

  it("may not while batches are under way, nor go to another address", () => {
    const run = BatchRun.open(4);
    const carrier = run.carrier();
    run.submit(carrier);
    run.leave(carrier);
    run.call("interrupt", null);
    expect(run.resume({ batch: false })).toMatchObject({
      ok: false,
      error: { code: "resume_mismatch", message: "batch: 1 batch of the run may be at the provider." },
    });
    expect(run.resume({ base_url: "https://elsewhere.example/v1" })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
    expect(run.resume().ok).toBe(true);
  });
});

describe("a run in batches that begins with a folder", () => {
  it("asks what the folder lacks, and what of it ended in an error, once it is taken over", () => {
    const source = { results: "a".repeat(64), dataset_digest: null, keep_errors: false };
    const run = new BatchRun({ num_examples: 4, rollouts_per_example: 2, batch: true }, source, new MemoryLedger());
    run.pin(4, { lacks: [{ lo: 3, hi: 4 }] });
    expect(run.head.batching).toEqual({ unasked: 1, next_at: null });
    const answer = run.join("adopting", { adopts: true, batches: true });
    if (answer.kind !== "grant") throw new Error(answer.kind);
    const units = [
      { unit: 0, offset: 0, length: 10, rollouts: [summary(), summary()] },
      { unit: 1, offset: 10, length: 10, rollouts: [summary(), summary({ error: "connection_cut" })] },
    ];
    run.call("adopt", { ...run.id(answer), segment: run.newSegment(answer), units, part: 0, through: 1 });
    run.call("adopted", run.id(answer));
    expect([run.head.done, run.head.pending, run.head.held]).toEqual([1, 0, undefined]);
    expect(run.plan(run.carrier())).toMatchObject({ kind: "write", units: [{ lo: 1, hi: 4 }], redo: [{ unit: 1, keep: [0] }] });
  });
});

describe("a run in batches that is paused", () => {
  it("sends nothing, and fetches what is under way", () => {
    const run = BatchRun.open(4);
    const carrier = run.carrier();
    const plan = run.plan(carrier);
    run.wrote(carrier, plan, { units: [{ lo: 0, hi: 2 }] });
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "f" });
    run.call("steer", { kind: "pause" });
    expect([run.plan(carrier).kind, run.tell(carrier, { kind: "creating", job: 1 })]).toEqual(["none", "lost"]);
    run.call("steer", { kind: "continue" });
    run.tell(carrier, { kind: "creating", job: 1 });
    run.tell(carrier, { kind: "submitted", job: 1, batch_id: "b", expires_at: null });
    run.call("steer", { kind: "pause" });
    expect(run.plan(carrier).kind).toBe("wait");
    run.now += 5_000;
    expect(run.plan(carrier).kind).toBe("look");
    run.ended(carrier, 1, 2);
    expect(run.plan(carrier).kind).toBe("collect");
  });
});

describe("waiting for a batch", () => {
  it("is no stall while somebody sees it alive, nor are heartbeats left out", () => {
    const run = BatchRun.open(1, { heartbeat_url: "https://beats.example/x" });
    run.leave(run.carrier());
    const first = run.carrier();
    run.submit(first);
    run.leave(first);
    let beats = 0;
    for (let minutes = 0; minutes < 60; minutes++) {
      run.now += 60_000;
      run.call("wake", null);
      if (run.outbox?.heartbeat === "timer") beats++;
      if (run.head.offer.want === 0) continue;
      const next = run.carrier();
      expect(run.plan(next).kind).toBe("look");
      run.tell(next, { kind: "seen", job: 1, state: "submitted", counts: { answered: 0, failed: 0 } });
      run.leave(next);
    }
    expect([run.head.pulse?.stalled, beats > 30]).toEqual([false, true]);
  });

  it("is one where nobody looks", () => {
    const run = BatchRun.open(1);
    const carrier = run.carrier();
    run.submit(carrier);
    run.leave(carrier);
    run.now += 16 * 60_000;
    run.call("wake", null);
    expect(run.head.pulse?.stalled).toBe(true);
  });
});

describe("a clock that is set back", () => {
  it("moves the next look with it", () => {
    const run = BatchRun.open(1);
    const carrier = run.carrier();
    run.submit(carrier);
    run.leave(carrier);
    run.now -= 3_600_000;
    run.call("wake", null);
    expect(run.head.batching?.next_at).toBe(run.now + 5_000);
  });
});

describe("a run that sends each request by itself", () => {
  it("has nothing of batches in its head, and no table of them", () => {
    const run = RuleRun.open(3);
    run.work();
    expect([run.head.version, run.head.batching, run.ledger.batching.jobs(), run.ledger.batching.ranges.size]).toEqual([1, undefined, [], 0]);
  });
});

describe("a job that is written, and not sent, when its run gets a first budget", () => {
  it("is written anew: nobody knew what it can cost, so that nothing would be held for it", () => {
    const open = (max_cost?: number): string | undefined => {
      const run = BatchRun.open(2);
      const carrier = run.carrier();
      run.wrote(carrier, run.plan(carrier));
      run.leave(carrier);
      run.call("interrupt", null);
      expect(run.resume(max_cost === undefined ? {} : { max_cost }).ok).toBe(true);
      return run.ledger.batching.jobs()[0]?.state;
    };
    expect([open(), open(5)]).toEqual(["written", "dropped"]);
  });
});
