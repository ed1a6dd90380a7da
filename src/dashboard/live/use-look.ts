import { useEffect, useMemo } from "preact/hooks";
import type { Question } from "../api/ask.ts";
import { useDashboard } from "../context.ts";
import { Look } from "./look.ts";

const USUAL_MS = 15_000;

/** Looks at what the HTTP API answers at `path`, for as long as the component is drawn. */
export function useLook<T>(path: string, query: Question["query"] = {}, everyMs = USUAL_MS): Look<T> {
  const { api, visibility } = useDashboard();
  const asked = JSON.stringify(query);
  const look = useMemo(
    () => new Look<T>((signal) => api.ask<T>(path, { query: JSON.parse(asked) as NonNullable<Question["query"]>, signal }), visibility, everyMs),
    [api, visibility, path, asked, everyMs],
  );
  useEffect(() => {
    void look.refresh();
    return () => look.close();
  }, [look]);
  return look;
}
