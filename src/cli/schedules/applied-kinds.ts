import { alertPath } from "../alerts/alert-answer.ts";
import type { Kind, Planned } from "../applying/apply-plan.ts";
import { type PlannedSchedule, schedulePath } from "./schedule-answer.ts";

/** What a file of schedules is applied to. */

export const SCHEDULES: Kind<PlannedSchedule> = {
  path: schedulePath,
  called: (name) => name,
  more: ({ data }) => `, next ${data.next[0] ?? "never"}`,
  gone: "its runs stay",
  unsaid: "schedule",
};

export const ALERTS: Kind<Planned> = {
  path: alertPath,
  called: (name) => `alert ${name}`,
  more: ({ fields }) => (fields.includes("disabled") ? ", and enabled again" : ""),
  gone: "with its messages",
  unsaid: "alert",
};
