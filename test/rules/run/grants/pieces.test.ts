import { describe, expect, it } from "vitest";
import type { CommitPiece, Grant, Piece } from "../../../../durable-objects/run/protocol.ts";
import { viewOf } from "../../../../durable-objects/run/reading/view.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const VITALS = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };
const four = (changes = {}) => RuleRun.open(10, { rollouts_per_example: 4, ...changes });
const UNIT = [summary(), summary(), summary(), summary()];

function keep(run: RuleRun, grant: Grant, pieces: readonly Pick<CommitPiece, "unit" | "rollouts">[], segment = run.newSegment(grant)): string {
  run.call("commit", { ...run.id(grant), segment, units: [], pieces: pieces.map((piece) => ({ ...piece, offset: 0, length: 10 })) });
  return segment;
}
const rolloutsOf = (pieces: readonly Piece[] = []) => pieces.map(({ unit, rollouts }) => [unit, ...rollouts]);
const all = (run: RuleRun) => rolloutsOf(run.ledger.piecesIn({ lo: 0, hi: 10 }));

describe("a generated rollout of a unit that is not done", () => {
  it("is kept, and goes to whoever has the unit next", () => {
    const run = four();
    const first = run.grant("a");
    run.block(first, 1);
    const segment = keep(run, first, [
      { unit: 0, rollouts: [0, 3] },
      { unit: 1, rollouts: [2] },
    ]);
    run.leave(first);
    const { pieces } = run.block(run.grant("b"), 1);
    expect(pieces?.[0]).toEqual({ unit: 0, segment, offset: 0, length: 10, rollouts: [0, 3] });
    expect(rolloutsOf(pieces)).toEqual([
      [0, 0, 3],
      [1, 2],
    ]);
  });

  it("counts for nothing before its unit is done, makes no event, and is forgotten then", () => {
    const run = four();
    const grant = run.grant("a");
    run.block(grant, 1);
    const before = run.head;
    keep(run, grant, [{ unit: 0, rollouts: [0, 3] }]);
    expect(run.head).toEqual(before);
    expect(run.ledger.keptRollouts()).toBe(2);
    expect(run.commit(grant, [0], UNIT)).toEqual(["accepted"]);
    expect([run.head.totals.rollouts, run.ledger.keptRollouts()]).toEqual([4, 0]);
  });

  it("is shown beside what is done, and apart from what whoever holds its unit says has finished", () => {
    const run = four();
    const [first, second] = [run.grant("a"), run.grant("b")];
    const [one, two] = [run.block(first, 1), run.block(second, 1)];
    keep(run, first, [{ unit: one.lo, rollouts: [0, 3] }]);
    keep(run, second, [{ unit: two.lo, rollouts: [1] }]);
    const shown = () => {
      const { kept, totals } = viewOf(run.ledger, run.head, VITALS, run.context);
      return [kept, totals.rollouts];
    };
    expect(shown()).toEqual([{ rollouts: 3, waiting: 0 }, 0]);
    run.leave(first);
    expect(shown()).toEqual([{ rollouts: 3, waiting: 2 }, 0]);
  });

  it("stays as it was kept first, also when the commit is repeated", () => {
    const run = four();
    const first = run.grant("a");
    run.block(first, 1);
    const segment = keep(run, first, [{ unit: 0, rollouts: [0, 3] }]);
    keep(run, first, [{ unit: 0, rollouts: [0, 3] }], segment);
    keep(run, first, [{ unit: 0, rollouts: [1, 3] }]);
    keep(run, first, [{ unit: 0, rollouts: [0, 1] }]);
    expect(all(run)).toEqual([
      [0, 0, 3],
      [0, 1],
    ]);
  });

  it("is not kept under a grant that has ended, of a unit that another holds, nor of one that is done", () => {
    const run = four();
    const [a, b] = [run.grant("a"), run.grant("b")];
    const held = run.block(a, 1, { free: 2 });
    run.block(b, 1, { free: 2 });
    run.commit(a, [held.lo], UNIT);
    keep(run, a, [
      { unit: held.lo, rollouts: [0] },
      { unit: held.hi, rollouts: [0] },
    ]);
    expect(all(run)).toEqual([]);
    run.leave(a);
    keep(run, a, [{ unit: held.lo + 1, rollouts: [0] }]);
    expect(all(run)).toEqual([]);
  });

  it("survives a lapse, a cancel and a resume of the run", () => {
    const run = four();
    run.block(run.grant("a"), 1);
    const dead = run.grant("b");
    const block = run.block(dead, 1);
    keep(run, dead, [{ unit: block.lo, rollouts: [1] }]);
    run.now += run.timing.lease + run.timing.grace;
    const next = run.grant("c");
    run.block(next, 1);
    run.call("cancel", null);
    keep(run, next, [{ unit: 0, rollouts: [2] }]);
    run.leave(next);
    keep(run, next, [{ unit: 0, rollouts: [0] }]);
    run.settle();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 40 } });
    expect(run.ledger.events.map(({ message }) => message)).toContainEqual("Run resumed (generation 2); 40 rollouts owed, 2 of them generated already");
    expect(rolloutsOf(run.block(run.grant("d"), 1).pieces)).toEqual([[0, 2]]);
    expect(all(run)).toEqual([
      [0, 2],
      [block.lo, 1],
    ]);
  });

  it("survives a deadline: what was open is given up, and what it had generated is taken until nobody has anything open", () => {
    const run = four({ timeout_minutes: 1 });
    const grant = run.grant("a");
    run.block(grant, 1);
    for (let second = 1; second < 60; second++) {
      run.now += 1_000;
      expect(run.beat(grant)).toBe("continue");
    }
    run.now += 1_000;
    expect(run.beat(grant)).toBe("abort");
    keep(run, grant, [{ unit: 0, rollouts: [1] }]);
    run.leave(grant);
    expect([run.head.status, all(run)]).toEqual(["TIMEOUT", [[0, 1]]]);
  });

  it("makes that a run has begun: its data is not read anew", () => {
    const run = four();
    const grant = run.grant("a");
    run.block(grant, 1);
    keep(run, grant, [{ unit: 0, rollouts: [1] }]);
    run.call("interrupt", null);
    run.leave(grant);
    expect(run.resume({ expect: { env_args: { other: 1 } } })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
    expect(run.resume()).toMatchObject({ ok: true });
    expect([run.head.n, all(run)]).toEqual([10, [[0, 1]]]);
  });

  it("of a unit that is repaired counts beside the rows that stay, and not for a repair after that", () => {
    const run = RuleRun.open(1, { rollouts_per_example: 2 });
    run.work(() => [summary(), summary({ error: "provider_error" })]);
    run.settle();
    run.resume();
    const first = run.grant("a");
    run.block(first, 1);
    keep(run, first, [{ unit: 0, rollouts: [1] }]);
    run.leave(first);
    const second = run.grant("b");
    expect(run.block(second, 1)).toMatchObject({ redo: [{ keep: [0] }], pieces: [{ unit: 0, rollouts: [1] }] });
    run.commit(second, [0], [summary(), summary({ error: "provider_error" })]);
    run.leave(second);
    run.settle();
    run.resume();
    expect(run.block(run.grant("c"), 1).pieces).toBeUndefined();
  });

  it("is named in a block that fits its row, however many places there are", () => {
    const run = RuleRun.open(3_000, { rollouts_per_example: 4, max_concurrent: 0 });
    const first = run.grant("a", 4_000);
    run.block(first, 1, { free: 3_000 });
    keep(
      run,
      first,
      Array.from({ length: 3_000 }, (_, unit) => ({ unit, rollouts: [0] })),
    );
    run.leave(first);
    const second = run.grant("b", 4_000);
    const blocks = [1, 2].map((seq) => run.block(second, seq, { free: 3_000 }));
    expect(blocks.map(({ lo, hi, pieces }) => [lo, hi, pieces?.length])).toEqual([
      [0, 2_000, 2_000],
      [2_000, 3_000, 1_000],
    ]);
  });
});
