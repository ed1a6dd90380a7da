import { singleLine } from "../../../../report/text/printable.ts";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Moment } from "../../../design/moment.tsx";

/** Something that is given under a name: a secret, whose value nobody is shown, or a variable. */
export interface GivenRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly updatedAt: string;
}

interface GivenTableProps<Row> {
  readonly caption: string;
  readonly kind: "Secret" | "Variable";
  readonly rows: readonly Row[];
  /** Between the name and when it was changed. */
  readonly columns: readonly ListColumn<Row>[];
  /** What may be done with a row. */
  readonly act?: ListColumn<Row>;
}

/** Secrets or variables by their names, with what each is for and when it was changed. */
export function GivenTable<Row extends GivenRow>({ caption, kind, rows, columns, act }: GivenTableProps<Row>) {
  const now = Date.now();
  const all: readonly ListColumn<Row>[] = [
    {
      name: kind,
      cell: ({ name, description }) => (
        <>
          <code>{singleLine(name)}</code>
          {description === null ? null : <small>{singleLine(description)}</small>}
        </>
      ),
    },
    ...columns,
    { name: "Changed", cell: ({ updatedAt }) => <Moment at={updatedAt} now={now} /> },
    ...(act === undefined ? [] : [act]),
  ];
  return <ListTable caption={caption} columns={all} rows={rows} keyOf={({ id }) => id} />;
}
