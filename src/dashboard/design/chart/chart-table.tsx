import { useState } from "preact/hooks";
import type { Plot } from "./plot.ts";
import { tableOf } from "./plot-table.ts";

/** Rows that are shown at first, and more with each click: ten thousand points are no ten thousand rows at once. */
const STEP = 200;

interface ChartTableProps {
  readonly title: string;
  readonly plot: Plot;
}

/** The numbers behind a chart; made when somebody opens it. */
export function ChartTable({ title, plot }: ChartTableProps) {
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(STEP);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Table</summary>
      {isOpen ? <Rows title={title} plot={plot} shown={shown} more={() => setShown(shown + STEP)} /> : null}
    </details>
  );
}

function Rows({ title, plot, shown, more }: ChartTableProps & { readonly shown: number; readonly more: () => void }) {
  const { heads, length, row } = tableOf(plot);
  const events = plot.kind === "points" ? [] : (plot.marks ?? []);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="chart-table" tabIndex={0} aria-label={`${title}: table`}>
      <table>
        <caption class="visually-hidden">{title}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.min(length, shown) }, (_, at) => {
            const { cells, href } = row(at);
            const [first, ...others] = cells;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
              <tr key={at}>
                <td>{href === null ? first : <a href={href}>{first}</a>}</td>
                {others.map((cell, index) => (
                  <td key={heads[index + 1]}>{cell}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {length > shown ? (
        <button type="button" onClick={more}>
          Show more rows
        </button>
      ) : null}
      {events.length === 0 ? null : (
        <ul>
          {events.map(({ at, name }) => (
            <li key={`${at} ${name}`}>
              {plot.x.text(at)}: {name}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
