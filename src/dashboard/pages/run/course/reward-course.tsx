import { useMemo } from "preact/hooks";
import { panelNumber } from "../../../../report/text/format.ts";
import { intervalText } from "../../../../report/statistics/uncertainty.ts";
import type { Evaluation, Timeline } from "../../../api/run-answers.ts";
import { Chart } from "../../../design/chart/chart.tsx";
import { rewardPlot } from "./course-plots.ts";
import { NoCourse } from "./no-course.tsx";
import { useCourse } from "./use-course.ts";

/** The mean reward against time, with its band. */
export function RewardCourse({ run }: { readonly run: Evaluation }) {
  const polled = useCourse(run);
  const course = polled.value.value;
  const plot = useMemo(() => (course === null ? null : rewardPlot(course)), [course]);
  const title = "Reward so far";
  if (course === null || plot === null) return <NoCourse run={run} title={title} polled={polled} />;
  if (course.t.length < 2) return <p role="status">{title}: there is too little of it to draw.</p>;
  if (course.reward.every((each) => each === null))
    return <p role="status">{run.edgewise.settled ? `${title}: none, as no rollout was scored.` : `${title}: no example is done yet.`}</p>;
  return <Chart title={title} says={saysOf(course)} plot={plot} />;
}

/** Of a course in which at least one reward is known. */
function saysOf({ reward, lo, hi }: Timeline): string {
  const at = reward.findLastIndex((each) => each !== null);
  const [low, high] = [lo[at] ?? null, hi[at] ?? null];
  const sure = low === null || high === null ? "" : `, 95 % interval ${intervalText([low, high])}`;
  return `At last ${panelNumber(reward[at] ?? 0)}${sure}. The band is the interval at each time.`;
}
