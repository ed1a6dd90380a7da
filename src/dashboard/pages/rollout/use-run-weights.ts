import { useEffect, useState } from "preact/hooks";
import { useDashboard } from "../../context.ts";

/** What each metric counts for in the reward of a run, by name; empty before it is known, and where nobody knows. */
export function useRunWeights(id: string): Readonly<Record<string, number>> {
  const { api } = useDashboard();
  const [weights, setWeights] = useState<Readonly<Record<string, number>>>({});
  useEffect(() => {
    const abort = new AbortController();
    const ask = api.ask<{ readonly metadata: { readonly reward_weights?: Readonly<Record<string, number>> } }>(`/evaluations/${encodeURIComponent(id)}`, {
      signal: abort.signal,
    });
    ask.then(
      (answer) => setWeights(answer.ok ? (answer.value.metadata.reward_weights ?? {}) : {}),
      () => undefined,
    );
    return () => abort.abort();
  }, [api, id]);
  return weights;
}
