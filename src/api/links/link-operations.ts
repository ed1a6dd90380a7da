import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import * as links from "./link-schemas.ts";

const LINK = "/environments/linked/{link}";

/** Environments whose code runs elsewhere. */
export const LINK_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/environments/linked",
    id: "listLinks",
    summary: "The team's environments whose code runs in processes elsewhere, by their names",
    query: links.linkQuery,
    answers: { 200: links.linkList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: LINK,
    id: "getLink",
    summary: "One linked environment, and how its servers are: each is asked now",
    query: links.linkQuery,
    answers: { 200: links.linkStatus },
    errors: [404, 422],
  },
  {
    method: "put",
    path: LINK,
    id: "putLink",
    summary: "Link an environment server under a name, or link it again. Its servers are asked what they are first, and one that does not answer is not linked",
    query: links.linkQuery,
    body: links.linkBody,
    answers: { 200: links.linkAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${LINK}/lease`,
    id: "renewLink",
    summary: "Let the link of a command last so many seconds more; 404 where it has lapsed",
    query: links.linkQuery,
    body: links.leaseBody,
    answers: { 200: links.leaseAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: LINK,
    id: "deleteLink",
    summary: "Unlink an environment: runs that were made with it stay, and cannot go on without it",
    query: links.linkDeletion,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
];
