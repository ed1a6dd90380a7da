import type { z } from "zod";
import { auditPage, auditQuery } from "./people/audit-schemas.ts";
import * as endpoints from "./endpoints/endpoint-schemas.ts";
import { limitAnswer, limitBody } from "./people/limit-schemas.ts";
import * as people from "./people/people-schemas.ts";
import * as answers from "./response-schemas.ts";
import * as requests from "./schemas.ts";

/** The routes under `/api/v1` as the OpenAPI document tells of them. A test holds this table and the mounted routes together. */
export interface Operation {
  readonly method: "get" | "put" | "post" | "patch" | "delete";
  /** Below `/api/v1`, parameters in braces. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodType | readonly string[];
  /** Schema of the JSON, or the media types of anything else. By status. */
  readonly answers: Readonly<Record<string, z.ZodType | readonly string[]>>;
  /** Statuses of `errorBody` beyond those that every operation has. */
  readonly errors: readonly number[];
}

const RUN = "/evaluations/{id}";
const NDJSON = "application/x-ndjson";

export const OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/hosted-evaluations",
    id: "createEvaluations",
    summary: "Create one run for each environment named",
    headers: { "Idempotency-Key": "The same key with the same body gives the runs of the first request; with another body a conflict. 1 to 255 characters." },
    body: requests.createBody,
    answers: { 200: answers.created },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: "/evaluation-configs",
    id: "createFromConfig",
    summary: "Create the runs of a config file: all of them, or none where anything is wrong",
    headers: { "Idempotency-Key": "As for createEvaluations." },
    body: requests.configBody,
    answers: { 200: answers.configCreated },
    errors: [404, 409, 413, 415, 422],
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
    summary: "Runs, newest first",
    query: requests.listQuery,
    answers: { 200: answers.evaluationList },
    errors: [404, 422],
  },
  { method: "get", path: RUN, id: "getEvaluation", summary: "One run", answers: { 200: answers.evaluation }, errors: [404] },
  { method: "delete", path: RUN, id: "deleteEvaluation", summary: "Delete a run that does not work", answers: { 200: answers.message }, errors: [404, 409] },
  {
    method: "post",
    path: `${RUN}/interrupt`,
    id: "interruptEvaluation",
    summary: "Suspend: open units are given up, committed ones stay, a resume goes on",
    body: requests.emptyBody,
    answers: { 200: answers.message },
    errors: [404, 409, 413, 415, 422],
  },
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
    method: "get",
    path: `${RUN}/samples`,
    id: "listSamples",
    summary: "Rows sorted by example, of a running run too",
    query: requests.samplesQuery,
    answers: { 200: answers.samplePage },
    errors: [404, 422],
  },
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
    method: "put",
    path: "/datasets/{sha256}",
    id: "putDataset",
    summary: "Store bytes under their own sha256 digest, at most 100 MB; other bytes are refused",
    body: ["application/octet-stream"],
    answers: { 200: answers.uploaded, 201: answers.uploaded },
    errors: [413, 422],
  },
  { method: "get", path: "/datasets/{sha256}", id: "getDataset", summary: "Whether an upload is there", answers: { 200: answers.upload }, errors: [404, 422] },
  {
    method: "get",
    path: "/environmentshub/{owner}/{name}/{version}",
    id: "getEnvironment",
    summary: "An environment of this service; `version` is @latest or @ and a version",
    answers: { 200: answers.environment },
    errors: [404],
  },
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
  {
    method: "get",
    path: "/endpoints",
    id: "listEndpoints",
    summary: "The endpoints that the service keeps for a team, by their ids",
    query: endpoints.endpointQuery,
    answers: { 200: endpoints.endpointList },
    errors: [404, 422],
  },
  {
    method: "post",
    path: "/endpoints",
    id: "addEndpoints",
    summary: "Add entries as if they were written behind those of a file: a repeated endpoint_id makes replicas; the same entry twice is one",
    query: endpoints.endpointQuery,
    body: endpoints.addBody,
    answers: { 200: endpoints.endpointList },
    errors: [404, 413, 415, 422],
  },
  {
    method: "get",
    path: "/endpoints/{endpoint}",
    id: "getEndpoint",
    summary: "One endpoint; a key is told by its name",
    query: endpoints.endpointQuery,
    answers: { 200: endpoints.endpointAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: "/endpoints/{endpoint}",
    id: "putEndpoint",
    summary: "Make an endpoint of these entries, or put them in the place of those it has",
    query: endpoints.endpointQuery,
    body: endpoints.replaceBody,
    answers: { 200: endpoints.endpointAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: "/endpoints/{endpoint}",
    id: "deleteEndpoint",
    summary: "Delete an endpoint; runs that were made with it keep what it named",
    query: endpoints.endpointQuery,
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
    summary: "Who did what in a team, oldest first; what somebody set about is noted before it is done",
    query: auditQuery,
    answers: { 200: auditPage },
    errors: [404, 422],
  },
  { method: "get", path: "/openapi.json", id: "getOpenApi", summary: "This document", answers: { 200: ["application/json"] }, errors: [] },
];
