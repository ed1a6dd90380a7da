import { describe, expect, it } from "vitest";
import { Savings } from "../../../../durable-objects/limiter/ceilings/savings.ts";

describe("what may be saved up of a limit", () => {
  it("is what came in and was not taken, and a minute's worth at most", () => {
    const savings = new Savings(0, 0);
    savings.pass(600, 100, 60_000);
    expect(savings.isEmpty(600)).toBe(false);
    savings.pass(600, 600, 120_000);
    savings.pass(600, 900, 180_000);
    savings.pass(600, 780, 240_000);
    expect(savings.isEmpty(600)).toBe(true);
    savings.pass(600, 0, 1_240_000);
    savings.pass(600, 1_180, 1_300_000);
    expect(savings.isEmpty(600)).toBe(true);
    expect(savings.isOverdrawn(600)).toBe(false);
  });

  it("is overdrawn when more was taken than there can have been, whatever some per cent of counting come to", () => {
    const savings = new Savings(600, 0);
    savings.pass(600, 1_220, 60_000);
    expect(savings.isOverdrawn(600)).toBe(false);
    savings.pass(600, 620, 120_000);
    expect(savings.isOverdrawn(600)).toBe(true);
  });

  it("is nothing after a refusal, and no more than the endpoint says is left", () => {
    const savings = new Savings(600, 0);
    savings.told(300);
    savings.pass(600, 900, 60_000);
    expect(savings.isEmpty(600)).toBe(true);
    savings.pass(600, 0, 120_000);
    savings.end(150_000);
    savings.pass(600, 300, 180_000);
    expect(savings.isEmpty(600)).toBe(true);
    expect(savings.isOverdrawn(600)).toBe(false);
  });
});
