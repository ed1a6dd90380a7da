import type { Operation } from "../operation.ts";
import * as answers from "../response-schemas.ts";
import { emptyBody } from "../schemas.ts";
import { steerBody, steered } from "./steering-schemas.ts";

const RUN = "/evaluations/{id}";

/** A run that works. */
export const STEERING_OPERATIONS: readonly Operation[] = [
  {
    method: "patch",
    path: RUN,
    id: "setEvaluation",
    summary: "Set how a run that works goes on; what is open stays",
    body: steerBody,
    answers: { 200: steered },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: `${RUN}/pause`,
    id: "pauseEvaluation",
    summary: "Nothing new begins; what is in progress is finished or kept",
    body: emptyBody,
    answers: { 200: answers.message },
    errors: [404, 409, 413, 415, 422],
  },
  {
    method: "post",
    path: `${RUN}/continue`,
    id: "continueEvaluation",
    summary: "Go on with a paused run",
    body: emptyBody,
    answers: { 200: answers.message },
    errors: [404, 409, 413, 415, 422],
  },
];
