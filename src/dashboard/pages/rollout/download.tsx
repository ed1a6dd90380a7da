import { useState } from "preact/hooks";
import type { Problem } from "../../api/problem.ts";
import type { RolloutStore } from "./rollout-store.ts";

/** How long the browser may take to begin with the file. */
const KEPT_MS = 60_000;

/** Keeps the row as a file, byte for byte. */
export function Download({ store }: { readonly store: RolloutStore }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const download = async (): Promise<void> => {
    const answer = await store.download();
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    // As a file of no kind: it is kept, never shown.
    const url = URL.createObjectURL(new Blob([answer.value], { type: "application/octet-stream" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `rollout-${store.id}-${store.place.example}-${store.place.rollout}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
  };
  return (
    <>
      <button type="button" onClick={() => void download()}>
        Download
      </button>
      {problem === null ? null : (
        <span class="bad-text" role="alert">
          {problem.text}
        </span>
      )}
    </>
  );
}
