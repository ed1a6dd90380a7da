/** What alerts may be about. */
export const OCCURRENCE_TYPES = [
  "run.completed",
  "run.failed",
  "run.stalled",
  "schedule.missed",
  "drift",
  "gate.failed",
  "heartbeat.lost",
  "heartbeat.back",
] as const;
export type OccurrenceType = (typeof OCCURRENCE_TYPES)[number];
