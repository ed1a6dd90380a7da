import { Stale } from "../../design/stale.tsx";
import type { RunsStore } from "./runs-store.ts";

/** Says when what is shown is not as the service has it now: the last look failed, or the connection is lost. */
export function StaleLine({ store, again }: { readonly store: RunsStore; readonly again: () => void }) {
  const problem = store.problem.value;
  if (store.runs.value === null || (problem === null && store.connection.value !== "lost")) return null;
  return <Stale what="these runs are as they were" problem={problem} seenAt={store.seenAt.value} again={again} />;
}
