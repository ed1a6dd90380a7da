import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import * as limits from "./endpoint-limit-schemas.ts";

/** What endpoints bear for the keys of a team. */
export const ENDPOINT_LIMIT_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/limits",
    id: "listLimiters",
    summary: "For each endpoint, key and model that runs of a team call: the limit as known, what is in flight and waits, and who uses it; the newest first",
    query: limits.limitersQuery,
    answers: { 200: limits.limiterList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/limits/{limiter}",
    id: "getLimiter",
    summary: "One of them",
    query: limits.limitQuery,
    answers: { 200: limits.limiterAnswer },
    errors: [404, 422],
  },
  {
    method: "post",
    path: "/limits/{limiter}/forget",
    id: "forgetLimits",
    summary: "Forget what was found and told, so that it is found anew; what is given stays",
    query: limits.limitQuery,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/limits/given",
    id: "listGivenLimits",
    summary: "The limits that the service keeps for a team, by their names",
    query: limits.limitQuery,
    answers: { 200: limits.givenList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: "/limits/given/{limit}",
    id: "getGivenLimit",
    summary: "One of them",
    query: limits.limitQuery,
    answers: { 200: limits.givenAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: "/limits/given/{limit}",
    id: "putGivenLimit",
    summary: "Give a limit, or another one under the same name: runs that are at work keep to it from now on",
    query: limits.limitQuery,
    body: limits.givenBody,
    answers: { 200: limits.givenAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: "/limits/given/{limit}",
    id: "clearGivenLimit",
    summary: "Nothing is given under this name any more",
    query: limits.limitQuery,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
];
