import type { Operation } from "../operation.ts";
import { comparedExamplesAnswer, comparedExamplesBody, comparisonAnswer, comparisonBody } from "./comparison-schemas.ts";

const errors = [404, 409, 413, 415, 422];

export const COMPARISON_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/comparisons",
    id: "compareEvaluations",
    summary: "Settled runs held against the first of them, example by example; keeps nothing. What is not comparable is refused, with what would make it so",
    body: comparisonBody,
    answers: { 200: comparisonAnswer },
    errors,
  },
  {
    method: "post",
    path: "/comparisons/examples",
    id: "compareExamples",
    summary: "The examples of such a comparison page by page: what each run scored on them and where their rows are. Refused as the comparison is",
    body: comparedExamplesBody,
    answers: { 200: comparedExamplesAnswer },
    errors,
  },
];
