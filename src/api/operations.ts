import { COMPARISON_OPERATIONS } from "./comparisons/comparison-operations.ts";
import { auditPage, auditQuery } from "./people/audit-schemas.ts";
import { exportAnswer, exportQuery } from "./exports/export-schemas.ts";
import { BASELINE_OPERATIONS } from "./baselines/baseline-operations.ts";
import { BUDGET_OPERATIONS } from "./budgets/budget-operations.ts";
import { CELL_OPERATIONS } from "./cells/cell-operations.ts";
import { CACHE_OPERATIONS } from "./cache/cache-operations.ts";
import { ENDPOINT_LIMIT_OPERATIONS } from "./endpoint-limits/endpoint-limit-operations.ts";
import { FORECAST_OPERATIONS } from "./forecasts/forecast-operations.ts";
import { ENDPOINT_OPERATIONS } from "./endpoints/endpoint-operations.ts";
import * as named from "./named-datasets/named-dataset-schemas.ts";
import { limitAnswer, limitBody } from "./people/limit-schemas.ts";
import * as people from "./people/people-schemas.ts";
import { LIVE_OPERATIONS } from "./live/live-schemas.ts";
import { LINK_OPERATIONS } from "./links/link-operations.ts";
import { OPTION_OPERATIONS } from "./options/option-operations.ts";
import { PUBLISHED_OPERATIONS } from "./published/published-operations.ts";
import { PUSH_OPERATIONS } from "./pushes/push-operations.ts";
import { MONITOR_OPERATIONS } from "./monitors/monitor-operations.ts";
import { ALERT_OPERATIONS } from "./alerts/alert-operations.ts";
import { EVALUATOR_OPERATIONS } from "./evaluators/evaluator-operations.ts";
import { SCHEDULE_OPERATIONS } from "./schedules/schedule-operations.ts";
import { evaluationList, listQuery } from "./runs/list-schemas.ts";
import { SUMMARY_OPERATIONS } from "./summaries/summary-schemas.ts";
import { STEERING_OPERATIONS } from "./runs/steering-operations.ts";
import { SECRET_OPERATIONS } from "./secrets/secret-operations.ts";
import type { Operation } from "./operation.ts";
import * as answers from "./response-schemas.ts";
import * as requests from "./schemas.ts";

const RUN = "/evaluations/{id}";
const NDJSON = "application/x-ndjson";

/** A test holds this table and the mounted routes together. */
export const OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/hosted-evaluations",
    id: "createEvaluations",
    summary: "Create one run for each environment named",
    headers: { "Idempotency-Key": "The same key with the same body gives the runs of the first request; with another body a conflict. 1 to 255 characters." },
    body: requests.createBody,
    answers: { 200: answers.created },
    errors: [402, 404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: "/evaluation-configs",
    id: "createFromConfig",
    summary: "Create the runs of a config file: all of them, or none where anything is wrong",
    headers: { "Idempotency-Key": "As for createEvaluations." },
    body: requests.configBody,
    answers: { 200: answers.configCreated },
    errors: [402, 404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: "/evaluation-settings",
    id: "settingsOfCreation",
    summary: "What a creation would measure, defaults filled in; creates nothing",
    body: requests.createBody,
    answers: { 200: answers.settingsOfCreation },
    errors: [404, 413, 415, 422],
  },
  ...OPTION_OPERATIONS,
  ...FORECAST_OPERATIONS,
  ...LIVE_OPERATIONS,
  {
    method: "patch",
    path: "/hosted-evaluations/{id}/cancel",
    id: "cancelEvaluation",
    summary: "Nothing new begins, open units finish, the results are written",
    answers: { 200: answers.message },
    errors: [404, 409],
  },
  {
    method: "get",
    path: "/hosted-evaluations/{id}/logs",
    id: "getLogs",
    summary: "The newest lines of the run's log, as the prime client polls them",
    answers: { 200: answers.runLogs },
    errors: [404],
  },
  {
    method: "get",
    path: "/evaluations/",
    id: "listEvaluations",
    summary: "Runs, the newest first unless `sort` and `order` say otherwise",
    query: listQuery,
    answers: { 200: evaluationList },
    errors: [404, 422],
  },
  { method: "get", path: RUN, id: "getEvaluation", summary: "One run", answers: { 200: answers.evaluation }, errors: [404] },
  { method: "delete", path: RUN, id: "deleteEvaluation", summary: "Delete a run that does not work", answers: { 200: answers.message }, errors: [404, 409] },
  {
    method: "put",
    path: `${RUN}/keep`,
    id: "keepEvaluation",
    summary: "Keep a run, however old: the team's retention_days does not remove it",
    body: requests.emptyBody,
    answers: { 200: answers.message },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "delete",
    path: `${RUN}/keep`,
    id: "unkeepEvaluation",
    summary: "Let the time of a kept run go on",
    answers: { 200: answers.message },
    errors: [404, 409],
  },
  {
    method: "post",
    path: `${RUN}/interrupt`,
    id: "interruptEvaluation",
    summary: "Suspend: open units are given up, committed ones stay, a resume goes on",
    body: requests.emptyBody,
    answers: { 200: answers.message },
    errors: [404, 409, 413, 415, 422],
  },
  ...STEERING_OPERATIONS,
  {
    method: "post",
    path: `${RUN}/resume`,
    id: "resumeEvaluation",
    summary: "Go on, grow, and run again what ended in an infrastructure error",
    body: requests.resumeBody,
    answers: { 200: answers.resumed },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "put",
    path: `${RUN}/link`,
    id: "shareEvaluation",
    summary: "Make the link by which anybody reads the run: page, samples and files, and nothing else. A former link ends",
    body: requests.emptyBody,
    answers: { 200: answers.link },
    errors: [404, 413, 415, 422],
  },
  { method: "delete", path: `${RUN}/link`, id: "unshareEvaluation", summary: "Take the link back", answers: { 200: answers.link }, errors: [404] },
  {
    method: "get",
    path: `${RUN}/samples`,
    id: "listSamples",
    summary: "Rows sorted by example, of a running run too",
    query: requests.samplesQuery,
    answers: { 200: answers.samplePage },
    errors: [404, 422],
  },
  ...CELL_OPERATIONS,
  ...SUMMARY_OPERATIONS,
  {
    method: "get",
    path: `${RUN}/rows`,
    id: "getRows",
    summary:
      "Rows in the order of their commits; X-Edgewise-Next is the next `after`, X-Edgewise-More is 1 when there are more; X-Edgewise-After-Mark and X-Edgewise-Next-Mark tell the history up to there from that of another copy of the run",
    query: requests.rowsQuery,
    answers: { 200: [NDJSON] },
    errors: [404, 422],
  },
  {
    method: "get",
    path: `${RUN}/events`,
    id: "streamEvents",
    summary: "Server-sent events: log and commit with ids, progress and end with the run's state. A stream ends after 25 s; come back with the last id",
    query: requests.eventsQuery,
    headers: { "Last-Event-ID": "Events after this one; wins over `after`." },
    answers: { 200: ["text/event-stream"] },
    errors: [404, 422],
  },
  {
    method: "get",
    path: `${RUN}/files/{file}`,
    id: "getFile",
    summary:
      "A file of the results folder: the sorted rows of a settled run (ranges work), the summary in verifiers' form, the log; of that with `after` a page, X-Edgewise-Next is the next `after`, X-Edgewise-More is 1 when there are more",
    query: requests.logQuery,
    headers: { Range: "Bytes wanted of results.jsonl." },
    answers: { 200: [NDJSON, "application/json", "text/plain"], 206: [NDJSON] },
    errors: [404, 409, 416, 422],
  },
  {
    method: "get",
    path: `${RUN}/export`,
    id: "exportRun",
    summary:
      "The rows of a settled run with typed columns: csv and jsonl as they are read; parquet is made once, 202 says that it is being made, and 200 names its files",
    query: exportQuery,
    answers: { 200: exportAnswer, 202: exportAnswer },
    errors: [404, 409, 422],
  },
  {
    method: "get",
    path: `${RUN}/export/{path}`,
    id: "getExportFile",
    summary: "A file of the Parquet export, by its path: README.md, data/train-00000-of-00001.parquet (ranges work)",
    headers: { Range: "Bytes wanted." },
    answers: { 200: ["application/vnd.apache.parquet", "text/markdown"], 206: ["application/vnd.apache.parquet", "text/markdown"] },
    errors: [404, 409, 416],
  },
  ...COMPARISON_OPERATIONS,
  {
    method: "put",
    path: "/datasets/{sha256}",
    id: "putDataset",
    summary: "Store bytes under their own sha256 digest, at most 100 MB; other bytes are refused",
    body: ["application/octet-stream"],
    answers: { 200: answers.uploaded, 201: answers.uploaded },
    errors: [413, 422],
  },
  { method: "get", path: "/datasets/{sha256}", id: "getDataset", summary: "Whether an upload is there", answers: { 200: answers.upload }, errors: [404, 422] },
  ...PUBLISHED_OPERATIONS,
  ...LINK_OPERATIONS,
  {
    method: "get",
    path: "/user/whoami",
    id: "whoami",
    summary: "The user behind the token; with teamId one of the user's teams",
    query: requests.whoamiQuery,
    answers: { 200: answers.whoami },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/user/teams",
    id: "listOwnTeams",
    summary: "The teams of the caller, the usual one first",
    query: requests.teamsQuery,
    answers: { 200: answers.teams },
    errors: [422],
  },
  ...PUSH_OPERATIONS,
  ...SECRET_OPERATIONS,
  {
    method: "get",
    path: "/tokens",
    id: "listTokens",
    summary: "Tokens that are or were good in a team, the newest first; never their texts",
    query: people.teamQuery,
    answers: { 200: people.tokenList },
    errors: [404, 422],
  },
  {
    method: "post",
    path: "/tokens",
    id: "createToken",
    summary: "Make a token; its text is in this answer and nowhere else",
    body: people.tokenBody,
    answers: { 201: people.tokenCreated },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: "/tokens/{token}",
    id: "revokeToken",
    summary: "Revoke a token in the caller's teams; for the owner everywhere",
    answers: { 200: people.tokenAnswer },
    errors: [404],
  },
  ...ENDPOINT_OPERATIONS,
  ...ENDPOINT_LIMIT_OPERATIONS,
  ...BUDGET_OPERATIONS,
  ...CACHE_OPERATIONS,
  ...BASELINE_OPERATIONS,
  ...SCHEDULE_OPERATIONS,
  ...MONITOR_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...EVALUATOR_OPERATIONS,
  {
    method: "get",
    path: "/named-datasets",
    id: "listNamedDatasets",
    summary: "The data sets that a team has by name, each with its newest files",
    query: named.namedDatasetQuery,
    answers: { 200: named.namedDatasetList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/named-datasets/{dataset}",
    id: "getNamedDataset",
    summary: "One data set with the revisions that are kept",
    query: named.namedDatasetQuery,
    answers: { 200: named.namedDatasetAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: "/named-datasets/{dataset}",
    id: "putNamedDataset",
    summary: "Give uploads a name: they are the newest revision of the data set; the same files once more change nothing",
    query: named.namedDatasetQuery,
    body: named.namedDatasetBody,
    answers: { 200: named.namedDatasetAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: "/named-datasets/{dataset}",
    id: "deleteNamedDataset",
    summary: "Delete a data set with its revisions; runs that read it keep what they read",
    query: named.namedDatasetQuery,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/teams",
    id: "listTeams",
    summary: "Teams that the caller administers, with their members",
    answers: { 200: people.teamList },
    errors: [],
  },
  {
    method: "put",
    path: "/teams/{team}",
    id: "createTeam",
    summary: "Make a team, if it is not there; the owner's",
    body: requests.emptyBody,
    answers: { 200: people.teamAnswer },
    errors: [413, 415, 422],
  },
  {
    method: "put",
    path: "/teams/{team}/members/{user}",
    id: "putMember",
    summary: "Add a user to a team, or change what the user may do; the owner's",
    body: people.memberBody,
    answers: { 200: people.teamAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: "/teams/{team}/members/{user}",
    id: "removeMember",
    summary: "Take a user out of a team: tokens of theirs are no longer good there; the owner's",
    answers: { 200: people.teamAnswer },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/teams/{team}/limits",
    id: "getLimits",
    summary: "What a team of the caller's may use, and what it does",
    answers: { 200: limitAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: "/teams/{team}/limits",
    id: "setLimits",
    summary: "Change what a team may use: the owner's; retention_days also of who administers the team. What is left out stays",
    body: limitBody,
    answers: { 200: limitAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "get",
    path: "/audit",
    id: "listAudit",
    summary: "Who did what in a team, oldest or newest first; what somebody set about is noted before it is done",
    query: auditQuery,
    answers: { 200: auditPage },
    errors: [404, 422],
  },
  { method: "get", path: "/openapi.json", id: "getOpenApi", summary: "This document", answers: { 200: ["application/json"] }, errors: [] },
];
