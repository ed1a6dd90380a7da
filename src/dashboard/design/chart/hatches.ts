import type UPlot from "uplot";
import type { LinePlot } from "./plot.ts";

/** How bands of a chart look: hatched, each kind in another way, so that no colour is needed to tell them apart. */

/** Pixels of a side of the tile that a hatching repeats. */
const TILE = 8;
type Segment = readonly [x1: number, y1: number, x2: number, y2: number];
const RISING: Segment = [0, TILE, TILE, 0];
const FALLING: Segment = [0, 0, TILE, TILE];
const UPRIGHT: Segment = [4, 0, 4, TILE];
const LEVEL: Segment = [0, 4, TILE, 4];
/** Lines within a tile. */
const HATCHES: readonly (readonly Segment[])[] = [
  [RISING],
  [FALLING],
  [UPRIGHT],
  [LEVEL],
  [RISING, FALLING],
  [UPRIGHT, LEVEL],
  [[3, 4, 5, 4]],
  [UPRIGHT, [0, 0, 0, TILE]],
  [LEVEL, [0, 0, TILE, 0]],
];
/** Of the colour, below a hatching and in its lines. */
const [GROUND, INK] = [0.07, 0.4];
/** Pixels: what was short is seen all the same. */
const LEAST_WIDTH = 3;

/** Kinds of bands in the order in which they first came: the number of a kind is its look. */
export const kindsOf = ({ held }: LinePlot): readonly string[] => [...new Set(held?.spans.map(({ kind }) => kind))];

const hatchOf = (look: number): readonly Segment[] => HATCHES[look % HATCHES.length] ?? [];

/** The same as a path of SVG that covers a box. */
export function hatchPath(look: number, width: number, height: number): string {
  return tiles({ left: 0, top: 0, width, height }, TILE)
    .flatMap(([x, y]) => hatchOf(look).map(([x1, y1, x2, y2]) => `M${x + x1} ${y + y1}L${x + x2} ${y + y2}`))
    .join("");
}

export function drawSpans(u: UPlot, plot: LinePlot, colour: string, ratio: number): void {
  const { ctx, bbox } = u;
  const kinds = kindsOf(plot);
  for (const { from, to, kind } of plot.held?.spans ?? []) {
    const left = u.valToPos(from, "x", true);
    const width = Math.max(LEAST_WIDTH * ratio, u.valToPos(to, "x", true) - left);
    const box = { left, top: bbox.top, width, height: bbox.height };
    ctx.save();
    ctx.beginPath();
    ctx.rect(box.left, box.top, box.width, box.height);
    ctx.clip();
    ctx.fillStyle = colour;
    ctx.strokeStyle = colour;
    ctx.globalAlpha = GROUND;
    ctx.fillRect(box.left, box.top, box.width, box.height);
    ctx.globalAlpha = INK;
    ctx.lineWidth = ratio;
    ctx.beginPath();
    for (const [x, y] of tiles(box, TILE * ratio))
      for (const [x1, y1, x2, y2] of hatchOf(kinds.indexOf(kind))) {
        ctx.moveTo(x + x1 * ratio, y + y1 * ratio);
        ctx.lineTo(x + x2 * ratio, y + y2 * ratio);
      }
    ctx.stroke();
    ctx.restore();
  }
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Corners of the tiles that a box meets: at the same places for all boxes, so that bands beside each other go on. */
function tiles({ left, top, width, height }: Box, side: number): readonly (readonly [x: number, y: number])[] {
  const found: [number, number][] = [];
  for (let x = Math.floor(left / side) * side; x < left + width; x += side)
    for (let y = Math.floor(top / side) * side; y < top + height; y += side) found.push([x, y]);
  return found;
}
