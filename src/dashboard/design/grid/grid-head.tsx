// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus and the keys
// biome-ignore-all lint/a11y/useSemanticElements: a table lays out all of its rows, and is no grid
import type { GridColumn } from "./grid-column.ts";

interface GridHeadProps {
  readonly columns: readonly GridColumn[];
  readonly sort: { readonly key: string; readonly order: "asc" | "desc" } | null;
  /** Column that the keys are at. */
  readonly active: number;
  readonly onSort: (key: string) => void;
}

/** What stands over the columns; by the pointer rows are put in the order of one, by the keys of the one they are at. */
export const GridHead = ({ columns, sort, active, onSort }: GridHeadProps) => (
  <div role="rowgroup" class="grid-head">
    <div role="row" aria-rowindex={1} class="grid-row">
      {columns.map(({ key, title, sorts, align }, at) => {
        const order = sort?.key === key ? sort.order : null;
        return (
          <div
            key={key}
            role="columnheader"
            aria-colindex={at + 1}
            aria-sort={order === null ? undefined : order === "asc" ? "ascending" : "descending"}
            class={`grid-cell ${align === "end" ? "is-end" : ""} ${at === active ? "is-at" : ""}`}
            title={sorts ? `${title}: sort (s)` : title}
          >
            {sorts ? (
              <button type="button" class="sorts" tabIndex={-1} onClick={() => onSort(key)}>
                {title}
                <span aria-hidden="true">{order === null ? "" : order === "asc" ? " ↑" : " ↓"}</span>
              </button>
            ) : (
              title
            )}
          </div>
        );
      })}
    </div>
  </div>
);
