import { alertSchema } from "../../alerts/alert-definition.ts";
import type { Operation } from "../operation.ts";
import { putQuery } from "../planned-change.ts";
import * as answers from "../response-schemas.ts";
import { emptyBody } from "../schemas.ts";
import * as alerts from "./alert-schemas.ts";

const ALERT = "/alerts/{alert}";

/** Who is told what happens to runs, schedules and monitors. */
export const ALERT_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/alerts",
    id: "listAlerts",
    summary: "The alerts of a team",
    query: alerts.alertQuery,
    answers: { 200: alerts.alertList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: ALERT,
    id: "getAlert",
    summary: "An alert, and the newest message of it",
    query: alerts.alertQuery,
    answers: { 200: alerts.alertAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: ALERT,
    id: "putAlert",
    summary: "Make an alert, or give it another definition, and enable it; the same once more changes nothing. With dry_run what would change",
    query: putQuery,
    body: alertSchema,
    answers: { 200: alerts.alertPutAnswer },
    errors: [403, 404, 409, 413, 415, 422],
  },
  {
    method: "delete",
    path: ALERT,
    id: "deleteAlert",
    summary: "Delete an alert and its messages",
    query: alerts.alertQuery,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
  {
    method: "post",
    path: `${ALERT}/test`,
    id: "testAlert",
    summary: "Send a message that says that it is a test",
    query: alerts.alertQuery,
    headers: { "Idempotency-Key": "The same key is the same message. 1 to 255 characters." },
    body: emptyBody,
    answers: { 200: alerts.deliveryAnswer },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: `${ALERT}/rotate`,
    id: "rotateAlertSecret",
    summary: "Another signing secret; for a day messages are signed with both",
    query: alerts.alertQuery,
    body: emptyBody,
    answers: { 200: alerts.rotateAnswer },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "get",
    path: `${ALERT}/messages`,
    id: "listAlertMessages",
    summary: "Messages of an alert and what became of them, the newest first",
    query: alerts.logQuery,
    answers: { 200: alerts.deliveryList },
    errors: [404, 422],
  },
  {
    method: "post",
    path: `${ALERT}/messages/{delivery}/resend`,
    id: "resendAlertMessage",
    summary: "Send a message once more, with its id",
    query: alerts.alertQuery,
    body: emptyBody,
    answers: { 200: alerts.deliveryAnswer },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: "/evaluations/{id}/gate-failed",
    id: "tellGateFailed",
    summary: "Tell alerts that a run did not pass a gate, which whoever asks has judged",
    body: alerts.gateBody,
    answers: { 200: answers.message },
    errors: [404, 413, 415, 422],
  },
];
