import { describe, expect, it } from "vitest";
import { BatchRun } from "../../../support/run/batch-run.ts";

const FULL = { code: "rate_limited", message: "enqueued token limit reached" } as const;

describe("a provider that takes no more", () => {
  it("is asked again once another batch of the run is over", () => {
    const run = BatchRun.open(4);
    const carrier = run.carrier();
    run.wrote(carrier, run.plan(carrier), { units: [{ lo: 0, hi: 2 }] });
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "f" });
    run.tell(carrier, { kind: "creating", job: 1 });
    run.tell(carrier, { kind: "submitted", job: 1, batch_id: "batch-1", expires_at: null });
    run.wrote(carrier, run.plan(carrier));
    run.tell(carrier, { kind: "uploaded", job: 2, file_id: "f" });
    run.tell(carrier, { kind: "creating", job: 2 });
    run.tell(carrier, { kind: "submitted", job: 2, batch_id: "batch-2", expires_at: null });
    run.tell(carrier, { kind: "refused", job: 2, failure: FULL, how: "full", batch_id: "batch-2" });
    expect(run.plan(carrier)).toEqual({ kind: "wait", until_ms: 5_000 });
    run.now += 5_000;
    run.ended(carrier, 1, 2);
    run.collect(carrier, 1, [{ lo: 0, hi: 2 }]);
    // The one that failed is not taken for one that was created.
    expect(run.plan(carrier)).toMatchObject({ kind: "create", job: 2, creating_at: null, taken: ["batch-1", "batch-2"] });
  });

  it("gets half as many requests at a time where nothing of the run is there", () => {
    const run = BatchRun.open(8);
    const carrier = run.carrier();
    run.wrote(carrier, run.plan(carrier));
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "f" });
    run.tell(carrier, { kind: "creating", job: 1 });
    run.tell(carrier, { kind: "refused", job: 1, failure: FULL, how: "full" });
    expect(run.plan(carrier)).toEqual({ kind: "wait", until_ms: 15_000 });
    run.now += 9_000;
    run.beat(carrier);
    run.now += 6_000;
    expect(run.plan(carrier)).toMatchObject({ kind: "write", job: 2, units: [{ lo: 0, hi: 4 }] });
  });

  it("is given back what budgets held for a batch that it did not take", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    const plan = run.plan(carrier);
    if (plan.kind !== "write") throw new Error(plan.kind);
    run.tell(carrier, { kind: "wrote", job: 1, place: 0, object: "o", bytes: 9, requests: 2, units: plan.units, ready: [], bound: 500 });
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "f" });
    expect(run.plan(carrier)).toMatchObject({ kind: "create", bound: 500 });
    run.tell(carrier, { kind: "creating", job: 1 });
    run.tell(carrier, { kind: "refused", job: 1, failure: FULL, how: "full" });
    expect(run.plan(carrier)).toEqual({ kind: "release", job: 1, place: 0 });
    run.tell(carrier, { kind: "released", job: 1 });
    expect(run.plan(carrier).kind).toBe("wait");
  });
});

describe("a step that is refused for a moment", () => {
  it("is tried again after waits that grow, and what it may have created is looked for", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    run.wrote(carrier, run.plan(carrier));
    run.tell(carrier, { kind: "uploaded", job: 1, file_id: "f" });
    const waits: unknown[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      const began = run.now;
      run.tell(carrier, { kind: "creating", job: 1 });
      run.tell(carrier, { kind: "refused", job: 1, failure: { code: "provider_error", message: "gone" }, how: "passing" });
      const wait = run.plan(carrier);
      if (wait.kind !== "wait") throw new Error(wait.kind);
      waits.push(wait.until_ms);
      run.now += wait.until_ms;
      run.beat(carrier);
      expect(run.plan(carrier)).toMatchObject({ kind: "create", creating_at: began });
    }
    expect(waits).toEqual([5_000, 5_000, 5_000, 5_000, 8_000]);
  });

  it("is one of writing too: for want of money, say, until something comes back", () => {
    const run = BatchRun.open(2);
    const carrier = run.carrier();
    const short = { kind: "refused", job: 1, failure: { code: "over_budget", message: "nothing left for now" }, how: "passing" } as const;
    run.tell(carrier, short);
    expect(run.plan(carrier)).toEqual({ kind: "wait", until_ms: 5_000 });
    run.now += 5_000;
    run.tell(carrier, short);
    expect(run.plan(carrier)).toEqual({ kind: "wait", until_ms: 10_000 });
  });
});
