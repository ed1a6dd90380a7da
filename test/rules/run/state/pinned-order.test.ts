import { describe, expect, it } from "vitest";
import { DATA_ORDER, drawnRanks, PinnedOrder } from "../../../../src/pinned-order.ts";

const positions = (n: number): number[] => Array.from({ length: n }, (_, index) => index);

describe("the order of pinned examples", () => {
  it("is a permutation of each part within itself, and of nothing else", () => {
    const order = new PinnedOrder(3, [
      { lo: 10, hi: 500 },
      { lo: 600, hi: 601 },
      { lo: 601, hi: 9_000 },
    ]);
    const ranks = positions(9_500).map((position) => order.rankOf(position));
    for (const [lo, hi] of [
      [0, 10],
      [10, 500],
      [500, 600],
      [600, 601],
      [601, 9_000],
      [9_000, 9_500],
    ] as const) {
      const within = ranks.slice(lo, hi);
      expect([...within].sort((a, b) => a - b)).toEqual(positions(9_500).slice(lo, hi));
      if (lo === 0 || lo === 500 || lo === 9_000) expect(within).toEqual(positions(9_500).slice(lo, hi));
    }
    expect(ranks.map((rank) => order.positionOf(rank))).toEqual(positions(9_500));
    expect([order.partFrom(0)?.lo, order.partFrom(500)?.lo, order.partFrom(601)?.lo, order.partFrom(9_000)]).toEqual([10, 600, 601, null]);
  });

  it("is the same for the same seed and part, on every machine, and another for another", () => {
    expect([...drawnRanks({ lo: 0, hi: 10 }, 0)]).toEqual([...drawnRanks({ lo: 0, hi: 10 }, 0)]);
    expect([...drawnRanks({ lo: 0, hi: 10 }, 0)]).toMatchInlineSnapshot(`
      [
        3,
        8,
        6,
        4,
        5,
        9,
        7,
        1,
        0,
        2,
      ]
    `);
    expect([...drawnRanks({ lo: 0, hi: 100 }, 1)]).not.toEqual([...drawnRanks({ lo: 0, hi: 100 }, 0)]);
    expect([...drawnRanks({ lo: 100, hi: 200 }, 0)]).not.toEqual([...drawnRanks({ lo: 0, hi: 100 }, 0)]);
  });

  it("puts every example anywhere with the same chance", () => {
    const counts = new Array<number>(64).fill(0);
    const runs = 8_000;
    for (let seed = 0; seed < runs; seed++)
      for (const [position, rank] of drawnRanks({ lo: 0, hi: 8 }, seed).entries()) counts[8 * position + rank] = (counts[8 * position + rank] ?? 0) + 1;
    // Chi-square with 49 degrees of freedom: above 85 with chance 0.001.
    const chi = counts.reduce((sum, count) => sum + (count - runs / 8) ** 2 / (runs / 8), 0);
    expect(chi).toBeLessThan(85);
  });

  it("of a run that has none is the data set's", () => {
    expect([DATA_ORDER.isPermuted, DATA_ORDER.rankOf(5), DATA_ORDER.positionOf(7), DATA_ORDER.partFrom(0)]).toEqual([false, 5, 7, null]);
  });
});
