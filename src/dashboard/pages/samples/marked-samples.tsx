import { CopyButton } from "../../design/copy/copy-button.tsx";
import type { ColumnTable } from "../../samples/columns/column-table.ts";

interface MarkedSamplesProps {
  readonly table: ColumnTable;
  readonly marked: ReadonlySet<number>;
  readonly clear: () => void;
}

/** Rows that were marked while reading, to be told somebody else. */
export function MarkedSamples({ table, marked, clear }: MarkedSamplesProps) {
  if (marked.size === 0) return null;
  const named = [...marked].toSorted((a, b) => a - b).map((row) => ({ example_id: table.exampleId(table.exampleOf(row)), ...table.placeOf(row) }));
  return (
    <section class="chosen" aria-label="Marked rows">
      <p role="status">
        {marked.size} {marked.size === 1 ? "row" : "rows"} marked.
      </p>
      <CopyButton text={named.map((each) => JSON.stringify(each)).join("\n")} name="Copy which they are" />
      <button type="button" class="quiet" onClick={clear}>
        Unmark all
      </button>
    </section>
  );
}
