import { SHAPES } from "./colours.ts";

const SIZE = 4;

/** Draws the mark of a group of points. `x`, `y`, `ratio`: in pixels of the canvas, and how many of them a pixel of the page has. */
export function drawShape(context: CanvasRenderingContext2D, group: number, x: number, y: number, ratio: number): void {
  const half = SIZE * ratio;
  context.beginPath();
  switch (SHAPES[group % SHAPES.length]) {
    case "square":
      context.rect(x - half * 0.85, y - half * 0.85, half * 1.7, half * 1.7);
      break;
    case "triangle":
      polygon(context, [x, y - half], [x + half, y + half * 0.8], [x - half, y + half * 0.8]);
      break;
    case "diamond":
      polygon(context, [x, y - half], [x + half, y], [x, y + half], [x - half, y]);
      break;
    case "cross":
      stroke(context, [x - half, y - half], [x + half, y + half]);
      stroke(context, [x - half, y + half], [x + half, y - half]);
      break;
    case "plus":
      stroke(context, [x - half, y], [x + half, y]);
      stroke(context, [x, y - half], [x, y + half]);
      break;
    default:
      context.arc(x, y, half, 0, 2 * Math.PI);
  }
  context.fill();
  context.stroke();
}

type Place = readonly [x: number, y: number];

function polygon(context: CanvasRenderingContext2D, first: Place, ...others: readonly Place[]): void {
  context.moveTo(...first);
  for (const place of others) context.lineTo(...place);
  context.closePath();
}

function stroke(context: CanvasRenderingContext2D, from: Place, to: Place): void {
  context.moveTo(...from);
  context.lineTo(...to);
}
