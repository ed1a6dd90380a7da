import { describe, expect, it } from "vitest";
import { boundsOf } from "../../../src/dashboard/design/chart/bounds.ts";
import { aloneIn, type BarPlot, type LinePlot, type PointPlot } from "../../../src/dashboard/design/chart/plot.ts";
import { rowText, tableOf } from "../../../src/dashboard/design/chart/plot-table.ts";

const text = (value: number): string => value.toFixed(1);
const x = { name: "Minutes", text };
const y = { name: "Reward", text };
const lines: LinePlot = {
  kind: "lines",
  x,
  y,
  xs: Float64Array.of(0, 1, 2),
  lines: [
    { name: "Mean", ys: Float64Array.of(0.5, Number.NaN, 0.7), low: Float64Array.of(0.2, Number.NaN, 0.6), high: Float64Array.of(0.9, Number.NaN, 0.8) },
    { name: "Other", ys: [1, 2, 3] },
  ],
};
const bars: BarPlot = {
  kind: "bars",
  x,
  y,
  bars: [
    { low: 0, high: 0, value: 4 },
    { low: 1, high: 1, value: 6 },
  ],
};
const points: PointPlot = {
  kind: "points",
  of: "Example",
  x,
  y,
  groups: [
    { name: "Better", xs: [0.1, 0.2], ys: [0.3, 0.4], label: (at) => `b${at}` },
    { name: "Worse", xs: [0.9], ys: [0.5], label: (at) => `w${at}`, href: (at) => `/w/${at}` },
  ],
};

describe("the table behind a chart", () => {
  it("has a row for each place of x with every line and its interval, and says what is not known", () => {
    const table = tableOf(lines);
    expect(table.heads).toEqual(["Minutes", "Mean", "Mean: interval", "Other"]);
    expect([table.length, table.row(0).cells, table.row(1).cells]).toEqual([3, ["0.0", "0.5", "0.2 to 0.9", "1.0"], ["1.0", "–", "–", "2.0"]]);
  });

  it("names bars by their ends, or by their one value", () => {
    expect(tableOf({ ...bars, bars: [{ low: 0, high: 0.5, value: 2 }] }).row(0).cells).toEqual(["0.0 to 0.5", "2.0"]);
    expect(rowText(bars, 1)).toBe("Minutes 1.0 · Reward 6.0");
  });

  it("goes through groups of points one after another, with where each leads", () => {
    const table = tableOf(points);
    expect(table.heads).toEqual(["Example", "Minutes", "Reward", "Which"]);
    expect(table.length).toBe(3);
    expect(table.row(1)).toEqual({ cells: ["b1", "0.2", "0.4", "Better"], href: null });
    expect(table.row(2)).toEqual({ cells: ["w0", "0.9", "0.5", "Worse"], href: "/w/0" });
  });
});

describe("a value between two that are not known", () => {
  it("is a point, since no line goes there; others are none", () => {
    const [not, known] = [Number.NaN, 0.5];
    expect(aloneIn([known])).toEqual([0]);
    expect(aloneIn(Float64Array.of(known, not, known, known, not, known))).toEqual([0, 5]);
    expect(aloneIn([null, undefined, known, null])).toEqual([2]);
    expect(aloneIn([known, known])).toEqual([]);
    expect(aloneIn([])).toEqual([]);
  });
});

describe("the ends of a chart's axes", () => {
  it("leave room above and below lines and their intervals, and none beside them", () => {
    const { x: across, y: up } = boundsOf(lines);
    expect(across).toEqual([0, 2]);
    expect(up[0]).toBeLessThan(0.2);
    expect(up[1]).toBeGreaterThan(3);
  });

  it("are those that an axis names", () => {
    expect(boundsOf({ ...lines, y: { ...y, from: 0, to: 1 } }).y).toEqual([0, 1]);
  });

  it("begin at nothing for bars, and hold the whole of bars that are one value", () => {
    const { x: across, y: up } = boundsOf(bars);
    expect(across).toEqual([-0.4, 1.4]);
    expect(up[0]).toBe(0);
  });

  it("are something where nothing, or one value alone, is shown", () => {
    for (const xs of [[], [5]]) {
      const bounds = boundsOf({ kind: "lines", x, y, xs, lines: [{ name: "Mean", ys: xs }] });
      for (const [low, high] of [bounds.x, bounds.y]) expect(low).toBeLessThan(high);
    }
  });
});
