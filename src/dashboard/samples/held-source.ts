import type { Api } from "../api/ask.ts";
import type { Visibility } from "../live/visibility.ts";
import { SamplesSource } from "./samples-source.ts";

/** Runs whose numbers stay after their pages are left: the way from a rollout back to the grid loads nothing. */
const MOST_KEPT = 2;

interface Held {
  readonly source: SamplesSource;
  holders: number;
}

const held = new WeakMap<Api, Map<string, Held>>();

/** The numbers of a run, shared by the pages that show them. The answer lets go of them. */
export function holdSource(id: string, api: Api, visibility: Visibility): { readonly source: SamplesSource; readonly release: () => void } {
  const all = held.get(api) ?? new Map<string, Held>();
  held.set(api, all);
  const known = all.get(id) ?? { source: new SamplesSource(id, api, visibility), holders: 0 };
  // The newest stands last.
  all.delete(id);
  all.set(id, known);
  known.holders++;
  known.source.follow();
  return {
    source: known.source,
    release: () => {
      known.holders--;
      if (known.holders > 0) return;
      known.source.rest();
      const unused = [...all].filter(([, { holders }]) => holders === 0);
      for (const [old] of unused.slice(0, Math.max(0, unused.length - MOST_KEPT))) all.delete(old);
    },
  };
}
