import "./list.css";
import type { ComponentChildren, RefObject } from "preact";

export interface ListColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
}

interface ListTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly ListColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly isChosen?: (row: Row) => boolean;
  readonly isLoading?: boolean;
  /** Of `useRowKeys`, where the rows have links. */
  readonly body?: RefObject<HTMLTableSectionElement | null>;
}

/** Rows of a list; on a phone each is a card. */
export function ListTable<Row>({ caption, columns, rows, keyOf, isChosen, isLoading = false, body }: ListTableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <section class="scrolled" tabIndex={0} aria-label={`${caption}: table`}>
      <table class="rows" aria-busy={isLoading}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isChosen?.(row) ? "is-chosen" : undefined}>
              {columns.map(({ name, cell, isNumber = false }) => (
                <td key={name} data-name={name} class={isNumber ? "number" : undefined}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
