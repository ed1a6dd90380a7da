import { Notice } from "../../design/notice.tsx";
import type { SamplesProps } from "./samples-props.ts";

/** An empty grid says why it is. */
export function NoSamples({ source, list, view, go }: SamplesProps) {
  // The line above says how far it is.
  if (list.searches.scanned.value !== null || list.searches.problem.value !== null) return null;
  if (!source.isWhole.value) return <p role="status">Loading rollouts…</p>;
  if (view.filter.trim() !== "")
    return (
      <Notice role="status" tone="plain" title="No rollout is like that.">
        <p>
          <button type="button" onClick={() => go({ ...view, filter: "" })}>
            Show all rollouts
          </button>
        </p>
      </Notice>
    );
  return (
    <Notice role="status" tone="plain" title={source.table.value?.settled === true ? "This run has no rollouts." : "No rollout is done yet."}>
      {source.table.value?.settled === true ? null : <p>They appear here as they are done.</p>}
    </Notice>
  );
}
