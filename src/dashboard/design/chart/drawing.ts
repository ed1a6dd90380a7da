import UPlot from "uplot";
import { boundsOf } from "./bounds.ts";
import { type Colours, coloursOf, DASHES } from "./colours.ts";
import { drawBars, drawPoints, drawWhiskers } from "./layers.ts";
import { drawSpans } from "./hatches.ts";
import { aloneIn, type ChartAxis, type LinePlot, type Plot } from "./plot.ts";

/** Draws plots on a canvas by uPlot: the one file that knows it. Nothing of it moves by itself, so nothing has to be stilled. */

export interface Drawing {
  /** Another plot of the same chart. */
  show(plot: Plot): void;
  /** The same again, in the colours of another theme or on paper. */
  recolour(): void;
  close(): void;
}

export interface DrawingPorts {
  /** What the picture goes into; it is as wide and high as that. */
  readonly place: HTMLElement;
  readonly probes: HTMLElement;
  /** Where the pointer is: a row of the plot's table, null where it is at none. */
  readonly at: (row: number | null) => void;
}

/** Pixels around the pointer in which a point counts as meant. */
const REACH = 16;
const FONT = "12px system-ui, sans-serif";
const BAND = 0.2;
/** Pixels that a time of day takes at least. */
const TIME_SPACE = 72;

export function draw(ports: DrawingPorts, first: Plot): Drawing {
  let [plot, colours] = [first, coloursOf(ports.probes)];
  const now = (): { plot: Plot; colours: Colours } => ({ plot, colours });
  let u = new UPlot(optionsOf(now, ports), dataOf(plot), ports.place);
  const sized = new ResizeObserver(() => u.setSize(sizeOf(ports.place)));
  sized.observe(ports.place);
  return {
    show: (next) => {
      const isAlike = looksOf(next) === looksOf(plot);
      plot = next;
      if (isAlike) return u.setData(dataOf(plot));
      u.destroy();
      u = new UPlot(optionsOf(now, ports), dataOf(plot), ports.place);
    },
    recolour: () => {
      colours = coloursOf(ports.probes);
      u.redraw(true, true);
    },
    close: () => {
      sized.disconnect();
      u.destroy();
    },
  };
}

const sizeOf = ({ clientWidth, clientHeight }: HTMLElement): { width: number; height: number } => ({ width: Math.max(1, clientWidth), height: clientHeight });

/** What uPlot has to be begun anew for. */
const looksOf = (plot: Plot): string =>
  JSON.stringify([
    plot.kind,
    plot.x.isTime,
    plot.x.name,
    plot.y.name,
    plot.kind === "lines" ? plot.lines.map(({ look, low }) => [look, low === undefined]) : [],
  ]);

function optionsOf(now: () => { plot: Plot; colours: Colours }, { place, at }: DrawingPorts): UPlot.Options {
  const { plot } = now();
  const ratio = devicePixelRatio;
  return {
    ...sizeOf(place),
    ms: 1,
    tzDate: (ms) => UPlot.tzDate(new Date(ms), "Etc/UTC"),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: plot.kind === "points", points: { show: plot.kind === "lines" } },
    scales: {
      x: { time: plot.x.isTime === true, range: () => [...boundsOf(now().plot).x] },
      y: { range: () => [...boundsOf(now().plot).y] },
    },
    axes: [
      {
        ...axisOf(() => now().plot.x, now, plot.x.isTime !== true),
        ...(plot.x.isTime ? {} : { size: 32 }),
        ...(plot.x.isTime ? { space: TIME_SPACE } : {}),
        ...ticksOf(plot),
      },
      { ...axisOf(() => now().plot.y, now, true), size: 56, space: 28 },
    ],
    ...(plot.kind === "lines" ? linesOf(plot, now) : { series: [{}, { show: false }] }),
    hooks: {
      // Behind the lines, over the grid.
      drawAxes: [
        (u) => {
          const { plot: shown, colours } = now();
          if (shown.kind === "lines") drawSpans(u, shown, colours.text, ratio);
        },
      ],
      draw: [
        (u) => {
          const { plot: shown, colours } = now();
          u.ctx.font = `${11 * ratio}px system-ui, sans-serif`;
          u.ctx.lineWidth = ratio;
          if (shown.kind === "bars") drawBars(u, shown, colours);
          else if (shown.kind === "points") drawPoints(u, shown, colours, ratio);
          else drawWhiskers(u, shown, colours, ratio);
        },
      ],
      setCursor: [(u) => at(rowAt(u, now().plot))],
    },
  };
}

const axisOf = (axis: () => ChartAxis, now: () => { colours: Colours }, isWritten: boolean): UPlot.Axis => ({
  font: FONT,
  labelFont: FONT,
  label: axis().name,
  labelSize: 20,
  stroke: () => now().colours.text,
  grid: { stroke: () => now().colours.line, width: 1 },
  ticks: { stroke: () => now().colours.line, width: 1 },
  ...(isWritten ? { values: (_, splits) => splits.map((each) => axis().text(each)) } : {}),
});

/** Bars that are values of their own have their ticks there, and nowhere else. */
const MOST_TICKS = 12;
const ticksOf = (plot: Plot): UPlot.Axis =>
  plot.kind === "bars" && plot.bars.length <= MOST_TICKS && plot.bars.every(({ low, high }) => low === high) ? { splits: plot.bars.map(({ low }) => low) } : {};

/** A line takes one series, and two more for its band. */
function linesOf({ lines }: LinePlot, now: () => { colours: Colours }): Pick<UPlot.Options, "series" | "bands"> {
  const series: UPlot.Series[] = [{}];
  const bands: UPlot.Band[] = [];
  lines.forEach(({ low, look = "line" }, index) => {
    const colour = (): string => now().colours.series[index % now().colours.series.length] ?? "gray";
    // From its moment on, up to where another one is known, or none.
    const paths = look === "steps" ? UPlot.paths.stepped?.({ align: 1, alignGaps: 1 }) : undefined;
    const alone: UPlot.Series.Points.Filter = (u, series) => aloneIn(u.data[series] ?? []);
    const points = { size: 7, fill: colour, stroke: colour, show: true, ...(look === "dots" ? {} : { filter: alone }) };
    series.push({ stroke: colour, width: look === "dots" ? 1 : 2, dash: [...(DASHES[index % DASHES.length] ?? [])], points, ...(paths ? { paths } : {}) });
    if (low === undefined || look === "dots") return;
    const at = series.length;
    for (let end = 0; end < 2; end++) series.push({ stroke: "transparent", width: 0, points: { show: false }, ...(paths ? { paths } : {}) });
    bands.push({ series: [at + 1, at], fill: () => faded(colour()) });
  });
  return { series, bands };
}

/** `rgb(…)` as the browser gives it, seen through. */
const faded = (colour: string): string =>
  colour.replace(/^rgba?\(([^)]*)\)$/, (_, parts: string) => `rgba(${parts.split(",").slice(0, 3).join(",")}, ${BAND})`);

function dataOf(plot: Plot): UPlot.AlignedData {
  if (plot.kind !== "lines") return [[], []];
  const gaps = (values: ArrayLike<number>): (number | null)[] => Array.from(values, (value) => (Number.isFinite(value) ? value : null));
  const columns = plot.lines.flatMap(({ ys, low, high, look }) =>
    low === undefined || high === undefined || look === "dots" ? [gaps(ys)] : [gaps(ys), gaps(low), gaps(high)],
  );
  return [Array.from(plot.xs), ...columns];
}

/** uPlot names the nearest place; what holds until the next one is meant all the way to it. */
function placeAt({ xs, lines }: LinePlot, nearest: number | null, x: number): number | null {
  const isAhead = nearest !== null && nearest > 0 && (xs[nearest] ?? 0) > x;
  return isAhead && lines.every(({ look }) => look === "steps") ? nearest - 1 : nearest;
}

function rowAt(u: UPlot, plot: Plot): number | null {
  const { left = -1, top = -1, idx } = u.cursor;
  if (left < 0) return null;
  if (plot.kind === "lines") return placeAt(plot, idx ?? null, u.posToVal(left, "x"));
  if (plot.kind === "bars") {
    const x = u.posToVal(left, "x");
    const found = plot.bars.findIndex(({ low, high }) => (low === high ? Math.abs(x - low) : x >= low && x <= high ? 0 : 1) < 0.5);
    return found < 0 ? null : found;
  }
  let [nearest, distance, before] = [-1, REACH, 0];
  for (const { xs, ys } of plot.groups) {
    for (let each = 0; each < xs.length; each++) {
      const away = Math.hypot(u.valToPos(xs[each] ?? 0, "x") - left, u.valToPos(ys[each] ?? 0, "y") - top);
      if (away < distance) [nearest, distance] = [before + each, away];
    }
    before += xs.length;
  }
  return nearest < 0 ? null : nearest;
}
