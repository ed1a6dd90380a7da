import { describe, expect, it } from "vitest";
import { playLive } from "../../statistics/live.ts";

describe("the live number of a run whose wrong answers take longer", () => {
  it("holds what the run ends with nearly as often as it says; the mean of whatever is done does not", () => {
    const { prefix, naive } = playLive({ examples: 500, lanes: 32, slower: 10, at: 0.5 }, 200, 1);
    expect(prefix.covered).toBeGreaterThan(0.93);
    expect(Math.abs(prefix.bias)).toBeLessThan(0.02);
    expect(naive.covered).toBeLessThan(0.8);
    expect(naive.bias).toBeGreaterThan(0.03);
  });
});
