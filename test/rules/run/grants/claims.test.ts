import { describe, expect, it } from "vitest";
import { blockSize } from "../../../../durable-objects/run/grants/claims.ts";
import { INPUT_CACHE_BYTES, MAX_ROW_BYTES } from "../../../../src/limits.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

describe("the size of a block", () => {
  const plain = { bytes: 0, rollouts: 1 };

  it("is the free lanes, and of what frees up soon at most an even share of what is pending, or half of it for one that is alone", () => {
    expect(blockSize({ free: 4, soon: 0 }, 1_000, 1, plain)).toBe(4);
    expect(blockSize({ free: 4, soon: 50 }, 1_000, 1, plain)).toBe(54);
    expect(blockSize({ free: 4, soon: 5_000 }, 1_000, 1, plain)).toBe(500);
    expect(blockSize({ free: 4, soon: 5_000 }, 1_000, 5, plain)).toBe(200);
  });

  it("is the free lanes near the end, so that nobody hoards", () => {
    expect(blockSize({ free: 4, soon: 5_000 }, 7, 1, plain)).toBe(4);
    expect(blockSize({ free: 0, soon: 5_000 }, 1, 1, plain)).toBe(0);
    expect(blockSize({ free: 4, soon: 0 }, 3, 1, plain)).toBe(3);
  });

  it("holds no more inputs than an executor may, but always one unit", () => {
    expect(blockSize({ free: 1_000, soon: 0 }, 5_000, 1, { bytes: INPUT_CACHE_BYTES / 10, rollouts: 1 })).toBe(10);
    expect(blockSize({ free: 1_000, soon: 0 }, 5_000, 1, { bytes: INPUT_CACHE_BYTES / 10 + 1, rollouts: 1 })).toBe(9);
    expect(blockSize({ free: 1_000, soon: 0 }, 5_000, 1, { bytes: 3 * INPUT_CACHE_BYTES, rollouts: 1 })).toBe(1);
  });

  it("is limited, whatever an executor says it can do", () => {
    expect(blockSize({ free: 1e9, soon: 1e9 }, 1e6, 1, plain)).toBe(4_096);
    expect(blockSize({ free: 1e9, soon: 1e9 }, 1e6, 1, { bytes: 0, rollouts: 1_024 })).toBe(195);
  });

  it.each([48, 49, 200, 1_024])("keeps the answer in one row of the ledger, with all but one of %i rollouts of each unit to be kept", (rollouts) => {
    const units = 5_000;
    const run = RuleRun.open(units, { rollouts_per_example: rollouts, max_concurrent: 0 });
    const group = Array.from({ length: rollouts }, (_, index) => summary({ metrics: {}, error: index === 0 ? "timeout" : null }));
    const size = blockSize({ free: 1e9, soon: 0 }, units, 1, { bytes: 100, rollouts });
    for (let unit = 0; unit < size; unit++) {
      run.ledger.putDone({ unit, segment: "999999999-999999999-999999999", offset: 1e9, length: 1e9, rollouts: group, owed: true });
    }
    const answer = run.claim(run.grant("a", 1e6), 1, { free: 1e9 });
    expect(answer).toMatchObject({ kind: "block", lo: 0, hi: size });
    expect(JSON.stringify(answer).length).toBeLessThan(MAX_ROW_BYTES - 100_000);
  });
});

describe("claims", () => {
  it("never overlap and leave nothing out", () => {
    const run = RuleRun.open(23, { max_concurrent: 0 });
    const taken: number[] = [];
    const grants = ["a", "b", "c"].map((name) => run.grant(name));
    for (let seq = 1; taken.length < 23; seq++) {
      for (const grant of grants) {
        const answer = run.claim(grant, seq, { free: 2 });
        if (answer.kind === "block") for (let unit = answer.lo; unit < answer.hi; unit++) taken.push(unit);
      }
    }
    expect(taken.sort((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, unit) => unit));
    expect(run.head.pending).toBe(0);
  });

  it("get the same answer for the same number, whatever else has happened, and nothing for an older one", () => {
    const run = RuleRun.open(20);
    const [a, b] = [run.grant("a"), run.grant("b")];
    const first = run.block(a, 1);
    run.block(b, 1);
    expect(run.claim(a, 1, { free: 1 })).toEqual(first);
    const second = run.block(a, 2);
    expect(second.lo).toBeGreaterThanOrEqual(first.hi);
    expect(run.claim(a, 2)).toEqual(second);
    expect(run.claim(a, 1)).toEqual({ kind: "lost" });
  });

  it("of nothing are remembered too", () => {
    const run = RuleRun.open(2);
    const [a, b] = [run.grant("a"), run.grant("b")];
    run.block(a, 1, { free: 2 });
    expect(run.claim(b, 1)).toMatchObject({ kind: "empty", pending: 0 });
    run.leave(a);
    expect(run.claim(b, 1)).toMatchObject({ kind: "empty", pending: 0 });
    expect(run.block(b, 2)).toMatchObject({ lo: 0, hi: 2 });
  });

  it("take what was given back before what was never touched", () => {
    const run = RuleRun.open(20);
    const [a, b] = [run.grant("a"), run.grant("b")];
    run.block(a, 1);
    run.block(b, 1);
    run.commit(a, [1]);
    run.leave(a);
    const c = run.grant("c");
    expect([1, 2].map((seq) => run.block(c, seq, { free: 4 })).map(({ lo, hi }) => [lo, hi])).toEqual([
      [0, 1],
      [2, 4],
    ]);
  });

  it("name the chunks their inputs are in", () => {
    const run = RuleRun.open(20);
    const [chunk] = run.block(run.grant("a"), 1).chunks;
    expect(chunk).toMatchObject({ lo: 0, hi: 20, bytes: 2_000 });
  });

  it("are refused when the run does not work, and told to wait while it may again", () => {
    const run = RuleRun.open(20);
    const grant = run.grant("a");
    run.call("interrupt", null);
    expect(run.claim(grant, 1)).toMatchObject({ kind: "empty", pending: 20 });
    run.call("cancel", null);
    expect(run.claim(grant, 2)).toMatchObject({ kind: "closed" });
    run.leave(grant);
    expect(run.claim(grant, 3)).toEqual({ kind: "lost" });
  });
});
