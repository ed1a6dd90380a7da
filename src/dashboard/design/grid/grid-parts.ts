import type { ComponentChildren } from "preact";
import type { GridColumn } from "./grid-column.ts";

export interface GridCell {
  /** Number of the row in the list, and of the column, from 0. */
  readonly row: number;
  readonly column: number;
}

/** What draws a cell: another function wherever cells may say something else. `key`: of its row. */
export type DrawCell = (column: GridColumn, key: number) => ComponentChildren;

export interface GridHandle {
  focus(): void;
  isFocused(): boolean;
  reveal(row: number, where: "nearest" | "center"): void;
  /** Pixels above what is seen. */
  top(): number;
  toTop(pixels: number): void;
  /** Rows that fit. */
  page(): number;
}
