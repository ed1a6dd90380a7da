import { describe, expect, it } from "vitest";
import type { BudgetLimits, JobAnswer } from "../../../durable-objects/budget/budget-control.ts";
import { Ledger } from "../../../durable-objects/budget/ledger.ts";
import { JobSpeaker } from "../../support/budget/job-words.ts";
import { Spender, waiting } from "../../support/budget/spender.ts";

const NOON = Date.UTC(2026, 10, 23, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEASE_MS = 10_500;

const ledgerOf = (limits: BudgetLimits, now = NOON): Ledger => {
  const ledger = new Ledger(null, now);
  ledger.set(limits, 0, now);
  return ledger;
};
function okOf(answer: JobAnswer): Extract<JobAnswer, { kind: "ok" }> {
  if (answer.kind !== "ok") throw new Error(answer.message);
  return answer;
}
const totalOf = (ledger: Ledger, now = NOON) => ledger.view(now)?.spent.total;
const heldOf = (ledger: Ledger, now = NOON) => ledger.view(now)?.batches;

describe("money of a job", () => {
  it("is held from when it is written until it is settled, and is nobody else's meanwhile", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const job = new JobSpeaker();
    expect(okOf(ledger.job(job.ask(), NOON))).toEqual({ kind: "ok", held: false, room: 1_000, over: null });
    expect(okOf(ledger.job(job.reserve(900), NOON)).held).toBe(true);
    expect(okOf(ledger.job(job.send(900), NOON)).held).toBe(true);
    expect(ledger.view(NOON)).toMatchObject({ allotted: 0, batches: { jobs: 1, amount: 900 }, spent: { total: { settled: 0, unseen: { amount: 0 } } } });
    const direct = ledger.exchange(new Spender("judges").says(waiting(2, 60)), NOON);
    expect(direct).toMatchObject({ allots: 100, over: null });
    const other = new JobSpeaker("0000abcd/2");
    expect(okOf(ledger.job(other.reserve(100, 50), NOON))).toEqual({ kind: "ok", held: false, room: 0, over: null });
    ledger.job(job.settle(200, { calls: 1, amount: 30 }), NOON);
    expect(ledger.view(NOON)).toMatchObject({ batches: { jobs: 0, amount: 0 }, spent: { total: { settled: 200, unseen: { calls: 1, amount: 30 } } } });
    expect(okOf(ledger.job(other.reserve(650, 50), NOON))).toMatchObject({ held: true, room: 670 });
  });

  it("is over only where what is gone leaves too little, whatever comes back", () => {
    const ledger = ledgerOf({ total: 1_000 });
    ledger.job(new JobSpeaker("r/1").send(900), NOON);
    expect(okOf(ledger.job(new JobSpeaker("r/2").reserve(200), NOON))).toEqual({ kind: "ok", held: false, room: 100, over: null });
    ledger.job(new JobSpeaker("r/1", 2).settle(850), NOON);
    expect(okOf(ledger.job(new JobSpeaker("r/2").reserve(200), NOON)).over).toMatchObject({ span: "total", limit: 1_000, settled: 850 });
    expect(okOf(ledger.job(new JobSpeaker("r/2").reserve(200, 150), NOON)).over).toBeNull();
  });

  it("is replaced by whoever writes it anew, and given back where nothing fits", () => {
    const ledger = ledgerOf({ total: 100 });
    ledger.job(new JobSpeaker("r/1", 1).reserve(100), NOON);
    const later = new JobSpeaker("r/1", 2);
    expect(okOf(ledger.job(later.ask(), NOON)).room).toBe(100);
    expect(okOf(ledger.job(later.reserve(70), NOON)).held).toBe(true);
    expect(okOf(ledger.job(later.reserve(101), NOON))).toMatchObject({ held: false, room: 100 });
    expect(heldOf(ledger)).toEqual({ jobs: 1, amount: 70 });
  });

  it("is not changed by who had an earlier grant, nor by a word that comes late, and counts its end once", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const [one, two] = [new JobSpeaker("r/1", 1), new JobSpeaker("r/1", 2)];
    const late = one.reserve(10);
    ledger.job(one.reserve(500), NOON);
    expect(okOf(ledger.job(late, NOON)).held).toBe(false);
    ledger.job(two.send(500), NOON);
    expect(okOf(ledger.job(one.reserve(20), NOON)).held).toBe(false);
    expect(heldOf(ledger)).toEqual({ jobs: 1, amount: 500 });
    for (const word of [two.settle(300), new JobSpeaker("r/1", 3).settle(300), one.settle(300)]) ledger.job(word, NOON);
    expect(totalOf(ledger)).toMatchObject({ settled: 300 });
    expect(okOf(ledger.job(two.send(500), NOON)).held).toBe(false);
    expect(heldOf(ledger)).toEqual({ jobs: 0, amount: 0 });
  });

  it("outlives days, other lives of the process and executors that are lost", () => {
    const ledger = ledgerOf({ day: 1_000 });
    ledger.job(new JobSpeaker().send(900), NOON);
    ledger.exchange(new Spender("other", { boot: "later", runtime: "later" }).says(), NOON);
    ledger.view(NOON + LEASE_MS);
    expect(heldOf(ledger, NOON + 2 * DAY_MS)).toEqual({ jobs: 1, amount: 900 });
    const kept = { put: ledger.takeChanges() };
    const stored = { limits: { day: 1_000 }, windows: kept.put?.windows ?? [], parties: [], jobs: kept.put?.jobs?.put ?? [] };
    const anew = new Ledger(structuredClone(stored), NOON + 2 * DAY_MS, { boot: "later", runtime: "later" });
    expect(heldOf(anew, NOON + 2 * DAY_MS)).toEqual({ jobs: 1, amount: 900 });
  });

  it("is held in the day that it is, and counts in the one in which it is settled", () => {
    const ledger = ledgerOf({ day: 1_000, month: 5_000 });
    ledger.job(new JobSpeaker().send(900), NOON);
    const next = NOON + DAY_MS;
    expect(ledger.exchange(new Spender("a").says(waiting(2, 100)), next)).toMatchObject({ allots: 100 });
    ledger.job(new JobSpeaker("0000abcd/1", 2).settle(400), next);
    expect(ledger.view(next)?.spent).toMatchObject({ day: { settled: 400 }, month: { settled: 400 }, total: { settled: 400 } });
    expect(ledger.view(next + DAY_MS)?.spent).toMatchObject({ day: { settled: 0 }, month: { settled: 400 } });
  });

  it("is free again after an hour where nothing was sent, and may be reserved anew", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const job = new JobSpeaker();
    ledger.job(job.reserve(900), NOON);
    expect(heldOf(ledger, NOON + HOUR_MS - 1)).toEqual({ jobs: 1, amount: 900 });
    expect(ledger.view(NOON + HOUR_MS)).toMatchObject({ batches: { jobs: 0, amount: 0 }, spent: { total: { settled: 0, unseen: { calls: 0, amount: 0 } } } });
    expect(okOf(ledger.job(job.send(900), NOON + HOUR_MS)).held).toBe(true);
    // Nothing of it came to be.
    ledger.job(job.reserve(900), NOON + HOUR_MS);
    expect(heldOf(ledger, NOON + 2 * HOUR_MS)).toEqual({ jobs: 0, amount: 0 });
  });

  it("counts as unseen where nobody speaks of it for three days, until it is settled after all; in no later day", () => {
    const ledger = ledgerOf({ total: 1_000, day: 1_000 });
    ledger.job(new JobSpeaker().send(900), NOON);
    const lapse = NOON + 3 * DAY_MS;
    expect(heldOf(ledger, lapse - 1)).toEqual({ jobs: 1, amount: 900 });
    const unseen = { calls: 2, amount: 900 };
    expect(ledger.view(lapse)).toMatchObject({ batches: { jobs: 0, amount: 0 }, spent: { total: { settled: 0, unseen }, day: { settled: 0, unseen } } });
    const later = lapse + DAY_MS;
    expect(ledger.view(later)?.spent).toMatchObject({ total: { unseen }, day: { unseen: { calls: 0, amount: 0 } } });
    // Sent again it is held again, where there is room: 900 of the total are its own.
    expect(okOf(ledger.job(new JobSpeaker("0000abcd/1", 2).send(950), later)).held).toBe(true);
    expect(ledger.view(later)).toMatchObject({ batches: { jobs: 1, amount: 950 }, spent: { total: { unseen: { calls: 0, amount: 0 } } } });
    ledger.view(later + 3 * DAY_MS);
    ledger.job(new JobSpeaker("0000abcd/1", 3).settle(120), later + 4 * DAY_MS);
    const spent = { settled: 120, unseen: { calls: 0, amount: 0 } };
    expect(ledger.view(later + 4 * DAY_MS)?.spent).toMatchObject({ total: spent, day: spent });
  });

  it("that lapsed and does not fit any more stays unseen", () => {
    const ledger = ledgerOf({ total: 1_000 });
    ledger.job(new JobSpeaker().send(600), NOON);
    const lapse = NOON + 3 * DAY_MS;
    ledger.view(lapse);
    ledger.job(new JobSpeaker("0000abcd/2").send(400), lapse);
    expect(okOf(ledger.job(new JobSpeaker("0000abcd/1", 2).send(601), lapse)).held).toBe(false);
    expect(totalOf(ledger, lapse)).toEqual({ settled: 0, unseen: { calls: 2, amount: 600 } });
  });

  it("is given back where nothing of it is at its provider, with what was written before the next one is, and counts as unseen where nobody will know what it cost", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const [one, two, three] = [new JobSpeaker("r/1"), new JobSpeaker("r/2"), new JobSpeaker("r/3")];
    for (const each of [one, two]) ledger.job(each.send(300), NOON);
    ledger.job(one.release(), NOON);
    expect(heldOf(ledger)).toEqual({ jobs: 1, amount: 300 });
    ledger.job(new JobSpeaker("r2/1").reserve(50), NOON);
    ledger.job(three.reserve(300), NOON);
    // That of another run, and what is sent, stay.
    expect(okOf(ledger.job(new JobSpeaker("r/4").ask(), NOON)).room).toBe(650);
    for (const word of [two.lose(), two.lose(), two.release(), two.settle(10), new JobSpeaker("r/9").lose()]) ledger.job(word, NOON);
    expect(ledger.view(NOON)).toMatchObject({ batches: { jobs: 1, amount: 50 }, spent: { total: { settled: 0, unseen: { calls: 2, amount: 300 } } } });
  });

  it("is forgotten a month after its end, and one that nobody reserved counts all the same", () => {
    const ledger = ledgerOf({ total: 1_000 });
    ledger.job(new JobSpeaker().settle(70), NOON);
    ledger.job(new JobSpeaker("0000abcd/1", 2).settle(70), NOON + 30 * DAY_MS);
    expect(totalOf(ledger, NOON + 30 * DAY_MS)).toMatchObject({ settled: 70 });
    expect(ledger.view(NOON + 31 * DAY_MS)).not.toBeNull();
    expect(ledger.takeChanges()?.jobs).toEqual({ put: [], gone: ["0000abcd/1"], isHolding: false });
  });

  it("is over once: a word of before that comes late holds nothing for it, so that it is not settled a second time", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const before = new JobSpeaker("r/1", 2);
    const late = [before.reserve(100), before.send(100)];
    const job = new JobSpeaker("r/1", 9);
    ledger.job(job.send(100), NOON);
    ledger.job(job.settle(60), NOON);
    for (const word of late) expect(okOf(ledger.job(word, NOON)).held).toBe(false);
    // Whoever writes the next one lets go of what is reserved for others of the run.
    ledger.job(new JobSpeaker("r/2", 9).ask(), NOON);
    ledger.job(job.settle(60), NOON);
    expect(ledger.view(NOON)).toMatchObject({ batches: { jobs: 0, amount: 0 }, spent: { total: { settled: 60 } } });
  });

  it("that was given back is held again by no word of before, though by one that is new", () => {
    const ledger = ledgerOf({ total: 1_000 });
    const before = new JobSpeaker("r/1", 2);
    const late = [before.reserve(100), before.send(100)];
    ledger.job(before.send(300), NOON);
    ledger.job(before.release(), NOON);
    for (const word of late) expect(okOf(ledger.job(word, NOON)).held).toBe(false);
    expect(heldOf(ledger)).toEqual({ jobs: 0, amount: 0 });
    ledger.job(before.reserve(200), NOON);
    ledger.job(new JobSpeaker("r/1", 3).ask(), NOON);
    expect(okOf(ledger.job(before.send(100), NOON)).held).toBe(false);
    expect(okOf(ledger.job(new JobSpeaker("r/1", 4).send(100), NOON)).held).toBe(true);
    expect(heldOf(ledger)).toEqual({ jobs: 1, amount: 100 });
  });

  it("is refused where nobody set a limit, and in numbers that are not whole; its end counts nevertheless", () => {
    const ledger = new Ledger(null, NOON);
    expect(ledger.job(new JobSpeaker().reserve(5), NOON)).toEqual({ kind: "refused", message: expect.stringContaining("no limit") });
    expect(ledger.job(new JobSpeaker().settle(5), NOON).kind).toBe("ok");
    ledger.set({ total: 100 }, 0, NOON);
    expect(totalOf(ledger)).toMatchObject({ settled: 5 });
    for (const amount of [0.5, -1, Number.NaN, 2 ** 60]) expect(ledger.job(new JobSpeaker("r/2").reserve(amount), NOON).kind, String(amount)).toBe("refused");
    expect(ledger.job(new JobSpeaker("").reserve(5), NOON).kind).toBe("refused");
  });

  it("has room without end where nothing is limited", () => {
    const ledger = ledgerOf({});
    expect(okOf(ledger.job(new JobSpeaker().ask(), NOON)).room).toBe(Number.MAX_SAFE_INTEGER);
    expect(okOf(ledger.job(new JobSpeaker().send(1e12), NOON)).held).toBe(true);
  });
});
