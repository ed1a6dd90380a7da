import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BettingBounds } from "../../../src/metrics/sequential/betting-bounds.ts";
import { SequentialMcNemar } from "../../../src/metrics/sequential/sequential-mcnemar.ts";
import { formatStopRule, parseStopRule } from "../../../src/config/options/stop-rule.ts";
import { StopWatch } from "../../../src/metrics/sequential/stop-watch.ts";
import { ALPHA, playStopping, STOPPING_CASES } from "../../statistics/stopping.ts";

const scores = fc.array(fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 200 });

describe("rules to stop by", () => {
  it("are read as they are written down", () => {
    for (const text of ["halfwidth<0.02", "mean<0.7", "mean>0.7", "mean>-1", "vs nightly"]) expect(formatStopRule(parseStopRule(text))).toBe(text);
    expect(parseStopRule("  mean < .7 ")).toEqual({ kind: "mean", side: "below", bound: 0.7 });
  });

  it("are refused by name, with what is allowed", () => {
    for (const text of ["", "halfwidth", "halfwidth=0.02", "mean<", "mean<high", "median<0.5", "vs", "vs a b"]) {
      expect(() => parseStopRule(text)).toThrow(/is no rule to stop by: "halfwidth<0.02", "mean<0.7", "mean>0.7" or "vs BASELINE"/);
    }
    expect(() => parseStopRule("halfwidth>0.02")).toThrow(/waited for with </);
    expect(() => parseStopRule("halfwidth<0")).toThrow(/above 0/);
  });

  it.each(STOPPING_CASES.map((each) => [`${formatStopRule(each.rule)}, ${each.name}`, each] as const))(
    "are wrong no more often than alpha though every example is looked at: %s",
    (_, each) => {
      // A few, so that this takes seconds; `npm run simulate:statistics` plays thousands.
      const { missed, plays } = playStopping(each, 100, 11);
      expect(missed).toBeLessThanOrEqual(ALPHA + 2 * Math.sqrt((ALPHA * (1 - ALPHA)) / plays));
    },
  );

  it("find a run that is plainly worse than its baseline long before its end, and say nothing of equal ones", () => {
    const watch = (each: (k: number) => readonly [number, number], count: number): StopWatch => {
      const watching = new StopWatch({ rule: parseStopRule("vs nightly"), alpha: ALPHA, population: 1_000, pairsOfZeroAndOne: true });
      for (let k = 0; k < count; k++) watching.add(...each(k));
      return watching;
    };
    expect(watch((k) => [k % 2, 1], 40).decision()).toMatchObject({ finding: "worse", examples: 40 });
    expect(watch((k) => [1, k % 2], 40).decision()).toMatchObject({ finding: "better" });
    expect(watch((k) => [k % 2, k % 2], 1_000).decision()).toBeNull();
    expect(watch((k) => [k % 2, (k + 1) % 2], 1_000).decision()).toBeNull();
  });

  it("need the baseline's score, and cannot take one outside of the range", () => {
    const watch = new StopWatch({ rule: parseStopRule("vs nightly"), alpha: ALPHA });
    expect(() => watch.add(1)).toThrow(/the baseline has no score/);
    expect(() => watch.add(3, 1)).toThrow(/outside -1 to 1/);
  });

  it("take a score that is not known for the least and the most that it can be: what they find then they find whatever it is", () => {
    const known = fc.constantFrom<0 | 0.5 | 1>(0, 0.5, 1);
    const examples = fc.array(fc.record({ own: known, other: known, isKnown: fc.boolean() }), { minLength: 1, maxLength: 150 });
    const rules = fc.constantFrom("halfwidth<0.2", "mean<0.6", "mean>0.4", "vs nightly");
    fc.assert(
      fc.property(examples, rules, fc.boolean(), (all, text, pairsOfZeroAndOne) => {
        const options = { rule: parseStopRule(text), alpha: 0.2, population: 200, pairsOfZeroAndOne };
        const [whole, part] = [new StopWatch(options), new StopWatch(options)];
        let found: string | null = null;
        for (const { own, other, isKnown } of all) {
          whole.add(own, other);
          part.add(isKnown ? own : [0, 1], other);
          const [[low, high], [least, most]] = [whole.interval(), part.interval()];
          expect(least).toBeLessThanOrEqual(low + 1e-9);
          expect(most).toBeGreaterThanOrEqual(high - 1e-9);
          found ??= whole.decision()?.finding ?? null;
          const decision = part.decision();
          if (decision !== null && !text.startsWith("vs")) expect(decision.finding).toBe(found);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("find nothing out where nothing is known", () => {
    for (const text of ["halfwidth<0.4", "mean<0.7", "vs nightly"]) {
      const watch = new StopWatch({ rule: parseStopRule(text), alpha: ALPHA, population: 400, pairsOfZeroAndOne: true });
      for (let k = 0; k < 399; k++) watch.add([0, 1], [0, 1]);
      expect(watch.decision()).toBeNull();
    }
  });

  it("tell a 95 % interval of the mean beside what they found, whatever their alpha", () => {
    const play = (text: string, alpha: number) => {
      const watch = new StopWatch({ rule: parseStopRule(text), alpha, population: 1_000 });
      for (let k = 0; k < 200; k++) watch.add(k % 10 < 2 ? 1 : 0, 1);
      return watch.decision();
    };
    const usual = play("mean<0.7", 0.05);
    expect(usual?.reward_ci95).toEqual(usual?.interval);
    expect(play("mean<0.7", 0.01)?.reward_ci95).toEqual(usual?.interval);
    expect(play("mean<0.7", 0.01)?.interval[1]).toBeGreaterThan(usual?.interval[1] ?? 0);
    expect(play("vs nightly", 0.05)?.reward_ci95).toEqual(usual?.interval);
    expect(play("vs nightly", 0.05)?.interval[1]).toBeLessThan(0);
  });

  it("go on from what was stored as if nothing had happened", () => {
    fc.assert(
      fc.property(scores, scores, (before, after) => {
        for (const rule of [parseStopRule("halfwidth<0.1"), parseStopRule("vs nightly")]) {
          const options = { rule, alpha: 0.1, population: 500, pairsOfZeroAndOne: true };
          const add = (watch: StopWatch, each: readonly number[]): void => {
            for (const score of each) watch.add(score > 0.9 ? [score, 1] : score, 0.5);
          };
          const whole = new StopWatch(options);
          add(whole, [...before, ...after]);
          const first = new StopWatch(options);
          add(first, before);
          const second = new StopWatch(options, JSON.parse(JSON.stringify(first.state())));
          add(second, after);
          expect(second.state()).toEqual(whole.state());
          expect(second.decision()).toEqual(whole.decision());
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("bounds that hold at every look", () => {
  it("only get narrower, stay in the range, and hold the mean of what was seen of all there is", () => {
    fc.assert(
      fc.property(scores, fc.boolean(), (seen, known) => {
        const bounds = new BettingBounds({ alpha: 0.05, range: [-2, 3], population: known ? seen.length : null });
        let [low, high] = bounds.interval();
        expect([low, high]).toEqual([-2, 3]);
        for (const score of seen) {
          bounds.add(score * 5 - 2);
          const next = bounds.interval();
          if (bounds.count < seen.length || !known) {
            expect(next[0]).toBeGreaterThanOrEqual(low - 1e-9);
            expect(next[1]).toBeLessThanOrEqual(high + 1e-9);
          }
          [low, high] = next;
        }
        if (known) expect(high - low).toBe(0);
        if (known) expect(low).toBeCloseTo(bounds.mean ?? Number.NaN, 9);
      }),
      { numRuns: 100 },
    );
  });

  it("are tighter where examples are drawn from a known number without replacement", () => {
    const wide = new BettingBounds({ alpha: 0.05 });
    const tight = new BettingBounds({ alpha: 0.05, population: 400 });
    for (let k = 0; k < 300; k++) for (const bounds of [wide, tight]) bounds.add((k * 7) % 10 < 6 ? 1 : 0);
    const width = ([low, high]: readonly [number, number]): number => high - low;
    expect(width(tight.interval())).toBeLessThan(0.8 * width(wide.interval()));
  });

  it("refuse what would make them untrue", () => {
    const bounds = new BettingBounds({ alpha: 0.05, population: 1 });
    expect(() => bounds.add(1.5)).toThrow(/outside 0 to 1/);
    expect(() => bounds.add(Number.NaN)).toThrow(/outside 0 to 1/);
    bounds.add(1);
    expect(() => bounds.add(1)).toThrow(/only 1 examples/);
    expect(() => new BettingBounds({ alpha: 0 })).toThrow(/between 0 and 1/);
    expect(() => new BettingBounds({ alpha: 0.05, range: [1, 1] })).toThrow(/nothing to be found out/);
  });
});

describe("the sequential test of pairs", () => {
  it("takes parts of a pass for parts of the stake", () => {
    const halves = new SequentialMcNemar();
    for (let k = 0; k < 40; k++) halves.add(0.5);
    expect(halves.state).toMatchObject({ wins: 20, losses: 0 });
    expect(halves.p).toBeLessThan(0.001);
  });

  it("is the mixture's ratio of beta functions", () => {
    // a = 1, b = 11, c = 1: B(12, 2) / B(1, 1) * 2^12 = 11! 1! / 13! * 4096.
    const test = new SequentialMcNemar();
    for (let k = 0; k < 12; k++) test.add(k === 4 ? -1 : 1);
    test.add(0);
    expect(test.p).toBeCloseTo((13 * 12) / 4096, 12);
    expect(() => test.add(1.5)).toThrow(/no difference of two scores/);
    expect(() => test.add(Number.NaN)).toThrow(/no difference of two scores/);
  });
});
