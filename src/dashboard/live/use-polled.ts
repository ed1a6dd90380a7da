import { useEffect, useMemo } from "preact/hooks";
import type { Question } from "../api/ask.ts";
import { useDashboard } from "../context.ts";
import { Polled } from "./polled.ts";

/** The answer to a question of the API, asked again whenever `version` is another one, as long as it is drawn; null: it is not asked. `path`: below `/api/v1`. */
export function usePolled<T>(path: string, version: string | null, query: Question["query"] = {}): Polled<T> {
  const { api, visibility } = useDashboard();
  const asked = JSON.stringify(query);
  const polled = useMemo(
    () => new Polled<T>((signal) => api.ask<T>(path, { query: JSON.parse(asked) as NonNullable<Question["query"]>, signal }), visibility),
    [api, visibility, path, asked],
  );
  useEffect(() => () => polled.close(), [polled]);
  useEffect(() => {
    if (version !== null) polled.want(version);
  }, [polled, version]);
  return polled;
}
