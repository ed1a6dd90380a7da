import { definitionSchema } from "../../monitors/definition-schema.ts";
import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import { emptyBody } from "../schemas.ts";
import * as monitors from "./monitor-schemas.ts";

const MONITOR = "/monitors/{monitor}";
const query = monitors.monitorQuery;

const change = (what: string, id: string, summary: string): Operation => ({
  method: "post",
  path: `${MONITOR}/${what}`,
  id,
  summary,
  query,
  body: emptyBody,
  answers: { 200: monitors.monitorAnswer },
  errors: [404, 413, 415, 422],
});

/** Jobs that somebody watches. */
export const MONITOR_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/monitors",
    id: "listMonitors",
    summary: "The monitors of a team",
    query,
    answers: { 200: monitors.monitorList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: MONITOR,
    id: "getMonitor",
    summary: "A monitor, what it last heard and what happened to it",
    query,
    answers: { 200: monitors.monitorAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: MONITOR,
    id: "putMonitor",
    summary: "Make a monitor, with the address that its job calls in this answer and nowhere else, or give it another interval",
    query,
    body: definitionSchema,
    answers: { 200: monitors.beatUrlAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: MONITOR,
    id: "deleteMonitor",
    summary: "Delete a monitor; its address leads nowhere then",
    query,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
  change("done", "endMonitor", "The job has ended in order: nothing is expected until the next beat"),
  {
    ...change("pause", "pauseMonitor", "Nothing is expected until it is resumed"),
    body: monitors.pauseBody,
  },
  change("resume", "resumeMonitor", "Watch on; silence counts from now"),
  {
    ...change("rotate", "rotateMonitor", "Another address in the place of the one there is; it is in this answer and nowhere else"),
    answers: { 200: monitors.beatUrlAnswer },
  },
];
