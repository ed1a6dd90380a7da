import { describe, expect, it } from "vitest";
import type { Grant, MergePlanAnswer, MergeSource } from "../../../../durable-objects/run/protocol.ts";
import { committedPage } from "../../../../durable-objects/run/reading/committed.ts";
import { packed } from "../../../../src/executor/merge.ts";
import { SEGMENT_BYTES, SMALL_SEGMENT_BYTES } from "../../../../src/limits.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

/** Events that are looked through at a time. */
const BATCH = 5;

/** `n` units, each committed alone in a segment of ten bytes, from the last to the first; some more are open. */
function committed(n: number, open = 2): RuleRun {
  const run = RuleRun.open(n + open, { max_concurrent: 64 });
  run.mergeAfter = BATCH;
  // What was logged so far is looked at: a batch is as many commits.
  run.ledger.putHead({ ...run.head, merged_through: run.head.seq });
  const grant = run.grant("a", 64);
  run.block(grant, 1, { free: n });
  for (let unit = n - 1; unit >= 0; unit--) run.commit(grant, [unit]);
  return run;
}
const plan = (run: RuleRun, grant: Grant, through: number | null = null): MergePlanAnswer => run.call("mergePlan", { ...run.id(grant), through });
function sources(answer: MergePlanAnswer): readonly MergeSource[] {
  if (answer.kind !== "plan") throw new Error(answer.kind);
  return answer.sources;
}
const places = (run: RuleRun): readonly string[] => [...run.ledger.placesFrom(0)].map(({ segment, offset, length }) => `${segment} ${offset}+${length}`);

describe("small segments of a run at work", () => {
  it("are merged by one executor, beside its units, once there are enough of them", () => {
    expect(committed(BATCH - 1).join("m", { merges: true })).toEqual({ kind: "none" });
    const run = committed(BATCH);
    expect(run.head.offer.want).toBe(1);
    expect(run.join("of before").kind).toBe("none");
    const merger = run.merger("m");
    expect(merger).toMatchObject({ lanes: 0, requests: 0 });
    expect(merger.env_digest).toBeUndefined();
    expect(run.head.offer.want).toBe(0);
    expect([run.join("m", { merges: true }).kind, run.join("n", { merges: true }).kind]).toEqual(["none", "none"]);
    expect(run.beat(merger)).toBe("continue");
  });

  it("want an executor also where all requests are given out, but none that a small service does not have", () => {
    const run = committed(BATCH, 0);
    expect(run.head.phase).not.toBe("open");
    const busy = committed(BATCH, 1);
    busy.executors = 2;
    busy.call("wake", null);
    expect(busy.head).toMatchObject({ pending: 1, offer: { want: 1 } });
    busy.executors = 1;
    busy.call("wake", null);
    expect(busy.head.offer.want).toBe(0);
  });

  it("want an executor with the event that makes them enough, also where that is the line that nothing has progressed", () => {
    const run = RuleRun.open(1);
    const grant = run.grant("a");
    run.claim(grant, 1, { free: 1 });
    run.mergeAfter = run.head.seq + 1;
    for (const end = run.now + 900_000; run.now < end; run.now += 5_000) run.beat(grant);
    expect(run.head.offer.want).toBe(0);
    run.beat(grant);
    expect(run.ledger.events.at(-1)?.message).toMatch(/^Nothing has progressed/);
    expect(run.outbox?.offer).toMatchObject({ want: 1 });
  });

  it("that were left when a run was resumed wait until as many events have come again: its first units go first", () => {
    const run = committed(BATCH, 2 * BATCH);
    run.call("interrupt", null);
    run.now += run.timing.lease + run.timing.grace;
    run.call("poke", null);
    expect(run.resume()).toMatchObject({ ok: true });
    const grant = run.grant("b", 64);
    const block = run.block(grant, 1, { free: 2 * BATCH });
    expect(run.join("m", { merges: true }).kind).toBe("none");
    for (let unit = block.lo; run.head.seq - (run.head.resumed_seq ?? 0) < BATCH; unit++) run.commit(grant, [unit]);
    const merger = run.merger("m");
    expect(sources(plan(run, merger))).toHaveLength(BATCH);
  });

  it("are named in the order of their units, a batch of events at a time, and only what is small", () => {
    const run = committed(2 * BATCH);
    const seventh = run.ledger.done(7);
    if (seventh !== null) run.ledger.putDone({ ...seventh, length: SMALL_SEGMENT_BYTES + 1 });
    const merger = run.merger("m");
    const first = plan(run, merger);
    const units = (answer: MergePlanAnswer): number[] =>
      sources(answer).map(({ segment }) => [...run.ledger.placesFrom(0)].find((place) => place.segment === segment)?.unit ?? -1);
    expect(units(first)).toEqual([5, 6, 8, 9]);
    expect(units(plan(run, merger))).toEqual([5, 6, 8, 9]);
    const second = plan(run, merger, first.kind === "plan" ? first.through : null);
    expect(units(second)).toEqual([0, 1, 2, 3, 4]);
    expect(plan(run, merger, second.kind === "plan" ? second.through : null)).toEqual({ kind: "none" });
    run.leave(merger);
    expect(run.join("n", { merges: true })).not.toMatchObject({ task: { kind: "merge" } });
  });

  it("are where the target is, once the Run was told; a unit keeps what its commit and its followers know it by", () => {
    const run = committed(BATCH);
    const before = run.ledger.commitsAfter(0, 99);
    const merger = run.merger("m");
    const named = sources(plan(run, merger));
    const [one, two] = named;
    const request = { ...run.id(merger), target: "9-9-1", sources: named };
    expect(run.call("merged", request)).toEqual({ kind: "ok" });
    expect(places(run)).toEqual(["9-9-1 0+10", "9-9-1 10+10", "9-9-1 20+10", "9-9-1 30+10", "9-9-1 40+10"]);
    // The answer was lost; and somebody else has merged the same meanwhile.
    expect(run.call("merged", request)).toEqual({ kind: "ok" });
    run.call("merged", { ...request, target: "9-9-2", sources: [two, one].flatMap((each) => each ?? []) });
    expect(places(run)[1]).toBe("9-9-1 10+10");
    expect(sources(plan(run, merger))).toEqual([]);
    const page = committedPage(run.ledger, before, 0, 1_000, true);
    expect(page.commits.flatMap((commit) => commit.places.map(({ unit, segment }) => `${unit} ${segment}`))).toEqual([
      "4 9-9-1",
      "3 9-9-1",
      "2 9-9-1",
      "1 9-9-1",
      "0 9-9-1",
    ]);
    const again = run.commit({ ticket: 1, epoch: 2 } as Grant, [4], [summary()], before[0]?.segment ?? "");
    expect([again, run.head.totals.rollouts]).toEqual([["accepted"], BATCH]);
  });

  it("are nobody's to move once the grant has ended, or the run works no more", () => {
    const run = committed(BATCH);
    const merger = run.merger("m");
    const named = sources(plan(run, merger));
    run.leave(merger);
    expect([plan(run, merger).kind, run.call("merged", { ...run.id(merger), target: "9-9-1", sources: named }).kind]).toEqual(["lost", "lost"]);
    const other = run.merger("n");
    run.call("cancel", null);
    expect([plan(run, other).kind, run.call("merged", { ...run.id(other), target: "9-9-1", sources: named }).kind]).toEqual(["lost", "lost"]);
    expect(places(run)).toHaveLength(BATCH);
    expect(run.ledger.moved.size).toBe(0);
  });

  it("whose unit is repaired are where they were merged for whoever keeps some of its rollouts", () => {
    const run = RuleRun.open(BATCH + 1, { max_concurrent: 64 });
    run.mergeAfter = BATCH;
    const grant = run.grant("a", 64);
    run.block(grant, 1, { free: BATCH });
    for (let unit = 0; unit < BATCH; unit++) run.commit(grant, [unit], [summary(unit === 1 ? { error: "timeout", reward: 0 } : {})]);
    const merger = run.merger("m");
    const named = sources(plan(run, merger));
    run.call("merged", { ...run.id(merger), target: "9-9-1", sources: named });
    run.leave(merger);
    run.leave(grant);
    run.call("interrupt", null);
    run.resume();
    const block = run.block(run.grant("b", 64), 1, { free: 1 });
    expect(block).toMatchObject({ lo: 1, redo: [{ unit: 1, place: { segment: "9-9-1", offset: 10, length: 10 } }] });
  });
});

describe("the targets of a merge", () => {
  const source = (segment: number, length: number): MergeSource => ({ segment: `1-1-${segment}`, length });

  it("hold their sources in order, no more than a segment's bytes of them, and none alone", () => {
    const half = SEGMENT_BYTES / 2;
    const lengths = [half, half, 1, SEGMENT_BYTES, half, 1];
    const targets = packed(lengths.map((length, index) => source(index, length)));
    expect(targets.map((each) => each.map(({ segment }) => segment))).toEqual([
      ["1-1-0", "1-1-1"],
      ["1-1-4", "1-1-5"],
    ]);
    expect([packed([]), packed([source(1, 5)])]).toEqual([[], []]);
  });
});
