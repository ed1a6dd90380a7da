import { describe, expect, it } from "vitest";
import type { Grant } from "../../../../durable-objects/run/protocol.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

const N = 6;

/** A run of `N` examples of which the first two are pinned; whoever reads the others has this grant. */
function begun(): { readonly run: RuleRun; readonly preparer: Grant } {
  const run = new RuleRun({ num_examples: N });
  return { run, preparer: run.pin(2, { more: true }) };
}
/** The silence of everybody. */
function lapse(run: RuleRun): void {
  run.now += run.timing.lease + run.timing.grace;
  run.call("wake", null);
}

describe("a run whose data set is still being read", () => {
  it("works on its first examples, and completes with the last", () => {
    const { run, preparer } = begun();
    expect(preparer.task).toMatchObject({ kind: "prepare", pinned: null, in_parts: true });
    expect(run.head).toMatchObject({ phase: "open", status: "RUNNING", n: 2, pending: 2, pinned_for: null });
    run.work();
    expect(run.head).toMatchObject({ phase: "open", done: 2 });
    run.pin(5, { grant: preparer, from: 2, more: true });
    expect(run.head).toMatchObject({ phase: "open", n: 5, pending: 3 });
    run.work();
    expect(run.head).toMatchObject({ phase: "open", done: 5 });
    run.pin(N, { grant: preparer, from: 5 });
    expect(run.head).toMatchObject({ phase: "open", n: N, pinned_for: N, dataset_digest: `digest of ${N}` });
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: N });
  });

  it("completes with the last of them where that is all that was missing", () => {
    const { run, preparer } = begun();
    run.work();
    run.pin(2, { grant: preparer, from: 2 });
    expect(run.head).toMatchObject({ status: "COMPLETED", n: 2, done: 2 });
  });

  it("has executors wait for units that are about to be pinned, and for none that nobody reads", () => {
    const { run, preparer } = begun();
    const grant = run.grant("a");
    run.block(grant, 1, { free: 2 });
    expect(run.claim(grant, 2)).toMatchObject({ kind: "empty", pending: 1 });
    run.leave(preparer);
    expect(run.claim(grant, 3)).toMatchObject({ kind: "empty", pending: 0 });
  });

  it("has one executor read it, beside units of its own, and another when that one falls silent", () => {
    const { run, preparer } = begun();
    expect(run.grant("preparing").task.kind).toBe("units");
    expect(run.beat(preparer)).toBe("continue");
    lapse(run);
    expect(run.head.offer.want).toBeGreaterThan(0);
    const { task } = run.grant("b");
    expect(task).toMatchObject({ kind: "prepare", pinned: { count: 2, digest: "digest of 2" }, in_parts: true, beside: true });
    expect(run.grant("b").task.kind).toBe("units");
    expect(
      run.call("prepared", {
        ...run.id(preparer),
        attempt: 1,
        chunks: [],
        count: N,
        digest: "late",
        env_digest: "e",
        pass_threshold: 0.5,
        env_sampling_args: {},
      }),
    ).toEqual({
      kind: "lost",
    });
  });

  it("ends when three in a row fall silent over it, and not where each gets further", () => {
    const { run } = begun();
    lapse(run);
    run.pin(3, { more: true });
    lapse(run);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(run.head.phase).toBe("open");
      run.grant(`reads ${attempt}`);
      lapse(run);
    }
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "preparation_failed" } });
  });

  it.each(["interrupt", "cancel"] as const)("goes on reading in a resume after an %s", (how) => {
    const { run, preparer } = begun();
    run.call(how, null);
    run.leave(preparer);
    if (how === "cancel") run.settle();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: N } });
    expect(run.pin(N).task).toMatchObject({ kind: "prepare", pinned: { count: 2, digest: "digest of 2" } });
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", n: N, done: N });
  });

  it("is stored so that a version which would end it early refuses it, until all is read", () => {
    const { run, preparer } = begun();
    expect(run.head.version).toBe(2);
    run.pin(N, { grant: preparer, from: 2 });
    expect(run.head).toMatchObject({ version: 1 });
    expect(run.head.pinning).toBeUndefined();
    const cancelled = begun().run;
    cancelled.call("cancel", null);
    expect(cancelled.head.version).toBe(1);
  });

  it("is read whole before it opens where rows of a folder are taken over", () => {
    const folder = { results: "f".repeat(64), dataset_digest: null, keep_errors: false };
    const run = new RuleRun({ num_examples: N }, folder);
    const { task } = run.grant("a");
    expect(task.kind === "prepare" && task.in_parts).toBeUndefined();
  });
});
