/** What the HTTP API answers, from the schemas that its OpenAPI document is made of. */
import type { z } from "zod";
import type { errorBody } from "../../api/response-schemas.ts";
import type { evaluationList } from "../../api/runs/list-schemas.ts";

export type ErrorAnswer = z.infer<typeof errorBody>;
export type EvaluationList = z.infer<typeof evaluationList>;
/** A run as lists have it. */
export type ListedEvaluation = EvaluationList["evaluations"][number];
