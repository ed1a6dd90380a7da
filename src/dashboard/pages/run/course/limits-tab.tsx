import { useMemo } from "preact/hooks";
import { limitText } from "../../../../endpoint-limits/bound-text.ts";
import { inFlightText, waitingText } from "../../../../report/progress/standing-text.ts";
import { formatSeconds, thousands } from "../../../../report/text/format.ts";
import { batchesText } from "../../../../report/text/batch-text.ts";
import type { Evaluation, Timeline } from "../../../api/run-answers.ts";
import { Chart } from "../../../design/chart/chart.tsx";
import { type BoundSpan, boundName, boundSpans } from "./bound-spans.ts";
import { concurrencyPlot, donePlot } from "./course-plots.ts";
import { Facts } from "../../../design/list/facts.tsx";
import type { Said } from "../fields.tsx";
import { NoCourse } from "./no-course.tsx";
import { SetConcurrency } from "./set-concurrency.tsx";
import { useCourse } from "./use-course.ts";
import type { RunStore } from "../run-store.ts";
import { useTick } from "../use-tick.ts";

interface LimitsTabProps {
  readonly run: Evaluation;
  readonly store: RunStore;
}

/** What bounds a run: requests at once over its time, and what they wait for. */
export function LimitsTab({ run, store }: LimitsTabProps) {
  const { edgewise } = run;
  const polled = useCourse(run);
  const course = polled.value.value;
  useTick(!edgewise.settled);
  return (
    <>
      <Facts facts={nowFields(run)} />
      {edgewise.settled || edgewise.suspended || edgewise.origin === "pushed" ? null : <SetConcurrency run={run} store={store} />}
      {course === null ? <NoCourse run={run} title="Requests at once" polled={polled} /> : <Course course={course} />}
    </>
  );
}

function nowFields({ edgewise: state }: Evaluation): readonly Said[] {
  const { vitals, max_concurrent, executors, grants, lapses, batch, settled } = state;
  const waits = waitingText(vitals, Date.now());
  const sent = batch === undefined ? null : batchesText(batch);
  return [
    ["At most", max_concurrent <= 0 ? "no limit of its own" : limitText("concurrent", max_concurrent)],
    ...(settled ? [] : ([["Now", inFlightText(vitals)]] as const)),
    ...(waits === null ? [] : [["Waiting", waits] as const]),
    ["Sent again", `${thousands(vitals.retries)} requests`],
    ["Executors", settled ? "none: the run is over" : thousands(executors)],
    ["Grants", `${thousands(grants)}, of which ${thousands(lapses)} lapsed`],
    ...(sent === null ? [] : [["Batches", sent] as const]),
  ];
}

function Course({ course }: { readonly course: Timeline }) {
  const plots = useMemo(() => ({ requests: concurrencyPlot(course), done: donePlot(course) }), [course]);
  const spans = boundSpans(course);
  if (course.t.length < 2) return <p role="status">There is too little of its time to draw.</p>;
  const most = Math.max(0, ...course.in_flight.filter((each) => each !== null));
  return (
    <div class="run-columns">
      <Chart
        title="Requests at once"
        says={`A sample each ${formatSeconds(course.step_ms / 1_000)} at most; in them up to ${thousands(most)} in flight.${spans.length === 0 ? "" : " Hatched: requests waited."}`}
        plot={plots.requests}
      />
      <Chart title="Rollouts that are done" says={`${thousands(course.done.at(-1) ?? 0)} at last.`} plot={plots.done} />
      <Bounds spans={spans} />
    </div>
  );
}

/** What requests waited for, and when. */
function Bounds({ spans }: { readonly spans: readonly BoundSpan[] }) {
  if (spans.length === 0) return <p>No request waited for a limit.</p>;
  const time = (at: number): string => new Date(at).toISOString().slice(11, 19);
  return (
    <table>
      <caption>What requests waited for</caption>
      <thead>
        <tr>
          <th scope="col">From (UTC)</th>
          <th scope="col">To</th>
          <th scope="col">For</th>
          <th scope="col">Waiting at most</th>
        </tr>
      </thead>
      <tbody>
        {spans.map((span) => (
          <tr key={span.from}>
            <td>{time(span.from)}</td>
            <td>{time(span.to)}</td>
            <td>{boundName(span)}</td>
            <td class="number">{thousands(span.waiting)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
