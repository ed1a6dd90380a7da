import { useRef } from "preact/hooks";
import { timingText } from "../../../report/schedules/timing-text.ts";
import { thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { scheduleAddress } from "../../address/links.ts";
import type { ListedSchedule, ScheduleList } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { Due } from "../../design/due.tsx";
import { type ListColumn, ListTable } from "../../design/list/list-table.tsx";
import { Looked } from "../../design/looked.tsx";
import { Notice } from "../../design/notice.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";
import { useLook } from "../../live/use-look.ts";
import { CameTo, EntryReward } from "./came-to.tsx";
import { DriftMark } from "./drift-mark.tsx";
import { evaluatedText, Standing } from "./standing.tsx";

/** Evaluations by the clock: when each is due next, and what the last one came to. */
export function SchedulesPage() {
  const look = useLook<ScheduleList>("/schedules");
  const schedules = look.value.value?.data;
  return (
    <>
      <div class="page-head">
        <PageTitle title="Schedules" />
        <p class="count" role="status">
          {schedules === undefined ? "" : `${thousands(schedules.length)} ${schedules.length === 1 ? "schedule" : "schedules"}`}
        </p>
      </div>
      <Looked look={look} what="these schedules are as they were">
        {({ data }) => (data.length === 0 ? <NoSchedules /> : <Schedules schedules={data} isLoading={look.isLoading.value} />)}
      </Looked>
    </>
  );
}

const NoSchedules = () => (
  <Notice role="status" tone="plain" title="No schedule yet.">
    <p>A schedule makes a run of each due time, and tells when the scores drift. In a terminal:</p>
    <pre>npx edgewise schedule add nightly arithmetic --provider embedded -n 20 --cron "0 3 * * *"</pre>
  </Notice>
);

function Schedules({ schedules, isLoading }: { readonly schedules: readonly ListedSchedule[]; readonly isLoading: boolean }) {
  const { link } = useDashboard();
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body, "schedule");
  const now = Date.now();
  const columns: readonly ListColumn<ListedSchedule>[] = [
    {
      name: "Schedule",
      cell: ({ name, definition }) => (
        <>
          <a class="row-link" href={link(scheduleAddress(name))}>
            {singleLine(name)}
          </a>
          <small>{evaluatedText(definition.eval)}</small>
        </>
      ),
    },
    { name: "When", cell: ({ definition }) => singleLine(timingText(definition)) },
    { name: "Next due", cell: ({ next: [first] }) => (first === undefined ? "nothing" : <Due at={first} now={now} />) },
    { name: "State", cell: (schedule) => <Standing schedule={schedule} /> },
    { name: "Last run", cell: ({ last }) => (last === null ? "none yet" : <CameTo entry={last} />) },
    { name: "Reward", isNumber: true, cell: ({ last }) => (last === null ? null : <EntryReward entry={last} />) },
    { name: "Drift", cell: ({ last }) => (last === null ? null : <DriftMark drift={last.drift} />) },
  ];
  return (
    <>
      {schedules.every(({ served }) => served) ? null : <NotServed />}
      <ListTable caption="Schedules" columns={columns} rows={schedules} keyOf={({ name }) => name} isLoading={isLoading} body={body} />
    </>
  );
}

/** A service that a command started for itself ends with it. */
export const NotServed = () => (
  <Notice role="status" tone="warning" title="This service begins no run of a schedule: it ends with the command that started it.">
    <p>
      <code>npx edgewise serve</code> keeps them.
    </p>
  </Notice>
);
