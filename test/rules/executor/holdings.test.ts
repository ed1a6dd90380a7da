import { describe, expect, it } from "vitest";
import type { ClaimAnswer, Grant } from "../../../durable-objects/run/protocol.ts";
import { Gate } from "../../../src/clients/gate.ts";
import { Holdings } from "../../../src/executor/session/holdings.ts";
import { UnitTimes } from "../../../src/executor/session/unit-times.ts";
import { Session } from "../../../src/executor/session/session.ts";
import type { Effect, SessionEvent } from "../../../src/executor/session/session-events.ts";
import { RuleRun } from "../../support/run/rule-run.ts";

describe("what an executor holds of a grant", () => {
  const holdings = new Holdings({ lanes: 4, requests: 8, generation: 6, scoring: 4 });

  it("is told to the Run as less is under way, not when it is decided", () => {
    expect([holdings.narrow(4), holdings.allowed]).toEqual([true, { lanes: 2, requests: 4, generation: 4, scoring: 2 }]);
    expect([holdings.told(3), holdings.requests]).toEqual([{}, 8]);
    holdings.reach(6);
    expect([holdings.told(3), holdings.requests]).toEqual([{ holds: { lanes: 3, requests: 6, generation: 6, scoring: 2 } }, 6]);
    holdings.reach(4);
    // Of the lanes, those that are still open.
    expect([holdings.told(3), holdings.told(1)]).toEqual([
      { holds: { lanes: 3, requests: 4, generation: 4, scoring: 2 } },
      { holds: { lanes: 2, requests: 4, generation: 4, scoring: 2 } },
    ]);
  });

  it("never grows, and keeps one of everything while it has a request", () => {
    expect([holdings.narrow(7), holdings.narrow(1), holdings.allowed]).toEqual([false, true, { lanes: 1, requests: 1, generation: 1, scoring: 1 }]);
    holdings.reach(4);
    expect(holdings.requests).toBe(4);
    holdings.reach(0);
    expect(holdings.requests).toBe(1);
  });
});

describe("an allowance", () => {
  const steered = (): Holdings => new Holdings({ lanes: 8, requests: 8, scoring: 8 });

  it("of more counts at once, and is told of with everything", () => {
    const holdings = steered();
    expect(holdings.steer({ size: 1, lanes: 32, requests: 32, scoring: 32 }, 100)).toBe(true);
    expect([holdings.allowed.requests, holdings.told(8)]).toEqual([32, { holds: { lanes: 32, requests: 32, scoring: 32, size: 1 } }]);
  });

  it("of more than the executor can carry is given back as far as it is not under way", () => {
    const holdings = steered();
    holdings.steer({ size: 1, lanes: 32, requests: 32, scoring: 32 }, 12);
    expect([holdings.allowed.requests, holdings.requests]).toEqual([12, 32]);
    holdings.reach(8, 0);
    expect(holdings.told(8)).toEqual({ holds: { lanes: 12, requests: 12, scoring: 12, size: 1 } });
  });

  it("of less lets no more begin, and is told of as less is under way", () => {
    const holdings = steered();
    holdings.steer({ size: 1, lanes: 2, requests: 2, scoring: 2 }, 100);
    expect([holdings.allowed.requests, holdings.told(8).holds?.requests]).toEqual([2, 8]);
    // Nobody asked for it, so nobody can leave it: what was allowed is less.
    expect(holdings.keep()).toBe(false);
    holdings.reach(5, 3);
    expect(holdings.told(4)).toEqual({ holds: { lanes: 4, requests: 5, scoring: 3, size: 1 } });
  });

  it("of nothing leaves judges their part", () => {
    const holdings = steered();
    holdings.steer({ size: 1, lanes: 0, requests: 0, scoring: 8 }, 100);
    expect([holdings.isHeld, holdings.allowed]).toEqual([true, { lanes: 0, requests: 0, scoring: 8 }]);
  });

  it("that is older than the newest is nothing", () => {
    const holdings = steered();
    holdings.steer({ size: 2, lanes: 2, requests: 2, scoring: 2 }, 100);
    expect([holdings.steer({ size: 1, lanes: 64, requests: 64, scoring: 64 }, 100), holdings.allowed.requests]).toEqual([false, 2]);
  });
});

describe("what is not given back yet", () => {
  it("is kept when nobody needs it any more, and nothing that was told of", () => {
    const kept = new Holdings({ lanes: 4, requests: 4 });
    kept.narrow(2);
    kept.reach(3);
    expect([kept.keep(), kept.allowed.requests, kept.requests, kept.isFalling]).toEqual([true, 3, 3, false]);
    expect([kept.keep(), kept.narrow(3), kept.allowed.requests]).toEqual([false, false, 3]);
  });
});

describe("a gate that became smaller", () => {
  it("says how many permits are out as they come back, until no more are than it has", async () => {
    const gate = new Gate(3);
    for (let permit = 0; permit < 3; permit++) await gate.enter();
    gate.resize(1);
    const told: number[] = [];
    gate.watchFall((inFlight) => told.push(inFlight));
    for (let permit = 0; permit < 3; permit++) gate.leave();
    expect(told).toEqual([3, 2, 1]);
  });
});

describe("a session", () => {
  const begin = (run: RuleRun, free = 4): { session: Session; grant: Grant; claimed: (effects: Effect[], answer: ClaimAnswer) => Effect[] } => {
    const grant = run.grant("a", free);
    const session = new Session(grant, { margin: 1_000, idle: 250 }, 0);
    const claimed = (effects: Effect[], answer: ClaimAnswer): Effect[] => {
      const claim = effects.find((effect) => effect.type === "claim");
      return session.step({ type: "claimed", seq: claim?.type === "claim" ? claim.seq : 0, sentAt: 1, answer }, 1);
    };
    return { session, grant, claimed };
  };
  const started = (effects: readonly Effect[]): number => effects.filter(({ type }) => type === "start").length;

  it("that drains keeps what it has where its units are over soon, so that no part of it becomes a grant of its own", () => {
    const narrowedAfter = (unitMs: number): boolean => {
      const run = RuleRun.open(40);
      const grant = run.grant("a", 4);
      const times = new UnitTimes();
      times.took(unitMs);
      const session = new Session(grant, { margin: 1_000, idle: 250, wall: { endsAt: 870_000, deadline: null }, times }, 0);
      session.step({ type: "tick" }, 0);
      session.step({ type: "claimed", seq: 1, sentAt: 0, answer: run.claim(grant, 1) }, 1);
      session.step({ type: "stop", how: "drain" }, 2);
      return session.step({ type: "unit-dropped", unit: 0 }, 3).some(({ type }) => type === "narrow");
    };
    expect([30_000, 150_000, 150_001].map(narrowedAfter)).toEqual([false, false, true]);
  });

  it("that makes room begins nothing above what it keeps, and drops nothing", () => {
    const run = RuleRun.open(40);
    const { session, grant, claimed } = begin(run);
    const first = claimed(session.step({ type: "tick" }, 0), run.block(grant, 1, { free: 4, soon: 4 }));
    expect(started(first)).toBe(4);
    const narrowed = session.step({ type: "narrow", requests: 2 }, 2);
    expect(narrowed).toContainEqual({ type: "narrow", holding: { lanes: 2, requests: 2, scoring: 2 } });
    expect(narrowed.some(({ type }) => type === "abort")).toBe(false);
    const [one, two, three] = [0, 1, 2].map((unit) => started(session.step({ type: "unit-finished", unit, full: false }, 3)));
    expect([one, two, three]).toEqual([0, 0, 1]);
    session.step({ type: "narrowed", requests: 2 }, 4);
    expect(session.givesBack).toEqual({ holds: { lanes: 2, requests: 2, scoring: 2 } });
  });

  it("that was given few units ahead asks for more once half of them are begun", () => {
    const run = RuleRun.open(100);
    const grant = run.grant("a", 4);
    const times = new UnitTimes();
    times.took(1_000);
    // Two units a lane ahead are ten: it would ask again as long as it has fewer than five.
    const session = new Session(grant, { margin: 1_000, idle: 250, wall: { endsAt: 870_000, deadline: null }, times }, 0);
    const ahead = (event: SessionEvent): (number | undefined)[] => session.step(event, 2).flatMap((effect) => (effect.type === "claim" ? [effect.free] : []));
    session.step({ type: "tick" }, 0);
    session.step({ type: "claimed", seq: 1, sentAt: 0, answer: run.block(grant, 1, { free: 8 }) }, 1);
    const asked = [0, 1, 2, 3].map((unit) => ahead({ type: "unit-finished", unit, full: false }));
    expect(asked).toEqual([[], [], [0], []]);
  });

  it("that has nothing more to begin gives back what its last units do not need", () => {
    const run = RuleRun.open(4);
    const { session, grant, claimed } = begin(run);
    claimed(session.step({ type: "tick" }, 0), run.block(grant, 1));
    const claim = session.step({ type: "unit-finished", unit: 0, full: false }, 2);
    const effects = claimed(claim, { kind: "empty", pending: 0 });
    expect(effects).toContainEqual({ type: "narrow", holding: { lanes: 3, requests: 3, scoring: 3 } });
  });
});

describe("a session of which nothing may begin any more", () => {
  const NOTHING = { lanes: 0, requests: 0, scoring: 4, size: 1 };
  const held = (open?: { keeps(): boolean; isScoring(): boolean }) => {
    const run = RuleRun.open(40);
    const grant = run.grant("a", 4);
    const session = new Session(grant, { margin: 1_000, idle: 250, ...(open === undefined ? {} : { open }) }, 0);
    const claim = session.step({ type: "tick" }, 0).find(({ type }) => type === "claim");
    session.step({ type: "claimed", seq: claim?.type === "claim" ? claim.seq : 0, sentAt: 0, answer: run.block(grant, 1, { free: 4, soon: 4 }) }, 1);
    const effects = session.step({ type: "beaten", sentAt: 2, answer: { kind: "continue", allows: NOTHING } }, 2);
    return { session, effects };
  };

  it("begins none of the units that it has, and waits a moment before others go on with what is open", () => {
    const { session, effects } = held();
    expect(effects).toContainEqual({ type: "narrow", holding: { lanes: 0, requests: 0, scoring: 4 } });
    expect(session.step({ type: "unit-finished", unit: 0, full: false }, 3).filter(({ type }) => type === "start" || type === "claim")).toEqual([]);
    expect(session.step({ type: "narrowed", requests: 2 }, 4).some(({ type }) => type === "abort")).toBe(false);
    session.step({ type: "narrowed", requests: 0 }, 5);
    const soon = session.step({ type: "tick" }, 2_004);
    expect([soon.some(({ type }) => type === "abort"), session.nextTick(2_004)]).toEqual([false, 2_005]);
    expect(session.step({ type: "tick" }, 2_005)).toContainEqual({ type: "abort", closes: false });
  });

  it("goes on where it was if it is allowed again within that moment", () => {
    const { session } = held();
    session.step({ type: "narrowed", requests: 0 }, 5);
    const effects = session.step({ type: "beaten", sentAt: 6, answer: { kind: "continue", allows: { lanes: 4, requests: 4, scoring: 4, size: 2 } } }, 7);
    expect(effects).toContainEqual({ type: "narrow", holding: { lanes: 4, requests: 4, scoring: 4 } });
    expect(session.step({ type: "tick" }, 3_000).some(({ type }) => type === "abort")).toBe(false);
  });

  it("waits for what is being scored", () => {
    const { session } = held({ keeps: () => true, isScoring: () => true });
    session.step({ type: "narrowed", requests: 0 }, 5);
    expect(session.step({ type: "tick" }, 8_000).some(({ type }) => type === "abort")).toBe(false);
  });

  it("plays on what others cannot go on with", () => {
    const { session, effects } = held({ keeps: () => false, isScoring: () => false });
    expect(effects).toContainEqual({ type: "narrow", holding: { lanes: 4, requests: 4, scoring: 4 } });
    expect(session.step({ type: "tick" }, 5_000).some(({ type }) => type === "abort" || type === "start")).toBe(false);
    expect(session.givesBack.holds).toMatchObject({ requests: 4, size: 1 });
  });
});

describe("a Run that is given something back", () => {
  it("grants it to others, and to nobody before", () => {
    const run = RuleRun.open(40, { max_concurrent: 4 });
    const grant = run.grant("a", 4);
    expect(run.join("b").kind).toBe("none");
    const holds = { lanes: 1, requests: 1, scoring: 1 };
    const vitals = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };
    run.call("beat", { ...run.id(grant), started: [], vitals, holds });
    expect(run.head.offer.want).toBe(3);
    expect(run.grant("b", 4)).toMatchObject({ requests: 3, lanes: 3 });
    // A call that was sent before, and comes late.
    run.call("beat", { ...run.id(grant), started: [], vitals, holds: { lanes: 3, requests: 3, scoring: 3 } });
    expect(run.ledger.tickets().map(({ requests }) => requests)).toEqual([1, 3]);
  });

  it("hears of it with claims and commits too", () => {
    const run = RuleRun.open(40, { max_concurrent: 8 });
    const [one, two] = [run.grant("a", 4), run.grant("b", 4)];
    run.call("claim", { ...run.id(one), seq: 1, free: 1, soon: 0, open: 0, started: [], holds: { lanes: 2, requests: 2, scoring: 2 } });
    run.call("commit", { ...run.id(two), segment: "s", units: [], holds: { lanes: 1, requests: 1, scoring: 1 } });
    expect(run.ledger.tickets().map(({ requests }) => requests)).toEqual([2, 1]);
    expect(run.head.offer.want).toBe(5);
  });

  it("says in its offer when nobody works for it", () => {
    const run = RuleRun.open(10, { max_concurrent: 8 });
    expect(run.head.offer).toMatchObject({ want: 8, idle: true });
    const grant = run.grant("a", 4);
    expect(run.head.offer.idle).toBeUndefined();
    run.leave(grant);
    expect(run.head.offer).toMatchObject({ want: 8, idle: true });
  });
});
