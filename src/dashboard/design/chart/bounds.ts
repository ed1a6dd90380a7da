import type { ChartAxis, Plot } from "./plot.ts";

/** Ends of both axes. */
export interface Bounds {
  readonly x: readonly [low: number, high: number];
  readonly y: readonly [low: number, high: number];
}

/** Of the height, above and below what is shown. */
const ROOM = 0.05;
/** Of a bar that is one value: half its width, in the distance to the nearest other. */
const BAR_HALF = 0.4;

/** Ends within which all of a plot is seen; of an empty one 0 and 1. */
export function boundsOf(plot: Plot): Bounds {
  const [xs, ys] = [new Span(), new Span()];
  if (plot.kind === "lines") {
    xs.addAll(plot.xs);
    for (const { at } of plot.marks ?? []) xs.add(at);
    for (const { from, to } of plot.held?.spans ?? []) xs.addAll([from, to]);
    for (const { at } of plot.levels ?? []) ys.add(at);
    for (const { ys: values, low, high } of plot.lines) for (const each of [values, low, high]) if (each !== undefined) ys.addAll(each);
  } else if (plot.kind === "bars") {
    ys.add(0);
    const half = barHalf(plot.bars);
    for (const { low, high, value } of plot.bars) {
      const ends = low === high ? [low - half, high + half] : [low, high];
      for (const end of ends) xs.add(end);
      ys.add(value);
    }
    for (const { at } of plot.marks ?? []) xs.add(at);
  } else {
    for (const group of plot.groups) {
      xs.addAll(group.xs);
      ys.addAll(group.ys);
    }
  }
  const isBars = plot.kind === "bars";
  return { x: xs.ends(plot.x, isBars || plot.kind === "lines" ? 0 : ROOM, isBars), y: ys.ends(plot.y, ROOM, isBars) };
}

/** Half the width of a bar that stands for one value. */
export function barHalf(bars: readonly { readonly low: number; readonly high: number }[]): number {
  const places = [...new Set(bars.map(({ low }) => low))].sort((a, b) => a - b);
  const steps = places.slice(1).map((each, at) => each - (places[at] ?? each));
  return (steps.length === 0 ? 1 : Math.min(...steps)) * BAR_HALF;
}

class Span {
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;

  add(value: number): void {
    if (!Number.isFinite(value)) return;
    this.#low = Math.min(this.#low, value);
    this.#high = Math.max(this.#high, value);
  }
  addAll(values: ArrayLike<number>): void {
    for (let at = 0; at < values.length; at++) this.add(values[at] ?? Number.NaN);
  }

  /** `standsOnLow`: nothing is left free below. Ends that an axis names are taken as they are. */
  ends({ from, to }: ChartAxis, room: number, standsOnLow: boolean): readonly [number, number] {
    const isEmpty = this.#low > this.#high;
    const [low, high] = isEmpty ? [0, 1] : this.#low === this.#high ? [this.#low - (standsOnLow ? 0 : 0.5), this.#high + 0.5] : [this.#low, this.#high];
    const free = (high - low) * room;
    const ends = [from ?? low - (standsOnLow ? 0 : free), to ?? high + free] as const;
    return ends[0] < ends[1] ? ends : [ends[0], ends[0] + 1];
  }
}
