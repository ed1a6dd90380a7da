import type { Operation } from "../operation.ts";
import * as schemas from "./cache-schemas.ts";

/** What a team keeps of its models' answers. */
export const CACHE_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/cache",
    id: "getCache",
    summary: "The answers that the team's runs have kept: how many, how large, how old, and when the next expires",
    query: schemas.cacheQuery,
    answers: { 200: schemas.cacheAnswer },
    errors: [404, 422],
  },
  {
    method: "delete",
    path: "/cache",
    id: "clearCache",
    summary: "Have them forgotten: all, or those of a model or of an age; runs ask anew from then on",
    query: schemas.clearQuery,
    answers: { 200: schemas.clearAnswer },
    errors: [404, 422],
  },
];
