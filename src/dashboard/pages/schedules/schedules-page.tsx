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
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { useLook } from "../../live/use-look.ts";
import { CameTo, EntryReward } from "./came-to.tsx";
import { DriftMark } from "./drift-mark.tsx";
import { mainActsOf } from "./schedule-acts.ts";
import { evaluatedText, Standing } from "./standing.tsx";
import { useScheduleActs } from "./use-schedule-acts.tsx";

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
        {({ data }) =>
          data.length === 0 ? <NoSchedules /> : <Schedules schedules={data} isLoading={look.isLoading.value} again={() => void look.refresh()} />
        }
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

interface SchedulesProps {
  readonly schedules: readonly ListedSchedule[];
  readonly isLoading: boolean;
  /** Looks at once: something was done. */
  readonly again: () => void;
}

function Schedules({ schedules, isLoading, again }: SchedulesProps) {
  const { link } = useDashboard();
  const body = useRef<HTMLTableSectionElement>(null);
  const at = useRowKeys(body, "schedule");
  const { ask, said, question } = useScheduleActs(again);
  const byKey = (key: string): boolean => {
    const schedule = schedules[at()];
    return (
      schedule !== undefined &&
      ask(
        schedule.name,
        mainActsOf(schedule).find((act) => act.key === key),
      )
    );
  };
  useShortcuts([
    { keys: ["p"], does: "Pause or resume the schedule that has the focus", run: () => byKey("p") },
    { keys: ["b"], does: "Begin a run of it now", run: () => byKey("b") },
  ]);
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
    { name: "Next due", cell: ({ next: [first], definition }) => (first === undefined ? "nothing" : <Due at={first} now={now} zone={definition.time_zone} />) },
    { name: "State", cell: (schedule) => <Standing schedule={schedule} /> },
    { name: "Last run", cell: ({ last }) => (last === null ? "none yet" : <CameTo entry={last} />) },
    { name: "Reward", isNumber: true, cell: ({ last }) => (last === null ? null : <EntryReward entry={last} />) },
    { name: "Drift", cell: ({ last }) => (last === null ? null : <DriftMark drift={last.drift} />) },
    {
      name: "Do",
      cell: (schedule) => (
        <span class="row-actions">
          {mainActsOf(schedule).map((act) => (
            <button
              key={act.id}
              type="button"
              class="quiet"
              aria-label={`${act.name}: ${singleLine(schedule.name)}`}
              title={`${act.name} (${act.key})`}
              onClick={() => ask(schedule.name, act)}
            >
              {act.name}
            </button>
          ))}
        </span>
      ),
    },
  ];
  return (
    <>
      {schedules.every(({ served }) => served) ? null : <NotServed />}
      <p class="said" role="status">
        {said}
      </p>
      {question}
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
