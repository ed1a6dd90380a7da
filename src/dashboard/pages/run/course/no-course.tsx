import type { Evaluation, Timeline } from "../../../api/run-answers.ts";
import type { Polled } from "../../../live/polled.ts";
import { isNoted } from "./use-course.ts";
import { PartFailure } from "../part-failure.tsx";

interface NoCourseProps {
  readonly run: Evaluation;
  readonly title: string;
  readonly polled: Polled<Timeline>;
}

/** Runs of before have no samples of their time; neither have those that were pushed. */
export function NoCourse({ run, title, polled }: NoCourseProps) {
  return !isNoted(run) || polled.problem.value?.status === 404 ? (
    <p class="count">{title}: not recorded of this run.</p>
  ) : (
    <PartFailure what={title} polled={polled} />
  );
}
