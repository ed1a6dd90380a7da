import { useEffect, useState } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import type { RolloutOutline } from "../../api/answers.ts";
import type { Problem } from "../../api/problem.ts";
import { Failure } from "../../design/notice.tsx";
import { JsonView } from "../../design/text/json/json-view.tsx";
import { MOST_ROW_BYTES, type RolloutStore } from "./rollout-store.ts";

interface JsonTabProps {
  readonly outline: RolloutOutline;
  readonly store: RolloutStore;
}

/** The row as it is: a tree to open, and a file to keep. */
export function JsonTab({ outline, store }: JsonTabProps) {
  const isShown = outline.bytes <= MOST_ROW_BYTES;
  useEffect(() => {
    if (isShown) void store.loadRow();
  }, [isShown, store]);
  const row = store.row.value;
  const problem = store.rowProblem.value;
  return (
    <>
      <p>
        {thousands(outline.bytes)} bytes. <Download store={store} />
      </p>
      {isShown ? null : <p>Too large to be shown as a tree.</p>}
      {isShown && row === null && problem === null ? <p role="status">Loading the row…</p> : null}
      {row === null && problem !== null ? <Failure problem={problem} again={() => void store.loadRow()} /> : null}
      {row === null ? null : <JsonView value={row} />}
    </>
  );
}

/** How long the browser may take to begin with the file. */
const KEPT_MS = 60_000;

function Download({ store }: { readonly store: RolloutStore }) {
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
