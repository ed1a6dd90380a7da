import { describe, expect, it } from "vitest";
import { metadataOf } from "../../../../durable-objects/run/reading/run-metadata.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

describe("a run that ended before its first rollout", () => {
  const dead = (code: "dataset_unreadable" | "environment_failed"): RuleRun => {
    const run = new RuleRun({ env_args: { dataset: "sha256:broken" } });
    const grant = run.grant("a");
    run.call("fail", { ...run.id(grant), failure: { code, message: "it is broken" } });
    run.leave(grant);
    run.settle();
    return run;
  };

  it.each(["dataset_unreadable", "environment_failed"] as const)("takes the mended data, arguments and version of its environment (%s)", (code) => {
    const run = dead(code);
    const mended = { env_args: { dataset: "sha256:mended" }, env_version: "9.9.9" };
    expect(run.resume({ expect: mended })).toMatchObject({ ok: true, value: { owed_rollouts: 10 } });
    expect(run.ledger.config()).toMatchObject(mended);
    run.pin(10);
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 10 });
  });

  it("is pinned anew, whatever had been read before", () => {
    const run = RuleRun.open(10, { env_args: { dataset: "sha256:broken" } });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.call("fail", { ...run.id(grant), failure: { code: "auth_failed", message: "no" } });
    run.leave(grant);
    run.settle();
    expect(run.resume({ expect: { env_args: { dataset: "sha256:mended" } } })).toMatchObject({ ok: true });
    expect(run.pin(4, { digest: "other" }).task).toMatchObject({ kind: "prepare", pinned: null });
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", n: 4, done: 4, dataset_digest: "other", totals: { rollouts: 4 } });
    expect(run.ledger.chunksIn({ lo: 0, hi: 10 })).toEqual([expect.objectContaining({ lo: 0, hi: 4 })]);
  });

  it("keeps its other settings", () => {
    expect(dead("dataset_unreadable").resume({ expect: { model: "other" } })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
  });

  it("with a row is pinned to what the row is of", () => {
    const run = RuleRun.open(2, { env_args: { dataset: "sha256:a" } });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0]);
    run.call("fail", { ...run.id(grant), failure: { code: "environment_failed", message: "no" } });
    run.leave(grant);
    run.settle();
    expect(run.resume({ expect: { env_args: { dataset: "sha256:b" } } })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 1 } });
    expect(run.head.phase).toBe("open");
  });

  it("that was only interrupted goes on with what it has read", () => {
    const run = RuleRun.open(3);
    run.call("interrupt", null);
    run.resume();
    expect(run.head).toMatchObject({ phase: "open", n: 3 });
  });
});

describe("a run whose data set has not been read yet", () => {
  it("says in its folder how many examples it was asked for, by which -R finds it again", async () => {
    for (const asked of [8, -1]) {
      const run = new RuleRun({ num_examples: asked });
      expect((await metadataOf(run.ledger, async () => true))?.num_examples).toBe(asked);
      run.pin(5);
      expect((await metadataOf(run.ledger, async () => true))?.num_examples).toBe(5);
    }
  });
});
