import { describe, expect, it } from "vitest";
import type { Done } from "../../../../durable-objects/run/state/ledger.ts";
import type { Grant, WindowAnswer } from "../../../../durable-objects/run/protocol.ts";
import { FINALISINGS_TO_FAIL } from "../../../../durable-objects/run/course/finalise-attempts.ts";
import { PART_BYTES } from "../../../../src/limits.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

/** A run that has to write `results.jsonl` from units of these lengths, every one in a segment of its own. */
function finalising(lengths: readonly number[]): RuleRun {
  const run = RuleRun.open(Math.max(1, lengths.length));
  for (const [unit, length] of lengths.entries()) {
    const done: Done = { unit, segment: `1-1-${unit + 1}`, offset: 7, length, rollouts: [], owed: false };
    run.ledger.putDone(done);
  }
  run.call("cancel", null);
  return run;
}
const window = (run: RuleRun, grant: Grant): WindowAnswer => run.call("window", run.id(grant));
function part(run: RuleRun, grant: Grant): Extract<WindowAnswer, { kind: "part" }> {
  const answer = window(run, grant);
  if (answer.kind !== "part") throw new Error(answer.kind);
  return answer;
}
const report = (run: RuleRun, grant: Grant, number: number): string => run.call("part", { ...run.id(grant), part: number, etag: `etag ${number}` }).kind;

describe("the final file", () => {
  it("of a small run is one part that is the last", () => {
    const run = finalising([100, 200]);
    const grant = run.grant("a");
    expect(part(run, grant)).toMatchObject({ part: 1, upload_id: null, skip: 0, bytes: 300, last: true, pointers: [{ unit: 0 }, { unit: 1 }] });
  });

  it("of a run without rows is empty", () => {
    const run = finalising([]);
    expect(part(run, run.grant("a"))).toMatchObject({ part: 1, bytes: 0, last: true, pointers: [] });
  });

  it("is written in parts of equal size, the last one smaller, that cover every byte once", () => {
    const lengths = [PART_BYTES - 1, 3, 2 * PART_BYTES, 50];
    const run = finalising(lengths);
    const grant = run.grant("a");
    run.call("upload", { ...run.id(grant), upload_id: "u" });
    const sizes: number[] = [];
    for (;;) {
      const answer = window(run, grant);
      if (answer.kind === "complete") {
        expect(answer).toEqual({ kind: "complete", upload_id: "u", parts: sizes.map((_, index) => ({ part: index + 1, etag: `etag ${index + 1}` })) });
        break;
      }
      if (answer.kind !== "part") throw new Error(answer.kind);
      expect(answer.part).toBe(sizes.length + 1);
      sizes.push(answer.bytes);
      report(run, grant, answer.part);
    }
    expect(sizes).toEqual([PART_BYTES, PART_BYTES, PART_BYTES, 52]);
  });

  it("that ends exactly with a part has no empty part after it", () => {
    const run = finalising([PART_BYTES, PART_BYTES]);
    const grant = run.grant("a");
    expect(part(run, grant)).toMatchObject({ part: 1, last: false });
    report(run, grant, 1);
    expect(part(run, grant)).toMatchObject({ part: 2, bytes: PART_BYTES, last: true });
    report(run, grant, 2);
    expect(window(run, grant).kind).toBe("complete");
  });

  it("is gone on with where another executor stopped", () => {
    const run = finalising([PART_BYTES, PART_BYTES, 10]);
    const first = run.grant("a");
    run.call("upload", { ...run.id(first), upload_id: "u" });
    report(run, first, 1);
    const open = part(run, first);
    expect(part(run, first)).toEqual(open);
    run.now += run.timing.lease + run.timing.grace;
    const second = run.grant("b");
    expect([window(run, first).kind, report(run, first, 2)]).toEqual(["lost", "lost"]);
    expect(run.call("upload", { ...run.id(second), upload_id: "other" })).toEqual({ kind: "lost" });
    expect(part(run, second)).toEqual(open);
    // An answer was lost: the same part again.
    expect([report(run, second, 2), report(run, second, 2)]).toEqual(["ok", "ok"]);
    expect(part(run, second)).toMatchObject({ part: 3, bytes: 10, last: true });
  });

  it("is written anew after a resume", () => {
    const run = RuleRun.open(1);
    run.work();
    const first = run.grant("a");
    run.call("upload", { ...run.id(first), upload_id: "u" });
    report(run, first, part(run, first).part);
    run.call("finalised", run.id(first));
    run.resume({ num_examples: 2 });
    run.pin(2);
    run.work();
    const grant = run.grant("a");
    expect(part(run, grant)).toMatchObject({ part: 1, upload_id: null, pointers: [{ unit: 0 }, { unit: 1 }] });
  });

  it("is nobody's business while the run works", () => {
    const run = RuleRun.open(3);
    const grant = run.grant("a");
    expect(window(run, grant)).toEqual({ kind: "lost" });
    expect(report(run, grant, 1)).toBe("lost");
    expect(run.call("finalised", run.id(grant))).toEqual({ kind: "lost" });
    expect(run.head.phase).toBe("open");
  });
});

describe("final files that can never be written", () => {
  const failure = { code: "storage_damaged", message: "runs/x/segments/1-1-1.jsonl is missing in storage" } as const;

  it("end the run FAILED and at rest, by the name of what is gone", () => {
    const run = finalising([100]);
    const grant = run.grant("a");
    expect(run.call("fail", { ...run.id(grant), failure })).toEqual({ kind: "ok" });
    expect(run.head).toMatchObject({ phase: "settled", status: "FAILED", failure });
    expect(window(run, grant)).toEqual({ kind: "lost" });
  });

  it("are not another grant's to give up", () => {
    const run = finalising([100]);
    const grant = run.grant("a");
    expect(run.call("fail", { ...run.id(grant), epoch: grant.epoch + 1, failure })).toEqual({ kind: "lost" });
    expect(run.head).toMatchObject({ phase: "finalising", status: "CANCELLED", failure: null });
  });
});

describe("an attempt to write the final files that comes to nothing", () => {
  const failure = { code: "storage_unavailable", message: "put: Unspecified error (0)" } as const;
  const attempt = (run: RuleRun): void => void run.call("fail", { ...run.id(run.grant("a")), failure, passing: true });

  /** The next attempt, when its time has come. */
  function wait(run: RuleRun): number {
    const before = run.now;
    expect(run.head.offer.want).toBe(0);
    expect(run.join("a").kind).toBe("none");
    run.call("projected", run.head.projection.version);
    run.call("offered", run.head.offer.seq);
    run.now = run.wake ?? Number.NaN;
    run.call("wake", null);
    expect(run.head.offer.want).toBe(1);
    return run.now - before;
  }

  it("is made again after a wait that grows, and ends the run by name after some of them; a resume writes them", () => {
    const run = RuleRun.open(1);
    run.work();
    const waits: number[] = [];
    for (let n = 1; n < FINALISINGS_TO_FAIL; n++) {
      attempt(run);
      waits.push(wait(run));
    }
    expect(waits.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(run.head).toMatchObject({ phase: "finalising", status: "COMPLETED" });
    attempt(run);
    expect(run.head).toMatchObject({ phase: "settled", status: "FAILED", failure: { code: "storage_unavailable" } });
    expect(run.head.failure?.message).toBe(`Writing the results failed ${FINALISINGS_TO_FAIL} times in a row: put: Unspecified error (0)`);
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
    run.settle();
    expect(run.head).toMatchObject({ phase: "settled", status: "COMPLETED", failure: null, done: 1 });
    expect(run.head.unwritten).toBeUndefined();
  });

  it("counts when nothing is heard of its executor again, and not after a part was written", () => {
    const run = finalising([PART_BYTES, PART_BYTES, 10]);
    const silent = (): void => {
      run.grant("a");
      run.now += run.timing.lease + run.timing.grace;
      run.call("wake", null);
    };
    for (let n = 1; n < FINALISINGS_TO_FAIL; n++) silent();
    const grant = run.grant("b");
    run.call("upload", { ...run.id(grant), upload_id: "u" });
    report(run, grant, part(run, grant).part);
    run.leave(grant);
    silent();
    expect(run.head).toMatchObject({ phase: "finalising", finalise: { failed: { count: 1, failure: null } } });
    for (let n = 1; n < FINALISINGS_TO_FAIL; n++) silent();
    expect(run.head).toMatchObject({ phase: "settled", status: "FAILED", failure: { code: "storage_unavailable" } });
  });
});
