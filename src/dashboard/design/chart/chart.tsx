import "./chart.css";
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { theme } from "../../frame/theme.ts";
import { ChartLegend } from "./chart-legend.tsx";
import { ChartTable } from "./chart-table.tsx";
import { SERIES_LOOKS } from "./colours.ts";
import type { Drawing } from "./drawing.ts";
import type { Plot } from "./plot.ts";
import { rowText } from "./plot-table.ts";

export interface ChartProps {
  /** What it shows, over the picture and as its name. */
  readonly title: string;
  /** In a sentence what is to be seen in it, for who does not see it and for who does. */
  readonly says: string;
  /** What is shown. Drawn anew when it is another object: a page that draws often keeps it (`useMemo`). */
  readonly plot: Plot;
  readonly height?: "usual" | "low";
  /** A row of the plot's table whose place in the picture was clicked. */
  readonly onPick?: (row: number) => void;
}

/** A chart, and the table behind it. It follows the theme, and is in the colours of paper when it is printed. */
export function Chart({ title, says, plot, height = "usual", onPick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const probes = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const newest = useRef(plot);
  newest.current = plot;
  const [row, setRow] = useState<number | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let isOver = false;
    import("./drawing.ts").then(
      ({ draw }) => {
        if (isOver || place.current === null || probes.current === null) return;
        drawing.current = draw({ place: place.current, probes: probes.current, at: setRow }, newest.current);
      },
      () => setFailed(true),
    );
    const recolour = (): void => drawing.current?.recolour();
    const looks = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")];
    for (const each of looks) each.addEventListener("change", recolour);
    return () => {
      isOver = true;
      for (const each of looks) each.removeEventListener("change", recolour);
      drawing.current?.close();
    };
  }, []);
  useEffect(() => drawing.current?.show(plot), [plot]);
  useSignalEffect(() => {
    // Its attribute is set by an effect of its own, which may come after this one.
    if (theme.value) queueMicrotask(() => drawing.current?.recolour());
  });
  return (
    <figure class={height === "low" ? "chart is-low" : "chart"}>
      <figcaption>
        {title}
        <small>{says}</small>
      </figcaption>
      {failed ? <p role="status">The picture could not be loaded; its numbers are in the table.</p> : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: by keys the rows of the table lead where points do */}
      <div
        class="chart-place"
        hidden={failed}
        ref={place}
        role="img"
        aria-label={`${title}. ${says}`}
        onClick={() => (row === null ? undefined : onPick?.(row))}
      />
      <p class="chart-said" aria-hidden="true">
        {row === null ? "" : rowText(plot, row)}
      </p>
      <ChartLegend plot={plot} />
      <ChartTable title={title} plot={plot} />
      <div class="chart-probes" ref={probes} aria-hidden="true">
        {["text", "line", ...Array.from({ length: SERIES_LOOKS }, (_, at) => String(at))].map((name) => (
          <span key={name} class={`chart-colour-${name}`} />
        ))}
      </div>
    </figure>
  );
}
