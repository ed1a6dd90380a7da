import { DASHES, SERIES_LOOKS, SHAPES } from "./colours.ts";
import { hatchPath, kindsOf } from "./hatches.ts";
import type { Plot } from "./plot.ts";

/** Which look is which line, or group of points; nothing where there is but one. */
export function ChartLegend({ plot }: { readonly plot: Plot }) {
  const kinds = plot.kind === "lines" ? kindsOf(plot) : [];
  const names = plot.kind === "lines" ? plot.lines : plot.kind === "points" ? plot.groups : [];
  if (names.length < 2 && kinds.length === 0) return null;
  return (
    <ul class="chart-legend">
      {names.map(({ name }, at) => (
        <li key={name}>
          <span class={`chart-colour-${at % SERIES_LOOKS}`}>{plot.kind === "lines" ? <Dash at={at} /> : <Shape at={at} />}</span>
          {name}
        </li>
      ))}
      {plot.kind === "lines" && plot.held !== undefined
        ? kinds.map((kind, look) => (
            <li key={`held ${kind}`}>
              <Band look={look} />
              {plot.held?.name}: {kind}
            </li>
          ))
        : null}
    </ul>
  );
}

const Band = ({ look }: { readonly look: number }) => (
  <svg class="chart-band" viewBox="0 0 28 16" aria-hidden="true">
    <rect width="28" height="16" />
    <path d={hatchPath(look, 28, 16)} />
  </svg>
);

const Dash = ({ at }: { readonly at: number }) => (
  <svg viewBox="0 0 28 12" aria-hidden="true">
    <line x1="0" y1="6" x2="28" y2="6" stroke-width="2" stroke-dasharray={DASHES[at % DASHES.length]?.join(" ") || undefined} />
  </svg>
);

const PATHS: Readonly<Record<(typeof SHAPES)[number], string>> = {
  circle: "M10 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
  square: "M10.5 2.5h7v7h-7z",
  triangle: "M14 2l4 7.5h-8z",
  diamond: "M14 2l4 4-4 4-4-4z",
  cross: "M10 2l8 8M18 2l-8 8",
  plus: "M10 6h8M14 2v8",
};

const Shape = ({ at }: { readonly at: number }) => (
  <svg viewBox="0 0 28 12" aria-hidden="true">
    <path d={PATHS[SHAPES[at % SHAPES.length] ?? "circle"]} />
  </svg>
);
