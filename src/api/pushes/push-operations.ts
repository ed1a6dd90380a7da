import type { Operation } from "../operation.ts";
import * as pushes from "./push-schemas.ts";

const RUN = "/evaluations/{id}";

/** Evaluations that were made elsewhere. */
export const PUSH_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/evaluations/",
    id: "pushEvaluation",
    summary: "Create an evaluation whose samples were made elsewhere",
    headers: { "Idempotency-Key": "As for createEvaluations." },
    body: pushes.pushBody,
    answers: { 200: pushes.pushed },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "put",
    path: RUN,
    id: "describeEvaluation",
    summary: "Change what is known of a pushed evaluation: fields that are left out stay",
    body: pushes.updateBody,
    answers: { 200: pushes.finalized },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: `${RUN}/samples`,
    id: "pushSamples",
    summary:
      "A batch of samples of a pushed evaluation, several at once and in any order. Samples that are there already, by their content or their sample_id, add nothing",
    body: pushes.samplesBody,
    answers: { 200: pushes.received },
    errors: [404, 409, 413, 415, 422, 429],
  },
  {
    method: "post",
    path: `${RUN}/finalize`,
    id: "finalizeEvaluation",
    summary: "All samples are pushed: rows are sorted, averages computed from them, files written. More may be pushed later, and finalized again",
    body: pushes.finalizeBody,
    answers: { 200: pushes.finalized },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: "/environmentshub/resolve",
    id: "resolveEnvironment",
    summary: "The id of an environment for an evaluation that is pushed; it need not be one of this service",
    body: pushes.resolveBody,
    answers: { 200: pushes.resolved },
    errors: [413, 415, 422],
  },
  {
    method: "post",
    path: "/environmentshub/lookup",
    id: "lookupEnvironment",
    summary: "The same for an id",
    body: pushes.lookupBody,
    answers: { 200: pushes.resolved },
    errors: [413, 415, 422],
  },
  {
    method: "post",
    path: "/traces",
    id: "pushTraces",
    summary:
      "Episodes or traces of verifiers, a line of JSON each, of the pushed evaluation that their run.id names: parts `metadata` and `traces` (which may be gzipped for itself). The same again adds nothing",
    headers: {
      "Idempotency-Key": "`sha256:` and the digest of the lines before they were compressed, in hex.",
      "X-Prime-Line-Format": "`trace` (a trace on each line, the default) or `episode`.",
      "X-Prime-Team-ID": "The team of the evaluation; else the one of the caller's teams that has it.",
    },
    body: ["multipart/form-data"],
    answers: { 200: pushes.committed },
    errors: [404, 409, 413, 415, 422, 429],
  },
];
