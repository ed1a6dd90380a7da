import { useState } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import { runAddress } from "../../address/links.ts";
import { useDashboard } from "../../context.ts";
import { detailText } from "../../../report/schedules/detail-text.ts";
import type { ScheduleEvent } from "../../api/schedule-answers.ts";
import { localText, utcText, withLocalMoments } from "../../design/times.ts";
import { ListTable } from "../../design/list/list-table.tsx";
import { Part } from "../../design/list/part.tsx";

const STEP = 20;

/** What an event tells; its run as a link. */
function Detail({ detail: { run_id, ...rest } }: Pick<ScheduleEvent, "detail">) {
  const { link } = useDashboard();
  return (
    <>
      {typeof run_id === "string" ? (
        <a href={link(runAddress(run_id))}>
          <code>{singleLine(run_id)}</code>
        </a>
      ) : null}{" "}
      {detailText(withLocalMoments(rest) as typeof rest)}
    </>
  );
}

/** What happened to a schedule, the newest first. */
export function ScheduleEvents({ events }: { readonly events: readonly ScheduleEvent[] }) {
  const [shown, setShown] = useState(STEP);
  return (
    <Part title="Events">
      {events.length === 0 ? (
        <p>Nothing has happened yet.</p>
      ) : (
        <ListTable
          caption="Events of the schedule"
          columns={[
            {
              name: "When",
              cell: ({ at }) => (
                <time dateTime={at} title={utcText(at)}>
                  {localText(at)}
                </time>
              ),
            },
            { name: "What", cell: ({ type }) => <code>{type}</code> },
            { name: "Details", cell: ({ detail }) => <Detail detail={detail} /> },
          ]}
          rows={events.slice(0, shown)}
          keyOf={({ seq }) => String(seq)}
        />
      )}
      {events.length > shown ? (
        <button type="button" onClick={() => setShown(shown + STEP)}>
          Show more
        </button>
      ) : null}
    </Part>
  );
}
