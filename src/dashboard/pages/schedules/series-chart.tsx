import { useMemo } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { runAddress } from "../../address/links.ts";
import type { Schedule } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { Chart } from "../../design/chart/chart.tsx";
import { Part } from "../../design/list/part.tsx";
import { MEASURES, type ScheduleView, SPANS } from "./schedule-view.ts";
import { seriesPlot } from "./series-plot.ts";

const NAMES = { reward: "Mean reward", difference: "Difference to the baseline" } as const;

interface SeriesChartProps {
  readonly schedule: Schedule;
  readonly view: ScheduleView;
  readonly go: (next: ScheduleView) => void;
}

/** The runs of a schedule against time, each with its interval, and what changed between them. */
export function SeriesChart({ schedule, view, go }: SeriesChartProps) {
  const { link } = useDashboard();
  const { route } = useLocation();
  const { measure, span } = view;
  const shown = useMemo(() => seriesPlot(schedule, { measure, span }), [schedule, measure, span]);
  return (
    <Part
      title="Series"
      aside={
        <>
          <label class="quiet-choice">
            <span class="visually-hidden">Shown</span>
            <select
              value={measure}
              onChange={({ currentTarget }) => go({ ...view, measure: MEASURES.find((each) => each === currentTarget.value) ?? "reward" })}
            >
              {MEASURES.map((each) => (
                <option key={each} value={each}>
                  {NAMES[each]}
                </option>
              ))}
            </select>
          </label>
          <label class="quiet-choice">
            <span class="visually-hidden">Runs</span>
            <select
              value={String(span)}
              onChange={({ currentTarget }) => go({ ...view, span: SPANS.find((each) => String(each) === currentTarget.value) ?? null })}
            >
              {SPANS.map((each) => (
                <option key={each} value={String(each)}>
                  {each === null ? "All runs" : `The newest ${each}`}
                </option>
              ))}
            </select>
          </label>
        </>
      }
    >
      {shown === null ? (
        <p role="status">{measure === "reward" ? "No run has a reward yet." : "No run was compared with a baseline yet."}</p>
      ) : (
        <Chart
          title={NAMES[measure]}
          says={shown.says}
          plot={shown.plot}
          onPick={(row) => {
            const run = shown.runs[row];
            if (run !== undefined) route(link(runAddress(run)));
          }}
        />
      )}
    </Part>
  );
}
