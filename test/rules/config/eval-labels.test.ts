import { describe, expect, it } from "vitest";
import { evalLabels } from "../../../src/config/plan/eval-labels.ts";
import type { GivenOptions } from "../../../src/config/options/options.ts";
import { fairShares } from "../../../src/config/shares.ts";

const labels = (...evals: readonly (readonly [string, GivenOptions])[]) => evalLabels(evals.map(([envId, given]) => ({ envId, given })));

describe("evaluations are called", () => {
  it("by their environments where these differ", () => {
    expect(labels(["a", { temperature: 0 }], ["b", { temperature: 1 }])).toEqual(["a", "b"]);
  });

  it("by the settings that vary where these are the same, arguments by their names", () => {
    const args = { split: "test" };
    expect(
      labels(
        ["a", { temperature: 0, env_args: { ...args, difficulty: "easy" }, num_examples: 5 }],
        ["a", { temperature: 0.5, env_args: { ...args, difficulty: "hard" }, num_examples: 5 }],
        ["b", {}],
      ),
    ).toEqual(["a difficulty=easy temperature=0", "a difficulty=hard temperature=0.5", "b"]);
  });

  it("without what one of them leaves open", () => {
    expect(labels(["a", {}], ["a", { model: "m" }])).toEqual(["a", "a model=m"]);
  });

  it("by numbers where nothing varies", () => {
    expect(labels(["a", {}], ["a", {}], ["b", {}])).toEqual(["a #1", "a #2", "b"]);
  });

  it("without the URL of a heartbeat, which may be a secret", () => {
    expect(labels(["a", { heartbeat_url: "https://w.example/one" }], ["a", { heartbeat_url: "https://w.example/two" }])).toEqual(["a #1", "a #2"]);
  });

  it("with long values cut", () => {
    const [first = ""] = labels(["a", { env_args: { text: "x".repeat(200) } }], ["a", { env_args: { text: "y" } }]);
    expect(first).toBe(`a text=${"x".repeat(39)}…`);
  });
});

describe("a common limit", () => {
  it.each([
    [12, [32, 32, 32], [4, 4, 4]],
    [10, [32, 32, 32], [4, 3, 3]],
    [12, [2, 32, 32], [2, 5, 5]],
    [12, [-1, 2, 0], [5, 2, 5]],
    [100, [8, 8], [8, 8]],
    [2, [32, 32, 32], [1, 1, 0]],
  ])("of %i among %j", (total, limits, shares) => {
    expect(fairShares(total, limits)).toEqual(shares);
  });

  it("is never exceeded, and not left unused while anybody could use it", () => {
    for (let total = 1; total < 40; total += 3) {
      for (const limits of [[1], [5, 0, 3, 9], [7, 7, 7, 7, 7, 7], [1, 1, 40]]) {
        const shares = fairShares(total, limits);
        const most = limits.reduce((sum, limit) => sum + (limit <= 0 ? total : limit), 0);
        expect(
          shares.reduce((sum, share) => sum + share, 0),
          `${total} among ${limits.join()}`,
        ).toBe(Math.min(total, most));
        expect(shares.every((share, index) => (limits[index] ?? 0) <= 0 || share <= (limits[index] ?? 0))).toBe(true);
      }
    }
  });
});
