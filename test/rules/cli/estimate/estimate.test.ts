import { describe, expect, it } from "vitest";
import { type EstimateWish, estimateWish, mustAsk } from "../../../../src/cli/eval-run/estimate/estimate-wish.ts";
import { forecastLines } from "../../../../src/cli/eval-run/estimate/forecast-lines.ts";
import { totalOf } from "../../../../src/cli/eval-run/estimate/forecast-total.ts";
import type { LabelledForecast } from "../../../../src/cli/eval-run/estimate/labelled-forecast.ts";
import type { ForecastEvaluation, RunForecast } from "../../../../src/cli/connection/api-types.ts";
import type { GivenOptions } from "../../../../src/cli/command-line/flags.ts";
import { textWidth } from "../../../../src/report/text/text-width.ts";

const wish = (given: GivenOptions): EstimateWish | null => estimateWish([{ given }, { given }]);
const about = (expected: number) => ({ spent: expected / 10, expected, low: expected / 2, high: expected * 2 });
const none = { spent: 0, expected: 0, low: 0, high: 0 };
const forecast = (cost: number | null, seconds = 100): RunForecast => ({
  ...{ calls: about(1200), input_tokens: about(50_000), output_tokens: about(9000), judge_calls: none, judge_input_tokens: none, judge_output_tokens: none },
  cost_usd: cost === null ? null : about(cost),
  seconds: { expected: seconds, low: seconds / 2, high: seconds * 2 },
});
const answer = (of: RunForecast | null, more: Partial<ForecastEvaluation> = {}): ForecastEvaluation => ({
  ...{ num_examples: 400, rollouts_per_example: 3, max_concurrent: 32, forecast_examples: of === null ? null : 400, forecast: of },
  from: { runs: ["0000aaaa"], examples: 10, rollouts: 30 },
  ...more,
});
const labelled = (label: string, of: ForecastEvaluation, own = true, maxCost: number | null = null): LabelledForecast => ({ label, answer: of, own, maxCost });

describe("what a command is asked to forecast", () => {
  it("is nothing unless it says so, and is of ten examples where it does not say how many", () => {
    expect(wish({})).toBe(null);
    expect(wish({ estimate: false })).toBe(null);
    expect(wish({ estimate: true })).toEqual({ from: "pilot", pilot: 10, confirmAbove: null, confirmed: false });
    expect(wish({ estimate: 20, yes: true })).toEqual({ from: "pilot", pilot: 20, confirmAbove: null, confirmed: true });
    expect(wish({ estimate: "history", confirm_above: 3 })).toEqual({ from: "history", pilot: 10, confirmAbove: 3, confirmed: false });
    expect(wish({ confirm_above: 0 })).toEqual({ from: "either", pilot: 10, confirmAbove: 0, confirmed: false });
  });

  it("refuses what contradicts it by name", () => {
    expect(() => wish({ yes: true })).toThrow("--yes answers what --estimate and --confirm-above ask");
    expect(() => wish({ estimate: true, resume: true })).toThrow("--estimate is of runs that begin, and -R/--resume goes on with one");
    expect(() => wish({ confirm_above: 1, resume: "outputs/x" })).toThrow("--confirm-above is of runs that begin");
    expect(() => wish({ estimate: true, hosted: true, follow: true })).toThrow("--hosted");
  });

  it("asks always, or above the given dollars, an unknown price among them; never where the answer was given", () => {
    const of = (changes: Partial<EstimateWish>): EstimateWish => ({ from: "pilot", pilot: 10, confirmAbove: null, confirmed: false, ...changes });
    expect([mustAsk(of({}), 0), mustAsk(of({ confirmed: true }), 1e9)]).toEqual([true, false]);
    expect([5, 5.01, null].map((high) => mustAsk(of({ confirmAbove: 5 }), high))).toEqual([false, true, true]);
  });
});

describe("what is shown of it", () => {
  it("of one evaluation has a line for each number, with the ends of its interval", () => {
    expect(forecastLines([labelled("gsm8k", answer(forecast(1.5)))], null, 80)).toEqual([
      "--- Forecast ---",
      "from: the first 10 examples, 30 rollouts",
      "examples: 400 × 3 rollouts, 32 at once",
      "calls: 1,200 (600 to 2,400)",
      "tokens: 50,000 (25,000 to 100,000) input, 9,000 (4,500 to 18,000) output",
      "cost: $1.50 ($0.7500 to $3.00), of which $0.1500 is spent",
      "time: 1m 40s (50s to 3m 20s) from now on",
      "(in brackets: between these in about 90 % of runs)",
    ]);
  });

  it("says which runs it is from, what judges take, that a price or a number of examples is not known, and that there is none", () => {
    const judged = { ...forecast(null), judge_calls: about(10), judge_input_tokens: about(20), judge_output_tokens: about(30) };
    const text = forecastLines([labelled("x", answer(judged, { num_examples: -1, forecast_examples: 100, max_concurrent: 0 }), false)], null, 80).join("\n");
    expect(text).toContain("from: 10 examples, 30 rollouts of run 0000aaaa");
    expect(text).toContain("examples: all × 3 rollouts, ∞ at once; how many those are is not known, and this is what 100 take");
    expect(text).toContain("judges: 10 (5 to 20) calls, 20 (10 to 40) tokens input, 30 (15 to 60) output");
    expect(text).toContain("cost: unknown: the price of a model is not known");
    expect(forecastLines([labelled("x", answer(null, { from: { runs: ["0000aaaa"], examples: 3, rollouts: 3 } }))], null, 80).join("\n")).toContain(
      "no forecast: 3 examples are too few",
    );
  });

  it("of several is a table with a sum, which leaves columns out where a terminal is narrow, and cuts no name", () => {
    const two = [
      labelled("gsm8k temperature=0.5 difficulty=easy", answer(forecast(1))),
      labelled("gsm8k temperature=1 difficulty=hard", answer(forecast(2, 300))),
    ];
    const wide = forecastLines(two, null, 200);
    expect(wide[1]).toMatch(/EVALUATION +EXAMPLES +CALLS +TOKENS IN/);
    expect(wide.at(-1)).toMatch(/^all of them +2,400 +100,000 +18,000 +\$0\.3000 +\$3\.00 +\$1\.50 to \$6\.00 +5m +2m 30s to 10m$/);
    const narrow = forecastLines(two, null, 100);
    expect(narrow[1]).not.toContain("CALLS");
    expect(narrow[2]).toContain("gsm8k temperature=0.5 difficulty=easy");
    expect(Math.max(...narrow.map(textWidth))).toBeLessThan(Math.max(...wide.map(textWidth)));
  });

  it("says where a budget ends the run before its last example, by what is expected or by the upper end alone, and what to type for all of them", () => {
    const budget = (maxCost: number, own = true): readonly string[] =>
      forecastLines([labelled("gsm8k", answer(forecast(1.5)), own, maxCost)], null, 80).filter((line) => line.startsWith("budget: "));
    // $0.15 is spent by 10 of 400 examples; the other 390 take $0.60 to $2.85.
    expect(budget(1)).toEqual([
      "budget: --max-cost 1 is below that: the run ends at it, CANCELLED, with what it has, after about 255 of 400 examples (126 to 400); for all of them: --max-cost 3.3",
    ]);
    expect(budget(2.05)).toEqual([
      "budget: --max-cost 2.05 is below the upper end ($3.00): at that the run ends, CANCELLED, with what it has, after about 270 of 400 examples; for all of them: --max-cost 3.3",
    ]);
    expect(budget(3)).toEqual([]);
    const two = [labelled("a", answer(forecast(1.5)), true, 1), labelled("b", answer(forecast(0.054)), true, 0.06)];
    expect(forecastLines(two, null, 200).slice(-2)).toEqual([
      expect.stringContaining("a: --max-cost 1 is below that"),
      expect.stringMatching(/^b: --max-cost 0\.06 .*for all of them: --max-cost 0\.12$/),
    ]);
    expect(forecastLines([labelled("a", answer(forecast(null)), true, 1)], null, 200).join("\n")).not.toContain("budget");
  });

  it("sums up money as unknown where that of one is, and time as that of the longest, or of the work that shares its requests", () => {
    const priced = [answer(forecast(1, 100)), answer(forecast(2, 300))];
    expect(totalOf(priced, null)).toMatchObject({
      cost_usd: { spent: expect.closeTo(0.3, 9), expected: 3, low: 1.5, high: 6 },
      seconds: { expected: 300, high: 600 },
    });
    expect(totalOf(priced, 32).seconds?.expected).toBe(400);
    expect(totalOf(priced, 1000).seconds?.expected).toBe(300);
    expect(totalOf([...priced, answer(forecast(null))], null).cost_usd).toBe(null);
    expect(totalOf([...priced, answer(null)], null).cost_usd).toBe(null);
  });

  it("says that nobody knows the time of requests in batches, nor of all together with them", () => {
    const batched = { ...forecast(1), seconds: null };
    expect(forecastLines([labelled("a", answer(batched), false)], null, 200)).toContain(
      "time: unknown: batches are answered when their provider likes, within a day",
    );
    expect(totalOf([answer(forecast(1)), answer(batched)], null)).toMatchObject({ seconds: null, cost_usd: { expected: 2 } });
    const table = forecastLines([labelled("a", answer(forecast(1))), labelled("b", answer(batched))], null, 200);
    expect(table.filter((line) => /unknown +-$/.test(line)).map((line) => line.split(" ")[0])).toEqual(["b", "all"]);
  });
});
