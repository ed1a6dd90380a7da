import type { GridCell } from "../../design/grid/grid-parts.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";

interface GridKeys {
  readonly count: number;
  readonly columns: number;
  readonly active: GridCell | null;
  readonly page: () => number;
  readonly go: (cell: GridCell) => void;
  /** Beyond the last column, or the first; whether there was anything. */
  readonly beyond: (by: 1 | -1) => boolean;
}

/** The keys by which one moves in a grid. */
export function useGridKeys({ count, columns, active, page, go, beyond }: GridKeys): void {
  const to = (row: number, column = active?.column ?? 0): boolean => {
    if (count === 0) return false;
    go({ row: Math.max(0, Math.min(count - 1, row)), column: Math.max(0, Math.min(columns - 1, column)) });
    return true;
  };
  const at = active?.row ?? -1;
  const aside = (by: 1 | -1): boolean => {
    const column = (active?.column ?? (by === 1 ? -1 : 1)) + by;
    return ((column < 0 || column >= columns) && beyond(by)) || to(Math.max(0, at), column);
  };
  useShortcuts([
    { keys: ["j", "ArrowDown"], does: "Next row", run: () => to(at + 1) },
    { keys: ["k", "ArrowUp"], does: "Row before", run: () => to(at - 1) },
    { keys: ["ArrowRight"], does: "Next column", run: () => aside(1) },
    { keys: ["ArrowLeft"], does: "Column before", run: () => aside(-1) },
    { keys: ["PageDown"], does: "Next screen of rows", run: () => to(at + page()) },
    { keys: ["PageUp"], does: "Screen of rows before", run: () => to(at - page()) },
    { keys: ["g g", "Home"], does: "First row", run: () => to(0) },
    { keys: ["G", "End"], does: "Last row", run: () => to(count - 1) },
  ]);
}
