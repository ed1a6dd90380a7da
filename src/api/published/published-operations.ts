import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import * as hub from "./published-schemas.ts";

const ENVIRONMENT = "/environmentshub/{owner}/{name}";
const VERSION = `${ENVIRONMENT}/{version}`;

export const PUBLISHED_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/environmentshub/",
    id: "listEnvironments",
    summary: "What the caller can run: environments of this service, those of the caller's teams, and those that others published for everybody",
    query: hub.hubListQuery,
    answers: { 200: hub.environmentList },
    errors: [422],
  },
  {
    method: "get",
    path: VERSION,
    id: "getEnvironment",
    summary: "An environment; `version` is @latest, @ and a version, or @ and at least 8 digits of its sha256",
    answers: { 200: hub.environment },
    errors: [404],
  },
  {
    method: "get",
    path: `${ENVIRONMENT}/status`,
    id: "getEnvironmentStatus",
    summary: "An environment's visibility and latest version",
    answers: { 200: hub.environmentStatus },
    errors: [404],
  },
  {
    method: "get",
    path: `${ENVIRONMENT}/versions`,
    id: "listEnvironmentVersions",
    summary: "The versions of an environment, the latest first",
    answers: { 200: hub.environmentVersions },
    errors: [404],
  },
  {
    method: "get",
    path: `${VERSION}/module`,
    id: "getEnvironmentModule",
    summary: "The code of a published version, one module",
    answers: { 200: ["text/javascript"] },
    errors: [404],
  },
  {
    method: "get",
    path: `${VERSION}/source-map`,
    id: "getEnvironmentSourceMap",
    summary: "The source map of a published version's code",
    answers: { 200: ["application/json"] },
    errors: [404],
  },
  {
    method: "get",
    path: `${VERSION}/readme`,
    id: "getEnvironmentReadme",
    summary: "What a published version says of itself to those who look at it, in Markdown. Whoever pushed it wrote it",
    answers: { 200: ["text/markdown"] },
    errors: [404],
  },
  {
    method: "put",
    path: VERSION,
    id: "pushEnvironment",
    summary:
      "Publish a version: the parts `manifest` (JSON: `sha256` of the module, `visibility`), `module` and `source_map`, of at most 8 MiB each, and `readme` (Markdown, 128 KiB). The module is described in an isolate of its own. A version has one code for ever; the same code once more changes nothing but the visibility",
    body: ["multipart/form-data"],
    answers: { 200: hub.pushed },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "patch",
    path: ENVIRONMENT,
    id: "changeEnvironment",
    summary: "Publish an environment for its team alone (PRIVATE), or for every team of the service (PUBLIC)",
    body: hub.visibilityBody,
    answers: { 200: hub.environmentStatus },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: ENVIRONMENT,
    id: "deleteEnvironment",
    summary: "Delete all versions of a published environment: no new run begins with them, runs that were made with them stay",
    answers: { 200: answers.message },
    errors: [404],
  },
  {
    method: "delete",
    path: VERSION,
    id: "deleteEnvironmentVersion",
    summary: "Delete one version of a published environment, named as in getEnvironment",
    answers: { 200: answers.message },
    errors: [404],
  },
];
