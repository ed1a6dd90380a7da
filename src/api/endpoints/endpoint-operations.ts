import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import * as endpoints from "./endpoint-schemas.ts";

/** Endpoints that the service keeps for a team. */
export const ENDPOINT_OPERATIONS: readonly Operation[] = [
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
    path: "/models",
    id: "listModels",
    summary:
      "The models that a server lists, where a run that names the same would call its model: asked with the place's own key, 5 s at most, kept for a minute",
    query: endpoints.modelsQuery,
    answers: { 200: endpoints.modelList },
    errors: [404, 422],
  },
];
