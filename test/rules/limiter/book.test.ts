import { describe, expect, it } from "vitest";
import { Book } from "../../../durable-objects/limiter/book.ts";
import type { Amounts } from "../../../src/endpoint-limits/limit-kinds.ts";
import { Caller } from "../../support/limiting/caller.ts";

const PUBLIC = { base_url: "https://api.example.com/v1", api_key_var: "K", model_class: "m" };
const LEASE_MS = 10_500;
const REFUSAL = { kind: "rate_limited", ago_ms: 50, named: null, named_limit: null, retry_after_ms: 8_000, told: null, in_flight: 0 } as const;

function bookOf(given: Amounts | null = null): Book {
  const book = new Book({ stored: null, life: "b r", now: 0 });
  book.give(null, given);
  return book;
}

describe("an exchange", () => {
  it("of an endpoint that nothing limits says so, and when to come again: later the less there is to do, and the more come", () => {
    const book = bookOf();
    const a = new Caller("a");
    expect(book.exchange(a.says(), 0)).toMatchObject({ mode: "open", shares: [], again_ms: 2_000, pause_ms: null, down: null, bound: null });
    expect(book.exchange(a.says([{ waiting: 0 }]), 10).again_ms).toBe(10_000);
    for (let n = 0; n < 500; n++) book.exchange(new Caller(`x${n}`).says(), 20);
    expect(book.exchange(a.says(), 30).again_ms).toBeGreaterThan(9_000);
    expect(book.unwritten(30)).toBeNull();
  });

  it("of an executor that comes new is followed by another one soon, though it has nothing to send yet: it is about to", () => {
    const book = bookOf();
    const a = new Caller("a");
    expect(book.exchange(a.says([{ waiting: 0 }]), 0).again_ms).toBe(2_000);
    expect(book.exchange(a.says([{ waiting: 0 }]), 2_000).again_ms).toBe(10_000);
  });

  it("leaves to be seen what keeps a run waiting: requests in flight only where it has all that it may have", () => {
    const book = bookOf({ concurrent: 3, requests: 60 });
    const a = new Caller("a");
    book.exchange(a.says(), 0);
    book.exchange(a.says([{ in_flight: 1, allowed: 3, waiting: 5 }]), 1_000);
    expect(book.view(null, 1_000)?.bound).toEqual({ kind: "requests", limit: 60, source: "given" });
    book.exchange(a.says([{ in_flight: 3, allowed: 3, waiting: 5 }]), 2_000);
    expect(book.view(null, 2_000)?.bound).toEqual({ kind: "concurrent", limit: 3, source: "given" });
  });

  it("says each holder what it may have, in their order, and why not more", () => {
    const book = bookOf({ concurrent: 3, requests: 600 });
    const answer = book.exchange(new Caller("a").says([{ id: "1" }, { id: "2", run: "0000ffff" }]), 0);
    expect(answer.mode).toBe("limited");
    expect(answer.shares.map(({ id, concurrent }) => [id, concurrent])).toEqual([
      ["1", 2],
      ["2", 1],
    ]);
    expect(answer.shares[0]?.adds.requests).toBe(1);
    const full = book.exchange(new Caller("b").says(), 10);
    expect([full.shares[0]?.concurrent, full.bound]).toEqual([0, { kind: "concurrent", limit: 3, source: "given" }]);
  });

  it("that comes again gives no more than the first one: either answer may have arrived", () => {
    const book = bookOf({ concurrent: 4 });
    const [a, b] = [new Caller("a"), new Caller("b")];
    expect(book.exchange(a.says(), 0).shares[0]?.concurrent).toBe(4);
    expect(book.exchange(b.says(), 10).shares[0]?.concurrent).toBe(0);
    // The answer was lost, and by now the other one wants its half.
    expect(book.exchange(a.says([{}], {}, 1), 20).shares[0]?.concurrent).toBe(2);
    expect(book.exchange(b.says(), 30).shares[0]?.concurrent).toBe(0);
    expect(book.exchange(a.says([{ in_flight: 2, allowed: 2 }]), 40).shares[0]?.concurrent).toBe(2);
    expect(book.exchange(b.says(), 50).shares[0]?.concurrent).toBe(0);
    expect(book.exchange(a.says([{ in_flight: 2, allowed: 2 }]), 60).shares[0]?.concurrent).toBe(2);
    expect(book.exchange(b.says(), 70).shares[0]?.concurrent).toBe(2);
  });

  it("that is late changes nothing", () => {
    const book = bookOf({ concurrent: 4 });
    const [a, b] = [new Caller("a"), new Caller("b")];
    const old = a.says([{}], { sent: 5, accepted: 5 });
    book.exchange(a.says(), 0);
    book.exchange(a.says([{ in_flight: 4, allowed: 4 }]), 10);
    expect(book.exchange(old, 20)).toMatchObject({ shares: [] });
    expect(book.view(null, 30)).toMatchObject({ in_flight: 4, minute: { sent: 0 } });
    expect(book.exchange(b.says(), 40).shares[0]?.concurrent).toBe(0);
  });

  it("that says that an executor leaves gives back what it had, and a late word of it takes nothing", () => {
    const book = bookOf({ concurrent: 4 });
    const [a, b] = [new Caller("a"), new Caller("b")];
    const old = a.says();
    book.exchange(a.says(), 0);
    book.exchange(a.says([]), 10);
    book.exchange(old, 20);
    expect(book.exchange(b.says(), 30).shares[0]?.concurrent).toBe(4);
  });

  it("of an executor that was silent for a lease finds nothing left of what it had", () => {
    const book = bookOf({ concurrent: 4 });
    const [a, b] = [new Caller("a"), new Caller("b")];
    book.exchange(a.says(), 0);
    expect(book.exchange(b.says(), LEASE_MS - 1).shares[0]?.concurrent).toBe(0);
    expect(book.exchange(b.says(), LEASE_MS).shares[0]?.concurrent).toBe(4);
    expect(book.exchange(a.says([{ in_flight: 3 }]), LEASE_MS + 10).shares[0]?.concurrent).toBe(0);
  });

  it("that names other caps counts under those from then on", () => {
    const book = bookOf();
    const a = new Caller("a");
    const cap = (concurrent: number) => [{ caps: [{ id: `command/${concurrent}`, limits: { concurrent } }] }];
    expect(book.exchange(a.says(cap(3)), 0).shares[0]?.concurrent).toBe(3);
    expect(book.exchange(a.says(cap(5)), 10).shares[0]?.concurrent).toBe(5);
    expect(book.exchange(a.says(), 20).mode).toBe("open");
  });
});

describe("what a holder owes", () => {
  it("is taken from all that share the limit, and it waits until it is paid", () => {
    const book = bookOf({ tokens: 60_000 });
    const [a, b] = [new Caller("a"), new Caller("b")];
    const mean_cost = { input_tokens: 500, output_tokens: 500 };
    book.exchange(a.says([{ mean_cost }]), 0);
    expect(book.exchange(a.says([{ mean_cost, balance: { tokens: -10_000 } }]), 250).shares[0]?.adds.tokens).toBe(10_000);
    let granted = 0;
    for (let now = 500; now < 8_000; now += 250) granted += book.exchange(b.says([{ run: "0000ffff", mean_cost }]), now).shares[0]?.adds.tokens ?? 0;
    expect(granted).toBeLessThanOrEqual(1_000);
    let later = 0;
    for (let now = 8_000; now < 38_000; now += 250) later += book.exchange(b.says([{ run: "0000ffff", mean_cost }]), now).shares[0]?.adds.tokens ?? 0;
    expect(later).toBeGreaterThan(20_000);
  });
});

describe("an endpoint that asks to be left alone", () => {
  const refused = { sent: 1, rate_limited: 1, refusals: [REFUSAL] };

  it("is left alone by everybody who calls it, for as long as it asked", () => {
    const book = bookOf();
    const [a, b] = [new Caller("a"), new Caller("b")];
    book.exchange(b.says(), 0);
    const told = book.exchange(a.says([{}], refused), 100);
    expect(told.pause_ms).toBeGreaterThan(7_000);
    expect(told.bound).toMatchObject({ kind: "pause" });
    const other = book.exchange(b.says(), 1_000);
    expect(other.pause_ms).toBeGreaterThan(6_000);
    expect(other.again_ms).toBeLessThanOrEqual(2_000);
    expect(book.view(null, 1_000)).toMatchObject({ bound: { kind: "pause" }, minute: { sent: 1, refused: 1 } });
    expect(book.view(null, 1_000)?.paused_until).toBeGreaterThan(8_000);
  });

  it("is not sent at once afterwards what came in meanwhile", () => {
    const book = bookOf();
    const told = { requests: { limit: 6_000, remaining: 6_000, reset_ms: 0 } };
    const callers = Array.from({ length: 10 }, (_, at) => new Caller(`x${at}`, PUBLIC));
    const balances = callers.map(() => 0);
    const round = (now: number, use: boolean, seen: Parameters<Caller["says"]>[1]): number => {
      let may = 0;
      for (const [at, caller] of callers.entries()) {
        const balance = { requests: use ? 0 : (balances[at] ?? 0) };
        const [share] = book.exchange(caller.says([{ balance, sent: use ? (balances[at] ?? 0) : 0 }], at === 0 ? seen : {}), now).shares;
        balances[at] = Math.min(share?.most.requests ?? 0, (balance.requests ?? 0) + (share?.adds.requests ?? 0));
        may += balances[at] ?? 0;
      }
      return may;
    };
    round(0, true, { sent: 1, told });
    for (let now = 250; now < 5_000; now += 250) expect(round(now, true, {})).toBeGreaterThan(5);
    round(5_000, false, { ...refused, sent: 3, rate_limited: 3, refusals: [REFUSAL, REFUSAL, REFUSAL] });
    for (let now = 5_250; now < 12_800; now += 250) expect(round(now, false, {})).toBe(0);
    expect(round(13_000, false, {})).toBeLessThan(10);
  });
});

describe("an endpoint that refuses everything", () => {
  it("is asked by one request at a time, of one executor", () => {
    const book = bookOf();
    const callers = ["a", "b", "c"].map((name) => new Caller(name));
    const sent = callers.map(() => 0);
    let most = 0;
    let looked = 0;
    for (let now = 0; now < 60_000; now += 200) {
      const sends = callers.map((caller, at) => {
        const count = sent[at] ?? 0;
        const refusals = Array.from({ length: count }, () => ({ ...REFUSAL, retry_after_ms: null }));
        const { shares, pause_ms, mode } = book.exchange(caller.says([{}], { sent: count, rate_limited: count, refusals }), now);
        sent[at] = pause_ms !== null ? 0 : mode === "open" ? 5 : (shares[0]?.concurrent ?? 5);
        return sent[at];
      });
      if (now < 10_000) continue;
      const together = sends.reduce((sum, each) => sum + each, 0);
      most = Math.max(most, together);
      looked += together;
    }
    expect(most).toBe(1);
    expect(looked).toBeGreaterThanOrEqual(3);
    expect(looked).toBeLessThan(30);
  });
});

describe("an endpoint that is down", () => {
  it("is so for everybody, and one is told to ask", () => {
    const book = bookOf();
    const callers = ["a", "b", "c"].map((name) => new Caller(name));
    for (const caller of callers) book.exchange(caller.says([{}], { sent: 1, missed: 1 }), 1_000);
    const answers = callers.map((caller) => book.exchange(caller.says(), 2_000));
    expect(answers.map(({ down }) => down?.ask)).toEqual([true, false, false]);
    expect(answers[0]).toMatchObject({ down: { since_ms: 2_000 }, bound: { kind: "down" } });
    expect(answers[1]?.again_ms).toBeLessThanOrEqual(1_000);
    expect(book.exchange(callers[0]?.says([{}], { sent: 1, accepted: 1 }) as never, 2_100).down).toBeNull();
  });
});

describe("what is kept", () => {
  it("is written before the first answer that limits, once a minute from then on, and read by the next life", () => {
    const book = bookOf({ concurrent: 2 });
    const a = new Caller("a");
    let writes = 0;
    let stored = null;
    for (let now = 0; now < 300_000; now += 250) {
      book.exchange(a.says(), now);
      const unwritten = book.unwritten(now);
      if (now === 0) expect(unwritten).not.toBeNull();
      if (unwritten !== null) writes++;
      stored = unwritten ?? stored;
      expect(stored?.shares_until).toBeGreaterThanOrEqual(now + LEASE_MS);
    }
    expect(writes).toBeLessThanOrEqual(6);
    expect(new Book({ stored, life: "b r", now: 300_000 }).view(null, 300_000)).toMatchObject({
      mode: "open",
      limits: [{ kind: "concurrent", limit: 2, source: "given" }],
    });
  });

  it("is what the endpoint said, without a refusal", () => {
    const book = bookOf();
    const a = new Caller("a", PUBLIC);
    book.exchange(a.says(), 0);
    expect(book.unwritten(0)).toBeNull();
    const told = { requests: { limit: 500, remaining: 499, reset_ms: 120 } };
    const answer = book.exchange(a.says([{}], { sent: 5, accepted: 5, told }), 2_000);
    expect([answer.mode, book.unwritten(2_000)?.knowledge?.limits.requests]).toEqual(["limited", { limit: 500, source: "told" }]);
    book.forget(3_000);
    expect(book.unwritten(3_000)?.knowledge?.limits).toEqual({});
    expect(book.view(null, 3_000)?.limits).toEqual([]);
  });

  it("is all that was found when the last executor leaves, however soon that is", () => {
    const book = bookOf({ concurrent: 2 });
    const a = new Caller("a");
    book.exchange(a.says(), 0);
    expect(book.unwritten(0)?.knowledge?.limits).toEqual({});
    book.exchange(a.says([{}], { sent: 1, accepted: 1, told: { requests: { limit: 500, remaining: 499, reset_ms: 120 } } }), 500);
    expect(book.unwritten(500)).toBeNull();
    book.exchange(a.says([]), 900);
    expect(book.unwritten(900)?.knowledge?.limits).toEqual({ requests: { limit: 500, source: "told" } });
  });

  it("is nobody's to see where nobody called", () => expect(bookOf().view(null, 0)).toBeNull());
});

describe("who uses it", () => {
  it("is told by run, model and judges apart, over all executors; of other teams all are one", () => {
    const book = bookOf();
    const own = { run: "acme/0000abcd", team: "acme", in_flight: 2, waiting: 1, accepted: 3 };
    for (const name of ["a", "b"])
      book.exchange(
        new Caller(name).says(
          [
            { ...own, id: "1" },
            { ...own, id: "2", kind: "judges", priority: 2 },
            { id: "3", in_flight: 4, accepted: 1 },
            { id: "4", run: "0000ffff", in_flight: 1 },
          ],
          { sent: 9, accepted: 8 },
        ),
        1_000,
      );
    const all = book.view(null, 2_000);
    expect(all).toMatchObject({ mode: "open", in_flight: 18, waiting: 44, minute: { sent: 18, accepted: 16 } });
    expect(all?.users.find(({ kind }) => kind === "judges")).toEqual({
      run: "acme/0000abcd",
      team: "acme",
      kind: "judges",
      priority: 2,
      in_flight: 4,
      waiting: 2,
      accepted: 6,
    });
    expect(all?.users.map(({ run }) => run).sort()).toEqual(["0000abcd", "0000ffff", "acme/0000abcd", "acme/0000abcd"]);
    const acme = book.view("acme", 2_000);
    expect(acme?.users.find(({ run }) => run === "")).toEqual({ run: "", team: "", kind: "model", priority: 1, in_flight: 10, waiting: 40, accepted: 2 });
    expect(acme?.users).toHaveLength(3);
  });
});
