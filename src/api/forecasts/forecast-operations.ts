import type { Operation } from "../operation.ts";
import { forecastAnswer, forecastBody, forecastQuery } from "./forecast-schemas.ts";

/** What evaluations will take. */
export const FORECAST_OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/evaluation-forecasts",
    id: "forecastCreation",
    summary: "What a creation would take: calls, tokens, money and time, from finished runs of the same settings or from its first examples; creates nothing",
    query: forecastQuery,
    body: forecastBody,
    answers: { 200: forecastAnswer },
    errors: [404, 409, 413, 415, 422],
  },
];
