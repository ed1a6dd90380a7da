import "./schedules.css";
import { useLocation, useRoute } from "preact-iso/router";
import { driftText } from "../../../report/schedules/drift-text.ts";
import { timingText } from "../../../report/schedules/timing-text.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { SCHEDULES, scheduleAddress } from "../../address/links.ts";
import type { Schedule, ScheduleAnswer } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { Due } from "../../design/due.tsx";
import { zoneHere } from "../../design/times.ts";
import { Facts } from "../../design/list/facts.tsx";
import { Part } from "../../design/list/part.tsx";
import { Looked } from "../../design/looked.tsx";
import { PageTitle } from "../../frame/page-title.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { useLook } from "../../live/use-look.ts";
import { ScheduleButtons } from "./schedule-buttons.tsx";
import { ScheduleEvents } from "./schedule-events.tsx";
import { ScheduleSettings } from "./schedule-settings.tsx";
import { addressOfView, type ScheduleView, scheduleViewOf } from "./schedule-view.ts";
import { NotServed } from "./schedules-page.tsx";
import { SeriesChart } from "./series-chart.tsx";
import { SeriesTable } from "./series-table.tsx";
import { evaluatedText, Standing } from "./standing.tsx";

/** One schedule: when it is due, how its runs went, what happened to it, and what may be done with it. */
export function SchedulePage() {
  const { link } = useDashboard();
  const { route } = useLocation();
  const name = useRoute().params.name ?? "";
  const look = useLook<ScheduleAnswer>(`/schedules/${encodeURIComponent(name)}`, {}, 5_000);
  useShortcuts([
    {
      keys: ["Escape"],
      does: "Back to the schedules",
      run: () => {
        route(link(SCHEDULES));
        return true;
      },
    },
  ]);
  return (
    <>
      <p class="crumbs">
        <a href={link(SCHEDULES)}>Schedules</a>
      </p>
      <PageTitle title={singleLine(name)} />
      <Looked look={look} what="this schedule is as it was">
        {({ data }) => <Shown schedule={data} take={(answer) => look.take(answer)} />}
      </Looked>
    </>
  );
}

function Shown({ schedule, take }: { readonly schedule: Schedule; readonly take: (answer: ScheduleAnswer) => void }) {
  const { link } = useDashboard();
  const { query, route } = useLocation();
  const view = scheduleViewOf(query);
  const go = (next: ScheduleView, replaces = true): void => route(link(scheduleAddress(schedule.name), addressOfView(next)), replaces);
  const { definition, next, served } = schedule;
  const now = Date.now();
  return (
    <>
      <p class="count">{evaluatedText(definition.eval)}</p>
      {served ? null : <NotServed />}
      <ScheduleButtons schedule={schedule} take={take} />
      <Facts
        facts={[
          ["State", <Standing key="state" schedule={schedule} />],
          ["When", singleLine(timingText(definition))],
          ["Drift", singleLine(driftText(schedule))],
        ]}
      />
      <Part
        title="Next due"
        aside={
          <span class="count">
            in your zone, {zoneHere()}
            {definition.time_zone === zoneHere() || definition.time_zone === "UTC" ? "" : `, in the schedule's, ${singleLine(definition.time_zone)},`} and in
            UTC
          </span>
        }
      >
        {next.length === 0 ? (
          <p>Nothing is due{schedule.paused === null ? "" : " while it is paused"}.</p>
        ) : (
          <ol class="dues">
            {next.map((at) => (
              <li key={at}>
                <Due at={at} now={now} zone={definition.time_zone} />
              </li>
            ))}
          </ol>
        )}
      </Part>
      <SeriesChart schedule={schedule} view={view} go={go} />
      <SeriesTable series={schedule.series} view={view} go={go} />
      <ScheduleEvents events={schedule.events} />
      <ScheduleSettings schedule={schedule} />
    </>
  );
}
