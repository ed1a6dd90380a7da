import { useEffect, useState } from "preact/hooks";
import type { ForecastAnswer } from "../../api/answers.ts";
import type { Problem } from "../../api/problem.ts";
import { useDashboard } from "../../context.ts";
import type { Creation } from "./request.ts";

/** After the last key: the service plans the whole run for each look. */
const TYPING_MS = 600;

export interface Forecast {
  /** Of the newest creation that was asked about; null until its answer. */
  readonly answer: ForecastAnswer["evaluations"][number] | null;
  /** What the service says is wrong with it. */
  readonly problem: Problem | null;
  readonly isAsking: boolean;
}

const NOTHING: Forecast = { answer: null, problem: null, isAsking: false };

/** What a creation would take, and whether the service would take it: nothing is created. Null: it is not complete. */
export function useForecast(creation: Creation | null): Forecast {
  const { api } = useDashboard();
  const [forecast, setForecast] = useState(NOTHING);
  const key = creation === null ? null : JSON.stringify(creation);
  useEffect(() => {
    if (key === null) return setForecast(NOTHING);
    const abort = new AbortController();
    setForecast((before) => ({ ...before, isAsking: true }));
    const timer = setTimeout(() => {
      api.ask<ForecastAnswer>("/evaluation-forecasts", { method: "POST", body: JSON.parse(key) as object, signal: abort.signal }).then(
        (answer) =>
          setForecast(
            answer.ok
              ? { answer: answer.value.evaluations[0] ?? null, problem: null, isAsking: false }
              : { answer: null, problem: answer.problem, isAsking: false },
          ),
        // Given up: something else was typed.
        () => undefined,
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, key]);
  return forecast;
}
