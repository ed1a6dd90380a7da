import type { Timeline } from "../../../api/run-answers.ts";
import type { Polled } from "../../../live/polled.ts";
import { PartFailure } from "../part-failure.tsx";

interface NoCourseProps {
  readonly title: string;
  readonly polled: Polled<Timeline>;
}

/** Runs of before have no samples of their time; neither have those that were pushed. */
export function NoCourse({ title, polled }: NoCourseProps) {
  return polled.problem.value?.status === 404 ? <p class="count">{title}: not recorded of this run.</p> : <PartFailure what={title} polled={polled} />;
}
