import { describe, expect, it } from "vitest";
import type { Grant } from "../../../../durable-objects/run/protocol.ts";
import { LAST_SCORES_MS } from "../../../../durable-objects/run/course/last-scores.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const BOTH = [summary(), summary()];

/** Units 0 and 1 are generated, of unit 2 one rollout is and one stands between two turns, and of unit 3 nothing; whoever had them has left. */
function generated(timeout_minutes: number | null = null): RuleRun {
  const run = RuleRun.open(4, { rollouts_per_example: 2, timeout_minutes });
  const grant = run.grant("a");
  run.block(grant, 1, { free: 4 });
  run.keep(grant, [
    { unit: 0, rollouts: [0, 1] },
    { unit: 1, rollouts: [0], begun: [1], unscored: [1] },
    { unit: 2, rollouts: [0], begun: [1] },
  ]);
  run.leave(grant);
  return run;
}

function cancelled(): RuleRun {
  const run = generated();
  expect(run.call("cancel", null)).toMatchObject({ ok: true });
  return run;
}

function scorer(run: RuleRun, executor = "b"): Grant {
  const answer = run.join(executor, { scores_only: true });
  if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
  return answer;
}

const ranges = (run: RuleRun, grant: Grant): unknown => {
  const { lo, hi } = run.block(grant, 1, { free: 9 });
  return [lo, hi];
};

describe("a run that is cancelled", () => {
  it("is scored as far as it is generated before it rests, by grants that generate nothing", () => {
    const run = cancelled();
    expect(run.head).toMatchObject({ status: "CANCELLED", phase: "draining", offer: { want: 2 } });
    const grant = scorer(run);
    expect(grant).toMatchObject({ task: { kind: "units" }, scores_only: true });
    expect([ranges(run, grant), run.beat(grant)]).toEqual([[0, 2], "continue"]);
    expect(run.claim(grant, 2)).toMatchObject({ kind: "empty", pending: 0 });
    expect(run.commit(grant, [0, 1], BOTH)).toEqual(["accepted", "accepted"]);
    run.leave(grant);
    expect(run.head).toMatchObject({ status: "CANCELLED", phase: "finalising", done: 2, pending: 2 });
    run.settle();
    expect(run.ledger.keptRollouts()).toBe(1);
  });

  it("waits for those who have something open first, and grants executors of before nothing", () => {
    const run = generated();
    const other = run.grant("b", 1);
    run.block(other, 1, { free: 1 });
    run.call("cancel", null);
    expect([run.beat(other), run.head.offer.want, run.join("c", { scores_only: true })]).toEqual(["drain", 0, { kind: "closed" }]);
    run.leave(other);
    expect([run.head.offer.want, run.join("d")]).toEqual([2, { kind: "closed" }]);
    expect(ranges(run, scorer(run))).toEqual([0, 2]);
  });

  it("hands out again what its scorer lost, once", () => {
    const run = cancelled();
    for (const executor of ["b", "c"]) {
      const grant = scorer(run, executor);
      expect(ranges(run, grant)).toEqual([0, 2]);
      run.leave(grant);
    }
    expect(run.head).toMatchObject({ phase: "finalising", done: 0, pending: 4 });
    expect(run.head).not.toHaveProperty("last_scores");
  });

  it("rests after a while whoever is at it", () => {
    const run = cancelled();
    const grant = scorer(run);
    ranges(run, grant);
    const until = run.now + LAST_SCORES_MS;
    while (run.now < until - 5_000) {
      run.now += 5_000;
      expect(run.beat(grant)).toBe("continue");
    }
    run.now = until;
    expect([run.wake, run.beat(grant), run.head.phase]).toEqual([until, "abort", "draining"]);
    run.leave(grant);
    expect(run.head.phase).toBe("finalising");
  });

  it("rests at once when it is cancelled again, or when who is to score it cannot", () => {
    const run = cancelled();
    const grant = scorer(run);
    ranges(run, grant);
    expect(run.call("cancel", null)).toMatchObject({ ok: true });
    expect(run.call("beat", { ...run.id(grant), started: [], vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null } })).toEqual({
      kind: "abort",
      ends: "closed",
    });
    run.leave(grant);
    expect(run.head).toMatchObject({ status: "CANCELLED", phase: "finalising" });
    const other = cancelled();
    const unable = scorer(other);
    other.call("fail", { ...other.id(unable), failure: { code: "storage_unavailable", message: "not now" }, passing: true });
    other.leave(unable);
    expect(other.head).toMatchObject({ status: "CANCELLED", phase: "finalising", failure: null });
  });

  it("goes on with it under another boot", () => {
    const run = cancelled();
    ranges(run, scorer(run));
    run.boot = "boot-2";
    run.call("wake", null);
    expect(run.head).toMatchObject({ phase: "draining", offer: { want: 2 } });
    expect(ranges(run, scorer(run, "c"))).toEqual([0, 2]);
  });

  it("waits for nothing where nothing is generated whole", () => {
    const run = RuleRun.open(3);
    run.call("cancel", null);
    expect(run.head.phase).toBe("finalising");
  });
});

it("a run that reaches its time limit is scored as far as it is generated too, and one that failed is not", () => {
  const run = generated(1);
  run.now += 60_000;
  run.call("wake", null);
  expect(run.head).toMatchObject({ status: "TIMEOUT", phase: "draining" });
  const grant = scorer(run);
  expect([ranges(run, grant), run.beat(grant), run.commit(grant, [0, 1], BOTH)]).toEqual([[0, 2], "continue", ["accepted", "accepted"]]);
  run.leave(grant);
  expect(run.head).toMatchObject({ status: "TIMEOUT", phase: "finalising", done: 2 });
  const failed = generated();
  failed.call("fail", { ...failed.id(failed.grant("b")), failure: { code: "auth_failed", message: "no" } });
  expect(failed.head).toMatchObject({ status: "FAILED", phase: "draining" });
  expect(failed.join("c", { scores_only: true })).toEqual({ kind: "closed" });
});

it("the unit that a repair owes is generated with its rows that stay", () => {
  const run = RuleRun.open(1, { rollouts_per_example: 2 });
  run.work(() => [summary(), summary({ error: "provider_error" })]);
  run.settle();
  run.resume();
  const grant = run.grant("a");
  run.block(grant, 1);
  run.keep(grant, [{ unit: 0, rollouts: [1] }]);
  run.leave(grant);
  run.call("cancel", null);
  expect(run.block(scorer(run), 1, { free: 1 })).toMatchObject({ lo: 0, redo: [{ unit: 0, keep: [0] }], pieces: [{ rollouts: [1] }] });
});

it("the same commit again changes nothing of what is kept, with turns among it too", () => {
  const run = RuleRun.open(2, { rollouts_per_example: 2 });
  const grant = run.grant("a");
  run.block(grant, 1, { free: 2 });
  const pieces = [
    { unit: 0, rollouts: [0] },
    { unit: 1, rollouts: [], begun: [1] },
  ];
  const segment = run.keep(grant, pieces);
  const before = run.ledger.piecesIn({ lo: 0, hi: 2 });
  run.keep(grant, pieces, segment);
  expect(run.ledger.piecesIn({ lo: 0, hi: 2 })).toEqual(before);
});
