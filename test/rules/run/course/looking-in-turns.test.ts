import { describe, expect, it } from "vitest";
import { doneBefore, doneBeforeInTurns } from "../../../../durable-objects/run/course/done-before.ts";
import { referencedSegments } from "../../../../durable-objects/run/course/referenced.ts";
import { PLACES_A_TURN } from "../../../../durable-objects/run/course/turns.ts";
import { committedPage } from "../../../../durable-objects/run/reading/committed.ts";
import { BLOCK_UNITS, RowCounts } from "../../../../durable-objects/run/state/row-counts.ts";
import { MemoryLedger } from "../../../support/run/memory-ledger.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const SOURCE = { results: "a".repeat(64), dataset_digest: null, keep_errors: false };

/** A pause that counts the turns that others had. */
function turns() {
  const seen = { turns: 0 };
  const pause = async (): Promise<boolean> => {
    seen.turns++;
    return true;
  };
  return { seen, pause };
}

describe("what looks through a whole run", () => {
  it("finds in turns which segments something points to, a window of names at a time", async () => {
    const ledger = new MemoryLedger();
    const n = 3 * PLACES_A_TURN;
    const segmentOf = (unit: number): string => `1-${1 + ((unit * 7) % 1_000)}-1`;
    ledger.putDones(Array.from({ length: n }, (_, unit) => ({ unit, segment: segmentOf(unit), offset: 0, length: 1, rollouts: [], owed: false })));
    const { seen, pause } = turns();
    const found: string[] = [];
    for (let page = ["", ""] as readonly string[]; page.length > 0; ) {
      page = await referencedSegments(ledger, ["2-1-1"], { after: found.at(-1) ?? "", limit: 300 }, pause);
      found.push(...page);
    }
    expect(found).toEqual([...new Set([...Array.from({ length: n }, (_, unit) => segmentOf(unit)), "2-1-1"])].sort());
    expect(seen.turns).toBe(5 * 3);
    await expect(referencedSegments(ledger, [], { after: "", limit: 1 }, async () => false)).rejects.toThrow("the run is gone");
  });

  it("finds in slices what a folder turns out to lack, one for each call, and leaves alone what is pending or has been added", () => {
    const run = new RuleRun({ num_examples: 20, rollouts_per_example: 1 }, SOURCE);
    run.slice = 6;
    run.pin(20, { lacks: [{ lo: 3, hi: 5 }] });
    const grant = run.adopter();
    const units = [0, 1, 9, 19].map((unit) => ({ unit, offset: 0, length: 10, rollouts: [summary()] }));
    run.call("adopt", { ...run.id(grant), segment: run.newSegment(grant), units, part: 0, through: 19 });
    run.ledger.putHead({ ...run.head, n: 23, pending: run.head.pending + 3 });
    expect(run.head).toMatchObject({ held: 14, pending: 5 });
    const answers = Array.from({ length: 4 }, () => run.call("adopted", run.id(grant)).kind);
    expect(answers).toEqual(["more", "more", "more", "ok"]);
    expect(run.head).toMatchObject({ pending: 19, done: 4, import: null });
    expect(run.head.import_looked).toBeUndefined();
    const worker = run.grant("a", 64);
    const handedOut: number[] = [];
    for (let seq = 1; ; seq++) {
      const answer = run.claim(worker, seq, { free: 64 });
      if (answer.kind !== "block") break;
      for (let unit = answer.lo; unit < answer.hi; unit++) handedOut.push(unit);
    }
    expect(handedOut.sort((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, unit) => unit).filter((unit) => ![0, 1, 9, 19].includes(unit)));
  });

  it("goes on with those slices where an adoption that fell silent had come to", () => {
    const run = new RuleRun({ num_examples: 20, rollouts_per_example: 1 }, SOURCE);
    run.slice = 6;
    run.pin(20);
    const first = run.adopter();
    expect(run.call("adopted", run.id(first)).kind).toBe("more");
    expect(run.head).toMatchObject({ held: 14, pending: 6, import_looked: 6 });
    run.now += run.timing.lease + run.timing.grace;
    const again = run.adopter();
    while (run.call("adopted", run.id(again)).kind === "more");
    expect(run.head).toMatchObject({ pending: 20, import: null });
  });

  it("finds in turns what an earlier version had taken over, and shares out the rest", async () => {
    const run = new RuleRun({ num_examples: 12, rollouts_per_example: 1 }, SOURCE);
    const failed = summary({ reward: 0, error: "connection_cut" });
    for (const unit of [0, 1, 2, 7])
      run.ledger.putDone({ unit, segment: "1-1-1", offset: 0, length: 1, rollouts: [unit === 2 ? failed : summary()], owed: false });
    const { pause } = turns();
    const before = await doneBeforeInTurns(run.ledger, pause);
    expect(before).toEqual(doneBefore(run.ledger, run.head));
    expect(before).toMatchObject({
      ranges: [
        { lo: 0, hi: 3 },
        { lo: 7, hi: 8 },
      ],
      owed: [2],
    });
    run.pin(12, { lacks: [{ lo: 6, hi: 10 }] });
    expect(run.head).toMatchObject({ done: 3, pending: 4, held: 5 });
    expect([...run.ledger.returned.values()]).toEqual([
      { lo: 6, hi: 7 },
      { lo: 8, hi: 10 },
      { lo: 2, hi: 3 },
    ]);
    expect(run.ledger.done(2)?.owed).toBe(true);
    expect(await doneBeforeInTurns(run.ledger, pause)).toBeNull();
  });

  it("names fewer segments to merge at a time where they have many units", () => {
    const each = PLACES_A_TURN / 2;
    const run = RuleRun.open(5 * each, { max_concurrent: 64 });
    run.mergeAfter = 4;
    run.ledger.putHead({ ...run.head, merged_through: run.head.seq });
    const after = run.head.seq;
    const grant = run.grant("a", 64);
    for (let seq = 1; seq <= 4; seq++) {
      const { lo, hi } = run.block(grant, seq, { soon: each });
      run.commit(
        grant,
        Array.from({ length: hi - lo }, (_, index) => lo + index),
      );
    }
    const merger = run.merger("m");
    const first = run.call("mergePlan", { ...run.id(merger), through: null });
    expect(first).toMatchObject({ kind: "plan", through: after + 2 });
    expect(first.kind === "plan" && first.sources).toHaveLength(2);
  });

  it("counts rows for a page in turns, and afterwards only what has changed", async () => {
    const counted: number[] = [];
    const counts = new RowCounts((lo) => {
      counted.push(lo / BLOCK_UNITS);
      return 100;
    });
    const { seen, pause } = turns();
    await counts.countInTurns(64 * BLOCK_UNITS, pause);
    expect(seen.turns).toBe(4);
    expect(counted).toHaveLength(64);
    counts.touch(5 * BLOCK_UNITS);
    expect(counts.find(6_350, 64 * BLOCK_UNITS)).toEqual({ block: 63, skip: 50 });
    expect(counted.slice(64)).toEqual([5]);
  });

  it("names fewer commits at a time to a follower whose rows were replaced since", () => {
    const ledger = new MemoryLedger();
    const each = PLACES_A_TURN / 2;
    const events = Array.from({ length: 5 }, (_, index) => ({
      seq: index + 1,
      time: 0,
      type: "commit" as const,
      level: "INFO" as const,
      message: "",
      rollouts: each,
      units: Array.from({ length: each }, (_, at) => index * each + at),
      segment: "1-1-1",
    }));
    expect(committedPage(ledger, events, 0, 1, true)).toEqual({ commits: [], next: 2, more: true });
    expect(committedPage(ledger, events.slice(4), 4, 1, true)).toEqual({ commits: [], next: 5, more: false });
  });
});
