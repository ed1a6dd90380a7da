import { useLocation } from "preact-iso/router";
import { singleLine } from "../../../../report/text/printable.ts";
import { SETTINGS } from "../../../address/links.ts";
import type { AuditPage } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { localText, utcText } from "../../../design/times.ts";
import { useLook } from "../../../live/use-look.ts";

type Entry = AuditPage["data"][number];

const PAGE_ENTRIES = 100;

const COLUMNS: readonly ListColumn<Entry>[] = [
  {
    name: "When",
    cell: ({ time }) => (
      <time dateTime={time} title={utcText(time)}>
        {localText(time)}
      </time>
    ),
  },
  {
    name: "Who",
    cell: ({ user, via, token }) => (
      <>
        {singleLine(user)}
        <small>
          {via}
          {token === null ? "" : ` ${singleLine(token)}`}
        </small>
      </>
    ),
  },
  { name: "Did", cell: ({ action }) => <code>{singleLine(action)}</code> },
  { name: "To", cell: ({ target }) => (target === null ? null : singleLine(target)) },
  { name: "From", cell: ({ origin }) => singleLine(origin) },
  {
    name: "Answer",
    cell: ({ status }) =>
      status === null ? "none: the service ended in the middle of it" : <span class={status < 400 ? undefined : "bad-text"}>{status}</span>,
  },
];

/** Who did what in the team, the newest first. */
export function AuditTab() {
  const { link } = useDashboard();
  const { query } = useLocation();
  const { before = "" } = query;
  const after = /^\d{1,15}$/.test(before) ? Number(before) : 0;
  const look = useLook<AuditPage>("/audit", { order: "desc", limit: PAGE_ENTRIES, ...(after === 0 ? {} : { after }) });
  return (
    <Part title="Audit log">
      <Looked look={look} what="this is as it was">
        {({ data, next, more }) => (
          <>
            {data.length === 0 ? <p role="status">Nothing was changed {after === 0 ? "yet" : "before that"}.</p> : null}
            {data.length === 0 ? null : <ListTable caption="Audit log" columns={COLUMNS} rows={data} keyOf={({ seq }) => String(seq)} />}
            <p class="pager">
              {after === 0 ? null : <a href={link(SETTINGS, { tab: "audit" })}>The newest</a>}
              {more ? <a href={link(SETTINGS, { tab: "audit", before: String(next) })}>Older entries</a> : null}
            </p>
          </>
        )}
      </Looked>
    </Part>
  );
}
