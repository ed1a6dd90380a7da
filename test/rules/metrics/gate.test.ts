import { describe, expect, it } from "vitest";
import type { ComparedRun } from "../../../src/metrics/comparison/compare-runs.ts";
import { matchedPairsInterval } from "../../../src/metrics/comparison/matched-pairs.ts";
import { ScoreTableBuilder } from "../../../src/metrics/comparison/score-table.ts";
import { type GateReport, type GateWish, gateRun } from "../../../src/metrics/gate/gate.ts";
import { commonVerdict, verdictOf } from "../../../src/metrics/gate/verdict.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import { wilsonInterval } from "../../../src/metrics/wilson.ts";
import { GATE_ALPHA, playGate } from "../../statistics/gate.ts";

/** A run whose example i has these rewards; null: it ended in an error. */
function runOf(name: string, rewards: readonly (readonly (number | null)[])[], metadata: object = {}): ComparedRun {
  const builder = new ScoreTableBuilder({ trusted: true });
  let number = 0;
  for (const [example_id, own] of rewards.entries())
    for (const reward of own)
      builder.add({ example_id, prompt: `${example_id}`, answer: "", reward: reward ?? 0, error: reward === null ? "x" : null, metrics: {} }, ++number);
  return { name, model: "m", metadata, range: [0, 1], table: builder.table() };
}
const passing = (name: string, examples: number, passes: (i: number) => boolean) =>
  runOf(
    name,
    Array.from({ length: examples }, (_, i) => [passes(i) ? 1 : 0]),
  );
const WISH: GateWish = { maxDrop: 0.02, min: null, metric: "reward", alpha: 0.05, unpaired: false, accepted: false };
function gated(candidate: ComparedRun, baseline: ComparedRun | null, wish: Partial<GateWish> = {}): GateReport {
  const outcome = gateRun(candidate, baseline, { ...WISH, ...wish });
  if (outcome.kind === "refused") throw new Error("refused");
  return outcome.report;
}

describe("a verdict", () => {
  it("is where the interval is: on one side of the bound, on the other, or on both", () => {
    expect([verdictOf([-0.01, 0.03], -0.02), verdictOf([-0.05, -0.03], -0.02), verdictOf([-0.03, 0], -0.02), verdictOf(null, 0)]).toEqual([
      "pass",
      "fail",
      "undecided",
      "undecided",
    ]);
    expect([commonVerdict(["pass", "fail", "undecided"]), commonVerdict(["pass", "undecided"]), commonVerdict(["pass", "pass"])]).toEqual([
      "fail",
      "undecided",
      "pass",
    ]);
  });
});

describe("the interval of matched pairs", () => {
  it.each([
    [3, 9, 32],
    [1, 0, 44],
    [79, 306, 1319],
    [6, 6, 54],
  ])("ends where the score test would begin to refuse: %i and %i of %i", (lost, gained, n) => {
    // The test, with the likelihood's maximum under the difference found by search instead of by formula.
    const statistic = (difference: number): number => {
      const likelihood = (share: number): number =>
        (gained && gained * Math.log(share + difference)) + (lost && lost * Math.log(share)) + (n - lost - gained) * Math.log(1 - 2 * share - difference);
      let [from, to] = [Math.max(0, -difference), (1 - difference) / 2];
      for (let step = 0; step < 200; step++) {
        const [one, two] = [from + (to - from) / 3, to - (to - from) / 3];
        if (likelihood(one) < likelihood(two)) from = one;
        else to = two;
      }
      return (gained - lost - n * difference) / Math.sqrt(n * (2 * from + difference - difference ** 2));
    };
    const [low, high] = matchedPairsInterval({ only_baseline: lost, only_candidate: gained }, n, 0.05);
    expect(statistic(low)).toBeCloseTo(1.959964, 4);
    expect(statistic(high)).toBeCloseTo(-1.959964, 4);
  });

  it("is Wilson's where no pair differs, never of zero width, and within what a difference can be", () => {
    for (const n of [2, 20, 500]) {
      const [low, high] = matchedPairsInterval({ only_baseline: 0, only_candidate: 0 }, n, 0.05);
      expect(high).toBeCloseTo(wilsonInterval(0, n)[1], 10);
      expect(low).toBeCloseTo(-high, 12);
      const [from, to] = matchedPairsInterval({ only_baseline: n, only_candidate: 0 }, n, 0.05);
      expect([from, to > -1]).toEqual([-1, true]);
    }
  });
});

describe("a gate", () => {
  const good = passing("good", 400, (i) => i % 10 < 7);

  it("passes what is as good, fails what is worse, and leaves open what so few examples do not tell", () => {
    const worse = passing("worse", 400, (i) => i % 10 < 6);
    expect(gated(good, good)).toMatchObject({ verdict: "pass", checks: [{ kind: "max_drop", bound: -0.02, n: 400, value: 0 }] });
    expect(gated(worse, good)).toMatchObject({ verdict: "fail" });
    expect(gated(worse, good, { maxDrop: 0.2 }).verdict).toBe("pass");
    const few = gated(
      passing("few", 100, (i) => i % 10 < 7),
      good,
    );
    expect(few.verdict).toBe("undecided");
    // The score interval of no difference in n pairs is within 0.02 from n = 189 on.
    expect(few.checks[0]?.if_equal).toEqual({ examples: 189, attempts: null });
    expect(
      gated(
        passing("enough", 189, (i) => i % 10 < 7),
        good,
      ).verdict,
    ).toBe("pass");
    expect(
      gated(
        passing("short", 188, (i) => i % 10 < 7),
        good,
      ).verdict,
    ).toBe("undecided");
  });

  it("holds a mean against a number, and all bounds must hold", () => {
    expect(gated(good, null, { maxDrop: null, min: 0.6 })).toMatchObject({ verdict: "pass", baseline: null });
    expect(gated(good, null, { maxDrop: null, min: 0.8 }).verdict).toBe("fail");
    expect(gated(good, null, { maxDrop: null, min: 0.69 }).verdict).toBe("undecided");
    expect(gated(good, good, { min: 0.8 })).toMatchObject({ verdict: "fail", checks: [{ verdict: "pass" }, { verdict: "fail" }] });
  });

  it("warns of a run that stopped early, whose interval of fixed size looks surer than it is", () => {
    const stopped = { edgewise: { status: "COMPLETED", stopped_early: { rule: "halfwidth<0.15" } } };
    const run = runOf(
      "early",
      Array.from({ length: 60 }, (_, i) => [i % 5 === 0 ? 0 : 1]),
      stopped,
    );
    for (const report of [gated(run, null, { maxDrop: null, min: 0.2 }), gated(run, run, { min: 0.2 })])
      expect(report.warnings.filter((text) => /stopped early, by halfwidth<0\.15/.test(text)).length).toBeGreaterThan(0);
    expect(gated(runOf("whole", [[1], [0]]), null, { maxDrop: null, min: 0.2 }).warnings).toEqual([]);
  });

  it("says what deciding would cost, in examples and in attempts", () => {
    const random = seededRandom(3);
    const attempts = () => Array.from({ length: 60 }, () => [0, 0, 0].map(() => (random() < 0.5 ? 1 : 0)));
    const { verdict, checks } = gated(runOf("b", attempts()), runOf("a", attempts()), { maxDrop: 0.05 });
    expect(verdict).toBe("undecided");
    expect(checks[0]?.if_equal?.examples).toBeGreaterThan(60);
    expect(checks[0]?.if_equal?.attempts).toBeGreaterThan(3);
    // On the bound nothing decides.
    expect(gated(good, good, { maxDrop: 0 })).toMatchObject({ verdict: "undecided", checks: [{ as_seen: { examples: null, attempts: null } }] });
  });

  it("decides at another alpha by another interval", () => {
    const worse = passing("worse", 400, (i) => i % 10 < 7 && i % 40 !== 1);
    const width = (alpha: number): number => {
      const [low, high] = gated(worse, good, { alpha }).checks[0]?.interval ?? [0, 0];
      return high - low;
    };
    expect(width(0.01)).toBeGreaterThan(width(0.05) * 1.2);
    expect(width(0.2)).toBeLessThan(width(0.05) * 0.8);
  });

  it("decides nothing where many rollouts have no score, or the run has not ended", () => {
    const broken = runOf(
      "broken",
      Array.from({ length: 400 }, (_, i) => [i % 10 === 9 ? null : 1]),
    );
    expect(gated(broken, null, { maxDrop: null, min: 0.5 })).toMatchObject({
      verdict: "undecided",
      holds: [expect.stringMatching(/^10\.0 % of the rollouts of broken/)],
    });
    const open = runOf("open", [[1], [1]], { edgewise: { status: "RUNNING" } });
    expect(gated(open, null, { maxDrop: null, min: 0 })).toMatchObject({ verdict: "undecided", holds: [expect.stringContaining("has not ended")] });
  });
});

describe("simulated gates", () => {
  it("accuse identical models in at most alpha of plays, and let pass what is on the bound in no more", () => {
    for (const attempts of [1, 4]) {
      expect(playGate({ examples: 100, attempts, p: 0.7, drop: 0, maxDrop: 0 }, 400, 7).verdicts.fail).toBeLessThanOrEqual(GATE_ALPHA);
      expect(playGate({ examples: 200, attempts, p: 0.6, drop: 0.05, maxDrop: 0.05 }, 400, 7).verdicts.pass).toBeLessThanOrEqual(GATE_ALPHA);
    }
  });

  it("decide in four of five plays at the size that is planned", () => {
    expect(playGate({ examples: null, attempts: 4, p: 0.6, drop: 0, maxDrop: 0.1 }, 400, 7).verdicts.pass).toBeGreaterThan(0.75);
    expect(playGate({ examples: null, attempts: 4, p: 0.6, drop: 0.2, maxDrop: 0.1 }, 400, 7).verdicts.fail).toBeGreaterThan(0.75);
  });
});
