import { definitionSchema } from "../../schedules/definition-schema.ts";
import type { Operation } from "../operation.ts";
import { putQuery } from "../planned-change.ts";
import * as answers from "../response-schemas.ts";
import { emptyBody } from "../schemas.ts";
import * as schedules from "./schedule-schemas.ts";

const SCHEDULE = "/schedules/{schedule}";

/** Evaluations by the clock. */
export const SCHEDULE_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/schedules",
    id: "listSchedules",
    summary: "The schedules of a team",
    query: schedules.scheduleQuery,
    answers: { 200: schedules.scheduleList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: SCHEDULE,
    id: "getSchedule",
    summary: "A schedule, its next times, the series of its runs and what happened to it",
    query: schedules.scheduleQuery,
    answers: { 200: schedules.scheduleAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: SCHEDULE,
    id: "putSchedule",
    summary: "Make a schedule, or give it another definition; the same once more changes nothing. With dry_run what would change",
    query: putQuery,
    body: definitionSchema,
    answers: { 200: schedules.scheduleAnswer.or(schedules.schedulePlan) },
    errors: [403, 404, 413, 415, 422],
  },
  {
    method: "delete",
    path: SCHEDULE,
    id: "deleteSchedule",
    summary: "Delete a schedule; its runs stay",
    query: schedules.scheduleQuery,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
  {
    method: "post",
    path: `${SCHEDULE}/pause`,
    id: "pauseSchedule",
    summary: "Nothing is due until it is resumed; a run that is at work goes on",
    query: schedules.scheduleQuery,
    body: schedules.pauseBody,
    answers: { 200: schedules.scheduleAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${SCHEDULE}/resume`,
    id: "resumeSchedule",
    summary: "Go on with a paused schedule, from now on as its caller",
    query: schedules.scheduleQuery,
    body: emptyBody,
    answers: { 200: schedules.scheduleAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${SCHEDULE}/run`,
    id: "runSchedule",
    summary: "A run now, beside those of the due times; it waits for the one that is at work",
    query: schedules.scheduleQuery,
    headers: { "Idempotency-Key": "The same key is the same run. 1 to 255 characters." },
    body: emptyBody,
    answers: { 200: schedules.scheduleAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${SCHEDULE}/drift/reset`,
    id: "resetScheduleDrift",
    summary: "Begin the series of comparisons anew: the next first runs, or the named baseline as it is then, are what runs are held against",
    query: schedules.scheduleQuery,
    body: emptyBody,
    answers: { 200: schedules.scheduleAnswer },
    errors: [404, 413, 415, 422],
  },
];
