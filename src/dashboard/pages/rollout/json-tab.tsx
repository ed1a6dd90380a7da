import { useEffect } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import type { RolloutOutline } from "../../api/answers.ts";
import { Failure } from "../../design/notice.tsx";
import { JsonView } from "../../design/text/json/json-view.tsx";
import { Download } from "./download.tsx";
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
