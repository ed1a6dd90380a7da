import { describe, expect, it } from "vitest";
import type { BudgetAnswer, BudgetLimits } from "../../../durable-objects/budget/budget-control.ts";
import { Ledger, type StoredLedger } from "../../../durable-objects/budget/ledger.ts";
import { Spender, waiting } from "../../support/budget/spender.ts";

const NOON = Date.UTC(2026, 10, 23, 12);
const LEASE_MS = 10_500;
const HOUR_MS = 3_600_000;

const ledgerOf = (limits: BudgetLimits, now = NOON): Ledger => {
  const ledger = new Ledger(null, now);
  ledger.set(limits, 0, now);
  return ledger;
};
function okOf(answer: BudgetAnswer): Extract<BudgetAnswer, { kind: "ok" }> {
  if (answer.kind !== "ok") throw new Error(answer.message);
  return answer;
}
const allots = (answer: BudgetAnswer): number => okOf(answer).allots;

describe("what an executor is allotted", () => {
  it("is what waits and a wave more where there is plenty, and never more than is left", () => {
    const ledger = ledgerOf({ total: 1_000 });
    expect(allots(ledger.exchange(new Spender("a").says(waiting(2, 50)), NOON))).toBe(200);
    expect(ledger.view(NOON)).toMatchObject({ allotted: 200, spent: { total: { settled: 0 } } });
    expect(allots(ledger.exchange(new Spender("b").says(waiting(100, 50)), NOON))).toBe(800);
    expect(allots(ledger.exchange(new Spender("c").says(waiting(1, 50)), NOON))).toBe(0);
  });

  it("is divided by what each waits for where there is not enough, and never into parts of which none is enough", () => {
    const ledger = ledgerOf({ total: 100 });
    const [a, b, c] = ["a", "b", "c"].map((name) => new Spender(name)) as [Spender, Spender, Spender];
    expect(allots(ledger.exchange(a.says(waiting(1, 60)), NOON))).toBe(100 - 20);
    expect(allots(ledger.exchange(b.says(waiting(1, 60)), NOON))).toBe(0);
    // The 20 above what it waits for, and then was free, are to go back, since another one waits.
    expect(allots(ledger.exchange(a.says({ reserved: 60, in_flight: 1, free: 20 }), NOON))).toBe(-20);
    expect(allots(ledger.exchange(b.again(waiting(1, 60)), NOON))).toBe(0);
    expect(allots(ledger.exchange(a.says({ reserved: 60, in_flight: 1 }), NOON))).toBe(0);
    expect(allots(ledger.exchange(c.says(waiting(1, 40)), NOON))).toBe(40);
    // The first comes to less than its bound.
    expect(allots(ledger.exchange(a.says({ settled: 1 }), NOON))).toBe(0);
    expect(allots(ledger.exchange(b.says(waiting(1, 59)), NOON))).toBe(59);
  });

  it("is nothing, and over, once what is settled and unseen leaves less than the least call, whatever others hold", () => {
    const ledger = ledgerOf({ total: 100 });
    const [a, b] = [new Spender("a"), new Spender("b")];
    ledger.exchange(a.says(waiting(1, 50)), NOON);
    ledger.exchange(a.says({ settled: 30, unseen: { calls: 1, amount: 40 } }), NOON);
    expect(okOf(ledger.exchange(b.says(waiting(1, 30)), NOON))).toMatchObject({ allots: 30, over: null });
    expect(okOf(ledger.exchange(a.says(waiting(1, 30)), NOON))).toMatchObject({ allots: 0, over: null });
    expect(okOf(ledger.exchange(a.says(waiting(1, 31)), NOON)).over).toEqual({ span: "total", limit: 100, settled: 30, unseen: { calls: 1, amount: 40 } });
  });
});

describe("messages", () => {
  it("that come twice count once, and say again what was allotted", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const a = new Spender("a");
    const first = waiting(1, 100);
    expect(allots(ledger.exchange(a.says(first), NOON))).toBe(200);
    expect(allots(ledger.exchange(a.again(first), NOON))).toBe(200);
    const spent = { settled: 40, free: 160 };
    ledger.exchange(a.says(spent), NOON);
    ledger.exchange(a.again(spent), NOON);
    expect(ledger.view(NOON)).toMatchObject({ spent: { total: { settled: 40 } } });
  });

  it("that come late change nothing", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const a = new Spender("a");
    const late = a.says(waiting(1, 100));
    ledger.exchange(late, NOON);
    ledger.exchange(a.says({ settled: 200 }), NOON);
    const before = ledger.view(NOON);
    expect(allots(ledger.exchange(late, NOON))).toBe(0);
    expect(ledger.view(NOON)).toEqual(before);
  });

  it("of numbers that are not whole are refused", () => {
    expect(ledgerOf({ total: 5 }).exchange(new Spender("a").says({ settled: 0.5 }), NOON)).toMatchObject({ kind: "refused" });
  });

  it("are refused where nobody set a limit, and after it was taken away", () => {
    const ledger = new Ledger(null, NOON);
    expect(ledger.exchange(new Spender("a").says(), NOON)).toEqual({ kind: "refused", message: expect.stringContaining("no limit") });
    ledger.set({ total: 5 }, 0, NOON);
    expect(ledger.exchange(new Spender("a").says(), NOON).kind).toBe("ok");
    ledger.set(null, 0, NOON);
    expect(ledger.exchange(new Spender("a").says(), NOON).kind).toBe("refused");
    expect(ledger.view(NOON)).toBeNull();
  });
});

describe("an executor that is not heard of", () => {
  const lost = () => {
    const ledger = ledgerOf({ total: 1_000, day: 1_000 });
    const a = new Spender("a");
    ledger.exchange(a.says(waiting(2, 100)), NOON);
    ledger.exchange(a.says({ settled: 50, reserved: 200, in_flight: 2, free: 150 }), NOON);
    return { ledger, a };
  };

  it("has spent all that it was given, by calls whose end nobody saw, once its lease is over", () => {
    const { ledger } = lost();
    expect(ledger.view(NOON + LEASE_MS - 1)).toMatchObject({ allotted: 400, spent: { total: { unseen: { calls: 0, amount: 0 } } } });
    expect(ledger.view(NOON + LEASE_MS)).toMatchObject({ allotted: 0, spent: { total: { settled: 50, unseen: { calls: 2, amount: 400 } } } });
  });

  it("has so at once when a later life of the process is heard of", () => {
    const { ledger } = lost();
    ledger.exchange(new Spender("b", { runtime: "later" }).says(), NOON);
    expect(ledger.view(NOON)).toMatchObject({ allotted: 0, spent: { total: { unseen: { calls: 2, amount: 400 } } } });
  });

  it("replaces that by what it really spent when it comes back, on the next day too", () => {
    for (const later of [LEASE_MS, 60_000, HOUR_MS]) {
      const now = Date.UTC(2026, 10, 23, 23, 59, 59);
      const ledger = ledgerOf({ total: 1_000, day: 1_000 }, now);
      const a = new Spender("a");
      ledger.exchange(a.says(waiting(2, 100)), now);
      ledger.view(now + LEASE_MS);
      ledger.view(now + later);
      ledger.exchange(a.says({ settled: 7, unseen: { calls: 1, amount: 100 } }), now + later);
      const { total, day } = ledger.view(now + later)?.spent ?? {};
      expect([total, day]).toEqual(Array(2).fill({ settled: 7, unseen: { calls: 1, amount: 100 } }));
    }
  });

  it("is not believed after hours: it counts as it was taken for", () => {
    const { ledger, a } = lost();
    ledger.view(NOON + LEASE_MS);
    expect(ledger.exchange(a.says({ settled: 400 }), NOON + LEASE_MS + 2 * HOUR_MS)).toMatchObject({ kind: "refused" });
    expect(ledger.view(NOON + LEASE_MS + 2 * HOUR_MS)).toMatchObject({ spent: { total: { settled: 50, unseen: { amount: 400 } } } });
  });
});

describe("days and months", () => {
  it("begin with nothing spent but what is in the hands of executors, and do not come back", () => {
    const evening = Date.UTC(2026, 10, 30, 23, 59);
    const ledger = ledgerOf({ day: 100, month: 150 }, evening);
    const a = new Spender("a");
    expect(allots(ledger.exchange(a.says(waiting(1, 100)), evening))).toBe(100);
    const midnight = evening + 60_000;
    ledger.exchange(a.says({ reserved: 100, in_flight: 1 }), midnight - 1);
    // What is under way may be billed on either day.
    expect(allots(ledger.exchange(new Spender("b").says(waiting(1, 100)), midnight))).toBe(0);
    ledger.exchange(a.says({ settled: 90 }), midnight + 1_000);
    expect(ledger.view(midnight + 1_000)?.spent).toMatchObject({ day: { settled: 90 }, month: { settled: 90 }, total: { settled: 90 } });
    expect(ledger.view(evening)?.spent).toMatchObject({ day: { settled: 90 } });
    expect(ledger.view(midnight + 24 * HOUR_MS)?.spent).toMatchObject({ day: { settled: 0 }, month: { settled: 90 }, total: { settled: 90 } });
  });

  it("are all kept to: the strictest decides, and is named", () => {
    const ledger = ledgerOf({ total: 1_000, day: 100, month: 50 });
    const a = new Spender("a");
    expect(allots(ledger.exchange(a.says(waiting(1, 50)), NOON))).toBe(50);
    expect(okOf(ledger.exchange(a.says({ settled: 50, ...waiting(1, 1) }), NOON)).over).toMatchObject({ span: "month", limit: 50 });
  });
});

describe("limits", () => {
  it("that are lowered below what is gone leave nothing, and ask for what is free", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const a = new Spender("a");
    ledger.exchange(a.says(waiting(1, 100)), NOON);
    ledger.set({ total: 50 }, 0, NOON);
    expect(allots(ledger.exchange(a.says({ reserved: 100, in_flight: 1, free: 100 }), NOON))).toBe(-100);
    expect(okOf(ledger.exchange(a.says({ settled: 60, ...waiting(1, 10) }), NOON)).over).toMatchObject({ limit: 50, settled: 60 });
    ledger.set({ total: 100 }, 0, NOON);
    expect(okOf(ledger.exchange(a.says(waiting(1, 10)), NOON))).toMatchObject({ allots: 20, over: null });
  });

  it("count what was spent before there was a Budget, once", () => {
    const ledger = new Ledger(null, NOON);
    ledger.set({ total: 100 }, 40, NOON);
    ledger.set({ total: 200 }, 40, NOON);
    expect(ledger.view(NOON)?.spent.total.settled).toBe(40);
    ledger.set({ total: 200 }, 70, NOON);
    expect(ledger.view(NOON)?.spent).toMatchObject({ total: { settled: 70 }, day: { settled: 40 } });
  });

  it("counts once what rows cost of which an executor has not told yet, or never tells", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const a = new Spender("a");
    const had = allots(ledger.exchange(a.says(waiting(1, 100)), NOON));
    // Its calls came to 60, which are in rows; it speaks of them after the resume.
    ledger.set({ total: 1_000 }, 60, NOON);
    expect(ledger.view(NOON)).toMatchObject({ allotted: had, spent: { total: { settled: 0 } } });
    ledger.exchange(a.says({ settled: 60, free: had - 60 }), NOON);
    expect(ledger.view(NOON)).toMatchObject({ spent: { total: { settled: 60 } } });
    ledger.view(NOON + LEASE_MS);
    ledger.set({ total: 1_000 }, 90, NOON + LEASE_MS);
    expect(ledger.view(NOON + LEASE_MS)).toMatchObject({ spent: { total: { settled: 60, unseen: { amount: had - 60 } } } });
  });
});

describe("a Budget that begins anew", () => {
  it("knows all that it had told, at every step", () => {
    const kept: { stored: StoredLedger } = { stored: { limits: null, windows: [], parties: [], jobs: [] } };
    const keep = (ledger: Ledger): void => {
      const changes = ledger.takeChanges();
      if (changes === null) return;
      const parties = new Map(kept.stored.parties.map((party) => [party.executor, party]));
      for (const each of changes.gone) parties.delete(each);
      for (const each of changes.put) parties.set(each.executor, each);
      kept.stored = { limits: changes.limits, windows: changes.windows ?? kept.stored.windows, parties: [...parties.values()], jobs: [] };
    };
    let ledger = new Ledger(null, NOON);
    ledger.set({ total: 1_000 }, 0, NOON);
    keep(ledger);
    const a = new Spender("a");
    let free = 0;
    for (let settled = 0; settled < 900; settled += 90) {
      ledger = new Ledger(structuredClone(kept.stored), NOON);
      const request = a.says({ settled: settled === 0 ? 0 : 90, free: settled === 0 ? 0 : free - 90, ...waiting(1, 100) });
      const told = allots(ledger.exchange(request, NOON));
      keep(ledger);
      ledger = new Ledger(structuredClone(kept.stored), NOON);
      expect(allots(ledger.exchange(request, NOON))).toBe(told);
      free = request.free + told;
      expect(ledger.view(NOON)).toMatchObject({ allotted: free, spent: { total: { settled } } });
      expect(settled + free).toBeLessThanOrEqual(1_000);
    }
  });
});
