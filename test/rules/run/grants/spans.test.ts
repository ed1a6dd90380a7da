import { describe, expect, it } from "vitest";
import type { Block, Grant, Piece } from "../../../../durable-objects/run/protocol.ts";
import { viewOf } from "../../../../durable-objects/run/reading/view.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const R = 64;
const UNIT = Array.from({ length: R }, () => summary());
const VITALS = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };

/** Executors of five requests each, and as many as `executors` for the whole run. */
const divided = (units: number, executors: number, changes = {}) => RuleRun.open(units, { rollouts_per_example: R, max_concurrent: 5 * executors, ...changes });
const named = (run: RuleRun, names: string): Grant[] => [...names].map((name) => run.grant(name, 5));
const span = (run: RuleRun, grant: Grant, seq: number, changes = {}): Block => run.block(grant, seq, { free: 1, spans: true, ...changes });
const range = (lo: number, hi: number) => Array.from({ length: hi - lo }, (_, at) => lo + at);
const told = ({ lo, span: own }: Block) => [lo, own?.lo, own?.hi];
const rolloutsOf = (pieces: readonly Piece[] = []) => pieces.flatMap(({ rollouts }) => rollouts).sort((a, b) => a - b);
const spansOf = (run: RuleRun) => [...run.ledger.spans.byUnit()].map(([unit, spans]) => [unit, ...spans.map(({ lo, hi, ticket }) => [lo, hi, ticket])]);

describe("a unit of many rollouts, where executors are left over", () => {
  it("is divided: each has rollouts of its own, nobody scores it meanwhile, and with the last span it is whole again for whoever scores it", () => {
    const run = divided(2, 4);
    const grants = named(run, "abcd");
    const blocks = grants.map((grant) => span(run, grant, 1));
    expect(blocks.map(told)).toEqual([
      [0, 0, 16],
      [0, 16, 32],
      [0, 32, 48],
      [0, 48, 64],
    ]);
    expect([run.head.pending, run.ledger.claimsIn({ lo: 0, hi: 1 })]).toMatchObject([1, [{ ticket: 1 }]]);
    const [first] = grants;
    if (first === undefined) throw new Error("no grant");
    expect(run.commit(first, [0], UNIT)).toEqual(["stale"]);
    for (const [at, grant] of grants.entries()) {
      expect(run.head.pending).toBe(1);
      run.keep(grant, [{ unit: 0, rollouts: range(16 * at, 16 * (at + 1)) }]);
    }
    expect([run.head.pending, spansOf(run), run.ledger.claimsIn({ lo: 0, hi: 1 }), run.head.totals.rollouts]).toEqual([2, [], [], 0]);
    const whole = span(run, first, 2);
    expect([told(whole), whole.hi, rolloutsOf(whole.pieces)]).toEqual([[0, undefined, undefined], 1, range(0, R)]);
    expect(run.commit(first, [0], UNIT)).toEqual(["accepted"]);
    expect([run.head.totals.rollouts, run.ledger.keptRollouts()]).toEqual([R, 0]);
  });

  it("goes out whole while there are units enough, where rollouts are few, where one executor has requests for half of them, and to executors of before", () => {
    const enough = divided(8, 4);
    expect(told(span(enough, enough.grant("a", 5), 1))).toEqual([0, undefined, undefined]);
    const few = divided(1, 4, { rollouts_per_example: 15 });
    expect(told(span(few, few.grant("a", 5), 1))).toEqual([0, undefined, undefined]);
    const wide = divided(1, 40);
    expect(told(span(wide, wide.grant("a", 40), 1))).toEqual([0, undefined, undefined]);
    const alone = divided(1, 1);
    expect(told(span(alone, alone.grant("a", 5), 1))).toEqual([0, undefined, undefined]);
    const before = divided(1, 4);
    expect(told(before.block(before.grant("a", 5), 1))).toEqual([0, undefined, undefined]);
    for (const run of [enough, few, wide, alone, before]) expect(run.ledger.spanRows.size).toBe(0);
  });

  it("is wanted by as many executors as its rollouts keep busy, not by as many as it has lanes", () => {
    const run = divided(1, 20);
    const [first] = named(run, "a");
    if (first === undefined) throw new Error("no grant");
    expect(run.head.offer.want).toBe(64);
    span(run, first, 1);
    expect(run.head).toMatchObject({ pending: 0, offer: { want: 56 } });
    const others = named(run, "bcdefgh").map((grant) => told(span(run, grant, 1)));
    expect(others.map(([, lo]) => lo)).toEqual([8, 16, 24, 32, 40, 48, 56]);
    expect([run.head.offer.want, run.join("i", { free: 5 }).kind]).toEqual([0, "none"]);
  });

  it("goes on where a grant ended: what that kept stays, another has the rest of its span, and what comes late of it is not taken", () => {
    const run = divided(1, 4);
    const [a, b, c] = named(run, "abc");
    if (a === undefined || b === undefined || c === undefined) throw new Error("no grant");
    for (const grant of [a, b]) span(run, grant, 1);
    run.keep(a, [{ unit: 0, rollouts: [0, 2, 9] }]);
    run.now += 6_000;
    for (const grant of [b, c]) run.beat(grant);
    run.now += 6_000;
    for (const grant of [b, c]) run.beat(grant);
    // The claim was that of the one who fell silent.
    expect(run.ledger.claimsIn({ lo: 0, hi: 1 })).toMatchObject([{ ticket: b.ticket, epoch: b.epoch }]);
    const next = span(run, c, 1);
    expect([told(next), rolloutsOf(next.pieces)]).toEqual([[0, 1, 8], [2]]);
    run.keep(a, [{ unit: 0, rollouts: [1, 3] }]);
    run.keep(c, [{ unit: 0, rollouts: [1, 3, 8] }]);
    expect(rolloutsOf(run.ledger.piecesIn({ lo: 0, hi: 1 }))).toEqual([0, 1, 2, 3]);
  });

  it("is pending again with all that is kept when the last of those who have some of it leaves", () => {
    const run = divided(1, 4);
    const [a, b] = named(run, "ab");
    if (a === undefined || b === undefined) throw new Error("no grant");
    for (const grant of [a, b]) span(run, grant, 1);
    run.keep(b, [{ unit: 0, rollouts: [8, 9] }]);
    run.leave(a);
    expect([run.head.pending, spansOf(run)]).toEqual([0, [[0, [8, 16, 2]]]]);
    run.leave(b);
    expect([run.head.pending, spansOf(run), rolloutsOf(run.ledger.piecesIn({ lo: 0, hi: 1 }))]).toEqual([1, [], [8, 9]]);
  });

  it("gives one executor one span at a time, and says that there is more", () => {
    const run = divided(1, 4);
    const [a] = named(run, "a");
    if (a === undefined) throw new Error("no grant");
    expect(told(span(run, a, 1))).toEqual([0, 0, 8]);
    expect(run.claim(a, 2, { free: 1, spans: true })).toMatchObject({ kind: "empty", pending: 0, divided: true });
    run.keep(a, [{ unit: 0, rollouts: range(0, 8) }]);
    expect(told(span(run, a, 3))).toEqual([0, 8, 16]);
  });

  it("is not divided any more once an executor says that rollouts of its environment cannot be kept", () => {
    const run = divided(1, 4);
    const [a, b] = named(run, "ab");
    if (a === undefined || b === undefined) throw new Error("no grant");
    for (const grant of [a, b]) span(run, grant, 1);
    run.leave(a, { undivided: true });
    expect([run.head.pending, run.head.offer.want]).toEqual([0, 0]);
    run.leave(b);
    expect(told(span(run, run.grant("c", 5), 1))).toEqual([0, undefined, undefined]);
  });

  it("is not divided where the environment plays its examples in one piece", () => {
    const run = RuleRun.open(1, { rollouts_per_example: R, max_concurrent: 20 }, { whole: true });
    const [a, b] = named(run, "ab");
    if (a === undefined || b === undefined) throw new Error("no grant");
    expect(told(span(run, a, 1))).toEqual([0, undefined, undefined]);
    expect(run.claim(b, 1, { free: 1, spans: true })).toMatchObject({ kind: "empty" });
    expect(run.head.offer.want).toBe(0);
  });

  it("is blamed for a silence by those only who had some of it, and is run alone and whole once it may kill", () => {
    const run = divided(1, 4);
    for (const _ of [1, 2]) {
      const [dead, other] = named(run, "ab");
      if (dead === undefined || other === undefined) throw new Error("no grant");
      span(run, dead, 1);
      run.beat(dead, [0]);
      run.beat(other, [0]);
      run.now += run.timing.lease + run.timing.grace;
      run.beat(other);
    }
    expect(run.ledger.suspect(0)).toMatchObject({ lapses: 2, waiting: true });
    expect(span(run, run.grant("c", 5), 1, { open: 0 })).toMatchObject({ alone: true, lo: 0 });
    expect(spansOf(run)).toEqual([]);
  });

  it("shows what is kept of spans that are over as waiting, whoever has the rest", () => {
    const run = divided(1, 4);
    const [a, b] = named(run, "ab");
    if (a === undefined || b === undefined) throw new Error("no grant");
    for (const grant of [a, b]) span(run, grant, 1);
    run.keep(a, [{ unit: 0, rollouts: range(0, 8) }]);
    run.keep(b, [{ unit: 0, rollouts: [8] }]);
    expect(viewOf(run.ledger, run.head, VITALS, run.context).kept).toEqual({ rollouts: 9, waiting: 8 });
  });
});
