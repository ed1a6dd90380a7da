import type { Evaluation, Timeline } from "../../../api/run-answers.ts";
import type { Polled } from "../../../live/polled.ts";
import { usePolled } from "../../../live/use-polled.ts";

/** Whether anybody noted how a run went: of one that was pushed nobody did. */
export const isNoted = ({ edgewise: { origin } }: Evaluation): boolean => origin !== "pushed";

/** How a run came to what it is: samples over its time. It moves with time, not with rows alone. */
export function useCourse(run: Evaluation): Polled<Timeline> {
  const { evaluation_id, edgewise } = run;
  const { seq, phase, vitals } = edgewise;
  return usePolled<Timeline>(`/evaluations/${evaluation_id}/timeline`, isNoted(run) ? JSON.stringify([seq, phase, vitals.in_flight, vitals.waiting]) : null);
}
