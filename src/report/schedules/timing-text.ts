import type { ScheduleDefinition } from "../../schedules/definition.ts";

/** When something is due: `0 3 * * * (Europe/Berlin), jitter 10m`. */
export const timingText = ({ cron, every, time_zone, jitter }: Pick<ScheduleDefinition, "cron" | "every" | "time_zone" | "jitter">): string =>
  `${cron === undefined ? `every ${every}` : `${cron} (${time_zone})`}${jitter === undefined ? "" : `, jitter ${jitter}`}`;
