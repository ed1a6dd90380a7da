import type { Operation } from "../operation.ts";
import { row } from "../response-schemas.ts";
import { columnsQuery, messagesQuery, previews, previewsBody, searchQuery, rolloutMessages, rolloutOutline } from "./cell-schemas.ts";

const RUN = "/evaluations/{id}";
const ROLLOUT = `${RUN}/rollouts/{example}/{rollout}`;

export const CELL_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: `${RUN}/columns`,
    id: "getColumns",
    summary:
      "Numbers of all rollouts, of a running run too, without reading a row: lines head, block, open, end (docs/dashboard-api.md). With `after` those of examples that were done since",
    query: columnsQuery,
    answers: { 200: ["application/x-ndjson"] },
    errors: [404, 422],
  },
  {
    method: "post",
    path: `${RUN}/previews`,
    id: "getPreviews",
    summary: "Texts of some rollouts, clipped, and what else their numbers do not have: turns, seconds, fields of info. Changes nothing",
    body: previewsBody,
    answers: { 200: previews },
    errors: [404, 413, 415, 422],
  },
  {
    method: "get",
    path: `${RUN}/search`,
    id: "searchRollouts",
    summary:
      "Rollouts whose rows have a text or a value, as they are found: lines match, progress, end (docs/dashboard-api.md). Looks for 20 s at most; come back with `next`",
    query: searchQuery,
    answers: { 200: ["application/x-ndjson"] },
    errors: [404, 422],
  },
  {
    method: "get",
    path: ROLLOUT,
    id: "getRollout",
    summary:
      "The row of one rollout, by the place of its example in the results, from 0; as in results.jsonl, or of an example that is not complete with `open: true`",
    answers: { 200: row },
    errors: [404],
  },
  {
    method: "get",
    path: `${ROLLOUT}/outline`,
    id: "getRolloutOutline",
    summary: "The same without what is long: who says how much in what order, and all fields that are small",
    answers: { 200: rolloutOutline },
    errors: [404],
  },
  {
    method: "get",
    path: `${ROLLOUT}/messages`,
    id: "getRolloutMessages",
    summary: "Messages of a rollout by their numbers, whole",
    query: messagesQuery,
    answers: { 200: rolloutMessages },
    errors: [404, 422],
  },
];
