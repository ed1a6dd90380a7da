import { describe, expect, it } from "vitest";
import type { RunView } from "../../../../durable-objects/run/control.ts";
import { tableOf } from "../../../../src/dashboard/design/chart/plot-table.ts";
import type { Timeline } from "../../../../src/dashboard/api/run-answers.ts";
import { boundSpans } from "../../../../src/dashboard/pages/run/course/bound-spans.ts";
import { concurrencyPlot, rewardPlot } from "../../../../src/dashboard/pages/run/course/course-plots.ts";
import { costLines } from "../../../../src/dashboard/pages/run/cost-lines.ts";
import { scoreOf } from "../../../../src/dashboard/pages/run/score-text.ts";
import { emptyTotals } from "../../../../src/metrics/totals.ts";
import { runObject } from "../../../support/door/run-object.ts";

const stateOf = (changes: Partial<RunView>) => runObject(changes).edgewise;
const totals = (changes: object) => ({ ...emptyTotals(), rollouts: 4, reward_sum: 2, reward_sum_without_errors: 2, ...changes });
const DONE = { phase: "settled", status: "COMPLETED", units: { total: 2, done: 2, open: 0, pending: 0 } } as const;

describe("the headline number of a run", () => {
  it("is none before an example is done, and none where all ended in errors: an error is no 0", () => {
    expect(scoreOf(stateOf({}))).toEqual({ value: null, notes: ["No example is done yet."] });
    const failed = scoreOf(stateOf({ ...DONE, totals: totals({ reward_sum: 0, reward_sum_without_errors: 0, errors: { rate_limited: 4 } }) }));
    expect(failed).toEqual({ value: null, notes: ["No rollout was scored: all of them ended in errors."] });
  });

  it("is the mean of the random part that is done, with its interval, while it goes on", () => {
    const live = { order: "permuted", examples: 5, of: 20, mean: 0.25, ci95: [0.1, 0.4], range: [0.2, 0.6] } as const;
    expect(scoreOf(stateOf({ live, totals: totals({}) }))).toEqual({
      value: "0.250",
      notes: ["so far", "95 % interval 0.100 to 0.400, with what is open 0.200 to 0.600", "the first 5 of 20, in random order"],
    });
  });

  it("is a range where more than a few rollouts have no score", () => {
    const { value, notes } = scoreOf(stateOf({ ...DONE, totals: totals({ reward_sum: 1, reward_sum_without_errors: 1, errors: { rate_limited: 2 } }) }));
    expect(value).toBe("0.250 to 0.750");
    expect(notes).toEqual(["50.0 % of the rollouts have no score (0.500 over the others)", "no interval"]);
  });
});

describe("what a run has used", () => {
  it("is not known where nobody knows it, and never 0", () => {
    const lines = Object.fromEntries(costLines(stateOf({ ...DONE, totals: totals({ input_tokens: 1_200, output_tokens: 30 }) })));
    expect(lines).toEqual({ Tokens: "1,200 in, 30 out", Cost: "not known: nobody said what the model costs" });
  });

  it("is held against the budget", () => {
    const budget = { settled_usd: 1.5, unseen_usd: 0.25, unseen_calls: 1 };
    const lines = Object.fromEntries(costLines({ ...stateOf(DONE), max_cost: 5, budget }));
    expect(lines.Budget).toBe("$1.75 of $5.00 spent, $0.2500 of it for calls whose end nobody saw");
  });
});

const course = (changes: Partial<Timeline>): Timeline => ({
  step_ms: 5_000,
  ...{ t: [10, 20, 30], generation: [1, 1, 2], done: [0, 1, 2], errored: [0, 0, 0], in_flight: [4, null, 2], waiting: [0, 3, 1], limit: [4, 4, 4] },
  ...{ bound: [null, "requests", "requests"], bound_limit: [null, 60, 50], examples: [null, 1, 1] },
  ...{ reward: [null, 0.5, 0.6], lo: [null, 0.4, 0.5], hi: [null, 0.6, 0.7], input_tokens: [0, 1, 2], output_tokens: [0, 1, 2] },
  ...changes,
});

describe("how a run went", () => {
  it("is a line with its band, not joined over a resume, with nothing where nothing is known", () => {
    const { xs, lines, marks } = rewardPlot(course({}));
    expect(Array.from(xs)).toEqual([10, 20, 20, 30]);
    expect(Array.from(lines[0]?.ys ?? [])).toEqual([Number.NaN, 0.5, Number.NaN, 0.6]);
    expect(Array.from(lines[0]?.high ?? [])).toEqual([Number.NaN, 0.6, Number.NaN, 0.7]);
    expect(marks).toEqual([{ at: 30, name: "resumed" }]);
    expect(Array.from(concurrencyPlot(course({})).lines[0]?.ys ?? [])).toEqual([4, Number.NaN, Number.NaN, 2]);
  });

  it("is a point where one value is known, which as a line would be nothing on the screen", () => {
    const looks = [rewardPlot(course({ reward: [null, 0.5, null] })), rewardPlot(course({}))].map(({ lines }) => lines[0]?.look);
    expect(looks).toEqual(["dots", "line"]);
  });

  it("names what requests waited for, from each moment to the next that says otherwise, and not over a resume", () => {
    const once = { generation: [1, 1, 1] };
    expect(boundSpans(course(once))).toEqual([{ from: 20, to: 30, kind: "requests", limit: 50, waiting: 3 }]);
    const ends = (changes: Partial<Timeline>) => boundSpans(course(changes)).map(({ from, to }) => [from, to]);
    expect(ends({ ...once, bound: ["pause", null, "pause"] })).toEqual([
      [10, 20],
      [30, 30],
    ]);
    expect(ends({ ...once, bound: ["pause", "requests", null] })).toEqual([
      [10, 20],
      [20, 30],
    ]);
    expect(ends({ bound: [null, "requests", "requests"] })).toEqual([
      [20, 20],
      [30, 30],
    ]);
  });

  it("shows in the picture of requests what they waited for, with its number in the table", () => {
    const plot = concurrencyPlot(course({ generation: [1, 1, 1], bound: ["requests", "requests", null], bound_limit: [60, 50, null] }));
    expect(plot.held).toEqual({ name: "Waited for", spans: [{ from: 10, to: 30, kind: "a limit of requests a minute", name: "50 requests a minute" }] });
    expect([0, 2].map((at) => tableOf(plot).row(at).cells.at(-1))).toEqual(["50 requests a minute", "–"]);
    expect(concurrencyPlot(course({ bound: [null, null, null] })).held).toBeUndefined();
  });
});
