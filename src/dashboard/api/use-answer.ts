import { useEffect, useState } from "preact/hooks";
import { useDashboard } from "../context.ts";
import type { Question } from "./ask.ts";
import { isPassing, type Problem } from "./problem.ts";

/** After a look that may go well a little later. */
const AGAIN_MS = 5_000;

export interface Answer<T> {
  /** Null until the first answer; the last one there was where a later look failed. */
  readonly value: T | null;
  /** Of the last look. */
  readonly problem: Problem | null;
  /** When `value` came, in Unix milliseconds. */
  readonly seenAt: number;
  readonly again: () => void;
}

interface State<T> extends Omit<Answer<T>, "again"> {
  /** What it is the answer to. */
  readonly key: string;
}

/** What the API answers to a question that is asked once, and again where it failed and may not the next time. `path`: null = nothing is asked yet. */
export function useAnswer<T>(path: string | null, query: NonNullable<Question["query"]> = {}): Answer<T> {
  const { api, visibility } = useDashboard();
  const [looks, setLooks] = useState(0);
  const key = `${path} ${JSON.stringify(query)}`;
  const [state, setState] = useState<State<T>>({ key, value: null, problem: null, seenAt: 0 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says what is asked, `looks` that it is asked again
  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      api.ask<T>(path, { query, signal: abort.signal }).then(
        (answer) => {
          if (answer.ok) return setState({ key, value: answer.value, problem: null, seenAt: Date.now() });
          setState((before) => (before.key === key ? { ...before, problem: answer.problem } : { key, value: null, problem: answer.problem, seenAt: 0 }));
          if (isPassing(answer.problem)) timer = setTimeout(() => visibility.isVisible() && look(), AGAIN_MS);
        },
        // Given up: the page is left, or asks something else.
        () => undefined,
      );
    };
    look();
    const unlisten = visibility.listen(() => {
      if (visibility.isVisible() && timer !== undefined) look();
    });
    return () => {
      clearTimeout(timer);
      unlisten();
      abort.abort();
    };
  }, [api, visibility, key, looks]);
  const again = (): void => setLooks(looks + 1);
  return state.key === key ? { ...state, again } : { value: null, problem: null, seenAt: 0, again };
}
