import { describe, expect, it } from "vitest";
import { Balance } from "../../../../src/executor/limiting/balance.ts";

const cost = (input_tokens: number, output_tokens: number) => ({ input_tokens, output_tokens });

describe("what a holder may use of a rate", () => {
  it("comes in evenly over the time of its share, and no further", () => {
    const balance = new Balance();
    balance.add({ adds: { requests: 10 }, most: {} }, 1_000, 0);
    expect(balance.readyAt(0)).toBeGreaterThan(0);
    expect(balance.readyAt(1)).toBe(1);
    const begun = (until: number): number => {
      let count = 0;
      for (let now = 0; now <= until; now++)
        if (balance.readyAt(now) === now) {
          balance.take(cost(0, 0));
          count++;
        }
      return count;
    };
    // It may overdraw: ten come in, and the first one begins before a whole one has.
    expect(begun(5_000)).toBe(10);
    expect(balance.readyAt(5_000)).toBeNull();
  });

  it("says when the next request may begin, and is right", () => {
    const balance = new Balance();
    balance.add({ adds: { requests: 10 }, most: {} }, 1_000, 0);
    balance.readyAt(1);
    balance.take(cost(0, 0));
    const at = balance.readyAt(1) ?? 0;
    expect(at).toBeGreaterThan(99);
    expect(at).toBeLessThan(102);
    expect(balance.readyAt(at)).toBe(at);
  });

  it("is no burst after a time without requests", () => {
    const balance = new Balance();
    balance.add({ adds: { requests: 100 }, most: { requests: 3 } }, 1_000, 0);
    expect(balance.readyAt(1_000)).toBe(1_000);
    expect(balance.report(1_000)).toEqual({ requests: 3 });
  });

  it("is taken back where a later share says that others have it", () => {
    const balance = new Balance();
    balance.add({ adds: { requests: 10 }, most: { requests: 10 } }, 1_000, 0);
    // Six are there, four come.
    balance.add({ adds: { requests: 0 }, most: { requests: 8 } }, 1_000, 600);
    expect(balance.report(600)).toEqual({ requests: 8 });
    balance.add({ adds: { requests: 0 }, most: { requests: 2 } }, 1_000, 600);
    expect(balance.report(600)).toEqual({ requests: 2 });
  });

  it("keeps what comes back of a request, also beyond what it may save up, until the Limiter has heard of it", () => {
    const balance = new Balance();
    balance.add({ adds: { tokens: 100 }, most: { tokens: 100 } }, 1, 0);
    balance.readyAt(1);
    balance.take(cost(0, 100));
    expect(balance.report(1)).toEqual({ tokens: 0 });
    balance.correct(cost(0, 100), cost(0, 20));
    // The answer to what it had said: the Limiter does not know of these 80.
    balance.add({ adds: { tokens: 0 }, most: { tokens: 0 } }, 1, 2);
    expect(balance.report(2)).toEqual({ tokens: 80 });
    balance.add({ adds: { tokens: 0 }, most: { tokens: 30 } }, 1, 3);
    expect(balance.report(3)).toEqual({ tokens: 30 });
  });

  it("counts tokens by their kinds, and is put right when the answer says what was used", () => {
    const balance = new Balance();
    balance.add({ adds: { requests: 2, tokens: 100, input_tokens: 50, output_tokens: 50 }, most: {} }, 100, 0);
    balance.readyAt(100);
    balance.take(cost(10, 30));
    expect(balance.report(100)).toEqual({ requests: 1, tokens: 60, input_tokens: 40, output_tokens: 20 });
    balance.correct(cost(10, 30), cost(12, 5));
    expect(balance.report(100)).toEqual({ requests: 1, tokens: 83, input_tokens: 38, output_tokens: 45 });
    balance.take(cost(10, 30));
    balance.correct(cost(10, 30), null);
    expect(balance.report(100)).toEqual({ requests: 1, tokens: 83, input_tokens: 38, output_tokens: 45 });
  });

  it("does not come back of a refused request before the Limiter has heard of it, or a whole line would follow it into the refusals", () => {
    const balance = new Balance();
    balance.add({ adds: { tokens: 100 }, most: { tokens: 100 } }, 1, 0);
    balance.readyAt(1);
    balance.take(cost(20, 80));
    balance.refused(cost(20, 80));
    expect(balance.readyAt(1)).toBeNull();
    expect(balance.report(1)).toEqual({ tokens: 0 });
    expect(balance.readyAt(2)).toBeNull();
    // Another one after the report stays out until the next.
    balance.take(cost(0, 10));
    balance.refused(cost(0, 10));
    balance.add({ adds: { tokens: 0 }, most: { tokens: 0 } }, 1, 3);
    expect(balance.report(3)).toEqual({ tokens: 90 });
    balance.add({ adds: { tokens: 0 }, most: { tokens: 100 } }, 1, 4);
    expect(balance.report(4)).toEqual({ tokens: 100 });
  });

  it("waits for the kind that comes last, and for none that a later share leaves out", () => {
    const balance = new Balance();
    balance.add({ adds: { requests: 10, tokens: 0 }, most: {} }, 1_000, 0);
    expect(balance.readyAt(500)).toBeNull();
    balance.add({ adds: { requests: 10 }, most: {} }, 1_000, 500);
    expect(balance.readyAt(500)).toBe(500);
    // What had not come in yet was not lost: five there, five to come, and ten more.
    expect(balance.report(500)).toEqual({ requests: 20 });
  });
});
