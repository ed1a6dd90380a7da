import { definitionSchema } from "../../training/definition-schema.ts";
import type { Operation } from "../operation.ts";
import { emptyBody } from "../schemas.ts";
import { putQuery } from "../planned-change.ts";
import * as answers from "../response-schemas.ts";
import * as evaluators from "./evaluator-schemas.ts";

const EVALUATOR = "/evaluators/{evaluator}";

/** Evaluations from a training loop. */
export const EVALUATOR_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/evaluators",
    id: "listEvaluators",
    summary: "The evaluators of a team",
    query: evaluators.evaluatorQuery,
    answers: { 200: evaluators.evaluatorList },
    errors: [404, 422],
  },
  {
    method: "get",
    path: EVALUATOR,
    id: "getEvaluator",
    summary: "An evaluator: what became of each step, its metrics by step with intervals, the best step and whether to stop",
    query: evaluators.showQuery,
    answers: { 200: evaluators.evaluatorAnswer },
    errors: [404, 422],
  },
  {
    method: "get",
    path: `${EVALUATOR}/points`,
    id: "listEvaluatorPoints",
    summary: "Its points in the order in which they were known, from one page to the next",
    query: evaluators.pointsQuery,
    answers: { 200: evaluators.pointsAnswer },
    errors: [404, 422],
  },
  {
    method: "put",
    path: EVALUATOR,
    id: "putEvaluator",
    summary:
      "Make an evaluator, or give it another definition, for the steps that are posted from then on; the same once more changes nothing. With dry_run what would change",
    query: putQuery,
    body: definitionSchema,
    answers: { 200: evaluators.evaluatorAnswer.or(evaluators.evaluatorPlan) },
    errors: [403, 404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${EVALUATOR}/steps`,
    id: "postEvaluatorStep",
    summary: "A step of the training loop: answered at once, whether or not it is due; the same step once more makes no second run",
    query: evaluators.evaluatorQuery,
    body: evaluators.stepBody,
    answers: { 202: evaluators.stepAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${EVALUATOR}/pause`,
    id: "pauseEvaluator",
    summary: "Steps that are posted are passed over until it is resumed; what is at work goes on",
    query: evaluators.evaluatorQuery,
    body: evaluators.pauseEvaluatorBody,
    answers: { 200: evaluators.evaluatorAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "post",
    path: `${EVALUATOR}/resume`,
    id: "resumeEvaluator",
    summary: "Go on with a paused evaluator: steps that are posted from now on are evaluated",
    query: evaluators.evaluatorQuery,
    body: emptyBody,
    answers: { 200: evaluators.evaluatorAnswer },
    errors: [404, 413, 415, 422],
  },
  {
    method: "delete",
    path: EVALUATOR,
    id: "deleteEvaluator",
    summary: "Delete an evaluator and its series; its runs stay",
    query: evaluators.evaluatorQuery,
    answers: { 200: answers.message },
    errors: [404, 422],
  },
];
