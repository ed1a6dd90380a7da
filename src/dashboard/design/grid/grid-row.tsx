// biome-ignore-all lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the grid has the focus and the keys
// biome-ignore-all lint/a11y/useSemanticElements: a table lays out all of its rows, and is no grid
import { Component } from "preact";
import type { GridColumn } from "./grid-column.ts";
import type { DrawCell, GridCell } from "./grid-parts.ts";

interface GridRowProps {
  /** Of the cell that the keys are at. */
  readonly id: string;
  readonly index: number;
  readonly rowKey: number;
  readonly columns: readonly GridColumn[];
  /** Column that the keys are at; -1 = they are at another row. */
  readonly active: number;
  readonly marked: boolean;
  readonly draw: DrawCell;
  readonly onCell: (cell: GridCell, opens: boolean) => void;
}

/** One row, drawn anew only where something of it is another: while rows pass by, those that stay cost nothing. */
export class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    return (Object.keys(next) as (keyof GridRowProps)[]).some((name) => next[name] !== this.props[name]);
  }

  override render({ id, index, rowKey, columns, active, marked, draw, onCell }: GridRowProps) {
    return (
      <div role="row" aria-rowindex={index + 2} aria-selected={marked} class={`grid-row ${active >= 0 ? "is-active" : ""} ${marked ? "is-chosen" : ""}`}>
        {columns.map((column, at) => (
          <div
            key={column.key}
            id={at === active ? id : undefined}
            role="gridcell"
            aria-colindex={at + 1}
            class={`grid-cell ${column.align === "end" ? "is-end" : ""} ${at === active ? "is-at" : ""}`}
            onClick={({ target }) => onCell({ row: index, column: at }, !isOwn(target))}
          >
            {draw(column, rowKey)}
          </div>
        ))}
      </div>
    );
  }
}

/** Whether a click is a link's or a button's own, or the end of choosing text. */
const isOwn = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest("a, button") !== null) || document.getSelection()?.isCollapsed === false;
