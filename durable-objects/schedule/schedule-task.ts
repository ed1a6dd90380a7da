import type { Env } from "../../src/env.ts";
import { count } from "../../src/operations.ts";
import { isTeam } from "../../src/teams/team-name.ts";

/** Name of the queue, in wrangler.toml and locally. */
export const SCHEDULES_QUEUE = "schedules";

/** A message of the queue: create the run of a due time, or compare one that has ended with its baseline. Safe to repeat; one that is lost is sent again. */
export interface ScheduleTask {
  readonly protocol: 1;
  readonly team: string;
  readonly schedule: string;
  /** Unix milliseconds. */
  readonly due: number;
  /** The run to be compared; absent = one is to be created. Code that does not know it asks for the order of a due time that is over, and gets none. */
  readonly compare?: string;
}

export async function sendScheduleTask(env: Env, task: Omit<ScheduleTask, "protocol">): Promise<void> {
  count("queue_operations");
  await (env as Partial<Env>).SCHEDULES?.send({ protocol: 1, ...task } satisfies ScheduleTask);
}

export const isScheduleTask = (body: Partial<ScheduleTask> | null): body is ScheduleTask =>
  body?.protocol === 1 &&
  typeof body.team === "string" &&
  isTeam(body.team) &&
  typeof body.schedule === "string" &&
  Number.isSafeInteger(body.due) &&
  (body.compare === undefined || typeof body.compare === "string");
