import type { Evaluation, Timeline } from "../../../api/run-answers.ts";
import type { Polled } from "../../../live/polled.ts";
import { usePolled } from "../../../live/use-polled.ts";

/** How a run came to what it is: samples over its time. It moves with time, not with rows alone. */
export function useCourse({ evaluation_id, edgewise: { seq, phase, vitals } }: Evaluation): Polled<Timeline> {
  return usePolled<Timeline>(`/evaluations/${evaluation_id}/timeline`, JSON.stringify([seq, phase, vitals.in_flight, vitals.waiting]));
}
