import type { ComponentChildren } from "preact";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { useLook } from "../../../live/use-look.ts";

interface ReadListProps<Row> {
  readonly title: string;
  /** Below `/api/v1`; answers with its rows under `data`. */
  readonly path: string;
  readonly columns: readonly ListColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  /** What is said where there is none, with the command that begins one. */
  readonly none: ComponentChildren;
}

/** A part of the settings that is looked at, and changed by commands. */
export function ReadList<Row>({ title, path, columns, keyOf, none }: ReadListProps<Row>) {
  const look = useLook<{ readonly data: readonly Row[] }>(path);
  return (
    <Part title={title}>
      <Looked look={look} what="this is as it was">
        {({ data }) => (data.length === 0 ? <p role="status">{none}</p> : <ListTable caption={title} columns={columns} rows={data} keyOf={keyOf} />)}
      </Looked>
    </Part>
  );
}
