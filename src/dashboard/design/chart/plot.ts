/** What a chart shows, without how it is drawn: the same for the picture, its table and what is said where the pointer rests. */

/** One direction of a chart. */
export interface ChartAxis {
  /** With its unit: `tokens a second`. */
  readonly name: string;
  /** A value as ticks and the table have it. */
  readonly text: (value: number) => string;
  /** Of the x axis: values are Unix milliseconds, and ticks are moments in UTC. */
  readonly isTime?: boolean;
  /** Ends of the axis; without them those of what is shown. */
  readonly from?: number;
  readonly to?: number;
}

/** One line. Arrays are as long as `xs` of its chart; NaN is where nothing is known, and the line has a gap. */
export interface ChartLine {
  readonly name: string;
  readonly ys: ArrayLike<number>;
  /** Ends of its interval, both or none; a band around the line, whiskers at `dots`. */
  readonly low?: ArrayLike<number>;
  readonly high?: ArrayLike<number>;
  /** `steps`: a value holds until the next place; `dots`: measured at these places alone. Usually `line`. */
  readonly look?: "line" | "steps" | "dots";
}

/** Something that happened at one place of x: a line from top to bottom. */
export interface ChartMark {
  readonly at: number;
  readonly name: string;
}

/** A value of y to hold others against: a line from side to side. */
export interface ChartLevel {
  readonly at: number;
  readonly name: string;
}

/** A time in which something held: a hatched band from top to bottom, behind the lines. */
export interface ChartSpan {
  readonly from: number;
  readonly to: number;
  /** Bands of one kind look alike, and are one entry of the legend. */
  readonly kind: string;
  /** What is said of this one where the pointer rests, and in the table. */
  readonly name: string;
}

export interface ChartSpans {
  /** What all of them say: `Waited for`. */
  readonly name: string;
  /** Ascending, and none within another. */
  readonly spans: readonly ChartSpan[];
}

export interface LinePlot {
  readonly kind: "lines";
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  /** Ascending. */
  readonly xs: ArrayLike<number>;
  readonly lines: readonly ChartLine[];
  readonly marks?: readonly ChartMark[];
  readonly levels?: readonly ChartLevel[];
  readonly held?: ChartSpans;
}

/** Bars from `low` to `high` of x, as of a histogram; equal ends are one value. */
export interface BarPlot {
  readonly kind: "bars";
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  readonly bars: readonly { readonly low: number; readonly high: number; readonly value: number }[];
  readonly marks?: readonly ChartMark[];
}

/** Points that belong together, and look alike. */
export interface PointGroup {
  readonly name: string;
  readonly xs: ArrayLike<number>;
  readonly ys: ArrayLike<number>;
  /** What a point is, for its row of the table and where the pointer rests. */
  readonly label: (at: number) => string;
  /** Where its row of the table leads. */
  readonly href?: (at: number) => string;
}

export interface PointPlot {
  readonly kind: "points";
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  /** What a point stands for: `Example`. */
  readonly of: string;
  readonly groups: readonly PointGroup[];
  /** A line where y is x: above it one is more than the other. */
  readonly diagonal?: boolean;
}

export type Plot = LinePlot | BarPlot | PointPlot;

/** Places of a line with nothing known before and after them: no line goes there, so that they are seen as points or not at all. */
export function aloneIn(ys: ArrayLike<number | null | undefined>): number[] {
  const isKnown = (at: number): boolean => Number.isFinite(ys[at] ?? Number.NaN);
  return Array.from({ length: ys.length }, (_, at) => at).filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}
