import type UPlot from "uplot";
import { barHalf } from "./bounds.ts";
import type { Colours } from "./colours.ts";
import type { BarPlot, ChartLevel, ChartMark, LinePlot, PointPlot } from "./plot.ts";
import { drawShape } from "./shapes.ts";

/** What is drawn over the axes that uPlot has drawn, and is no line of its own. */

const FILL = 0.55;
const WHISKER = 3;

export function drawBars(u: UPlot, { bars, marks = [] }: BarPlot, { series, text }: Colours): void {
  const { ctx } = u;
  const half = barHalf(bars);
  ctx.save();
  ctx.fillStyle = series[0] ?? "gray";
  for (const { low, high, value } of bars) {
    if (!(value > 0)) continue;
    const [from, to] = low === high ? [low - half, high + half] : [low, high];
    const [left, right] = [u.valToPos(from, "x", true), u.valToPos(to, "x", true)];
    const top = u.valToPos(value, "y", true);
    // A seam tells two bars of one height apart; one that counts little is seen all the same.
    const height = Math.max(1, u.bbox.top + u.bbox.height - top);
    ctx.fillRect(left + 0.5, u.bbox.top + u.bbox.height - height, Math.max(1, right - left - 1), height);
  }
  ctx.restore();
  drawMarks(u, marks, text);
}

export function drawPoints(u: UPlot, { groups, diagonal = false }: PointPlot, { series, text }: Colours, ratio: number): void {
  const { ctx } = u;
  ctx.save();
  if (diagonal) {
    const [low, high] = [Math.max(u.scales.x?.min ?? 0, u.scales.y?.min ?? 0), Math.min(u.scales.x?.max ?? 1, u.scales.y?.max ?? 1)];
    ctx.strokeStyle = text;
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    segment(ctx, [u.valToPos(low, "x", true), u.valToPos(low, "y", true)], [u.valToPos(high, "x", true), u.valToPos(high, "y", true)]);
    ctx.setLineDash([]);
  }
  groups.forEach(({ xs, ys }, group) => {
    const colour = series[group % series.length] ?? "gray";
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    for (let at = 0; at < xs.length; at++) {
      const [x, y] = [xs[at] ?? Number.NaN, ys[at] ?? Number.NaN];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      ctx.globalAlpha = FILL;
      drawShape(ctx, group, u.valToPos(x, "x", true), u.valToPos(y, "y", true), ratio);
    }
  });
  ctx.restore();
}

/** Intervals of lines that are measured at their places alone; bands of the others uPlot draws. */
export function drawWhiskers(u: UPlot, { xs, lines, marks = [], levels = [] }: LinePlot, { series, text }: Colours, ratio: number): void {
  const { ctx } = u;
  ctx.save();
  lines.forEach(({ low, high, look }, index) => {
    if (look !== "dots" || low === undefined || high === undefined) return;
    ctx.strokeStyle = series[index % series.length] ?? "gray";
    for (let at = 0; at < xs.length; at++) {
      const [from, to] = [low[at] ?? Number.NaN, high[at] ?? Number.NaN];
      if (!Number.isFinite(from) || !Number.isFinite(to)) continue;
      const x = u.valToPos(xs[at] ?? 0, "x", true);
      const [bottom, top] = [u.valToPos(from, "y", true), u.valToPos(to, "y", true)];
      segment(ctx, [x, bottom], [x, top]);
      for (const end of [bottom, top]) segment(ctx, [x - WHISKER * ratio, end], [x + WHISKER * ratio, end]);
    }
  });
  ctx.restore();
  drawLevels(u, levels, text);
  drawMarks(u, marks, text);
}

function drawMarks(u: UPlot, marks: readonly ChartMark[], colour: string): void {
  const { ctx, bbox } = u;
  for (const { at, name } of marks) {
    const x = u.valToPos(at, "x", true);
    dashed(ctx, colour, [x, bbox.top], [x, bbox.top + bbox.height]);
    const isLate = x > bbox.left + bbox.width / 2;
    label(ctx, name, colour, [x + (isLate ? -4 : 4), bbox.top + 4], isLate ? "right" : "left");
  }
}

function drawLevels(u: UPlot, levels: readonly ChartLevel[], colour: string): void {
  const { ctx, bbox } = u;
  for (const { at, name } of levels) {
    const y = u.valToPos(at, "y", true);
    dashed(ctx, colour, [bbox.left, y], [bbox.left + bbox.width, y]);
    // Over the line and at its end: the first points stand at its beginning.
    label(ctx, name, colour, [bbox.left + bbox.width - 4, y - 3], "right", "bottom");
  }
}

type Place = readonly [x: number, y: number];

function dashed(context: CanvasRenderingContext2D, colour: string, from: Place, to: Place): void {
  context.save();
  context.strokeStyle = colour;
  context.setLineDash([3, 3]);
  segment(context, from, to);
  context.restore();
}

function label(
  context: CanvasRenderingContext2D,
  text: string,
  colour: string,
  [x, y]: Place,
  align: CanvasTextAlign,
  baseline: CanvasTextBaseline = "top",
): void {
  context.save();
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  context.fillText(text, x, y);
  context.restore();
}

function segment(context: CanvasRenderingContext2D, from: Place, to: Place): void {
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
}
