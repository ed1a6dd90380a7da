import { describe, expect, it } from "vitest";
import { BatchRun } from "../../../support/run/batch-run.ts";

describe("a run in batches", () => {
  it("asks all of its units in one job, plays none before it is answered, and completes with them", () => {
    const run = BatchRun.open(5);
    expect(run.head).toMatchObject({ pending: 0, version: 3, batching: { unasked: 5, next_at: 0 } });
    const carrier = run.carrier();
    const plan = run.plan(carrier);
    expect(plan).toMatchObject({ kind: "write", job: 1, first: true, units: [{ lo: 0, hi: 5 }], redo: [], pieces: [], known: [] });
    run.wrote(carrier, plan);
    expect(run.plan(carrier)).toEqual({ kind: "upload", job: 1, place: 0, object: "requests-1", bytes: 500 });
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "file-1" });
    const create = {
      kind: "create",
      job: 1,
      place: 0,
      object: "requests-1",
      bytes: 500,
      requests: 5,
      file_id: "file-1",
      creating_at: null,
      bound: null,
      taken: [],
    };
    expect(run.plan(carrier)).toEqual(create);
    expect(run.tell(carrier, { kind: "creating", job: 1 })).toBe("ok");
    expect(run.plan(carrier)).toEqual({ ...create, creating_at: run.now });
    run.tell(carrier, { kind: "submitted", job: 1, batch_id: "batch-1", expires_at: null });
    expect(run.plan(carrier)).toEqual({ kind: "wait", until_ms: 5_000 });
    expect(run.join("too early", { batches: true }).kind).toBe("none");
    run.leave(carrier);
    expect([run.head.offer.want, run.head.batching?.next_at]).toEqual([0, run.now + 5_000]);
    expect(run.wake).toBeLessThanOrEqual(run.now + 5_000);

    run.now += 5_000;
    run.call("wake", null);
    expect(run.head.offer.want).toBe(1);
    const next = run.carrier();
    expect(run.plan(next)).toEqual({ kind: "look", job: 1, place: 0, batch_id: "batch-1" });
    run.tell(next, { kind: "seen", job: 1, state: "ended", counts: { answered: 5, failed: 0 } });
    expect(run.plan(next)).toMatchObject({ kind: "collect", job: 1, batch_id: "batch-1", object: "requests-1", units: [{ lo: 0, hi: 5 }] });
    run.collect(next, 1, [{ lo: 0, hi: 5 }]);
    expect([run.plan(next).kind, run.head.pending]).toEqual(["none", 5]);
    run.leave(next);
    const worker = run.worker();
    expect(run.block(worker, 1)).toMatchObject({ lo: 0, hi: 4, jobs: [{ job: 1, index: "answers-1" }] });
    run.commit(worker, [0, 1, 2, 3]);
    run.block(worker, 2);
    run.commit(worker, [4]);
    expect(run.head.status).toBe("COMPLETED");
  });

  it("looks for what it began to create since it began the last time: what it began before, it has looked for in vain", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    run.wrote(carrier, run.plan(carrier));
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "file-1" });
    run.tell(carrier, { kind: "creating", job: 1 });
    run.now += 1_000;
    expect(run.tell(carrier, { kind: "creating", job: 1 })).toBe("ok");
    expect(run.plan(carrier)).toMatchObject({ kind: "create", creating_at: run.now });
  });

  it("has nothing for an executor that knows of no batches", () => {
    expect(BatchRun.open(2).join("of before").kind).toBe("none");
  });
});
