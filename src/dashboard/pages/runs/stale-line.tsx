import { agoText } from "../../design/moment.tsx";
import { Notice } from "../../design/notice.tsx";
import { SignIn } from "../../design/sign-in.tsx";
import type { RunsStore } from "./runs-store.ts";

/** Says when what is shown is not as the service has it now: the last look failed, or the connection is lost. */
export function StaleLine({ store, again }: { readonly store: RunsStore; readonly again: () => void }) {
  const problem = store.problem.value;
  if (store.runs.value === null || (problem === null && store.connection.value !== "lost")) return null;
  const since = agoText(new Date(store.seenAt.value).toISOString(), Date.now());
  const why = problem === null ? "It is tried again by itself." : [problem.text, problem.hint].filter(Boolean).join(" ");
  const isSignedOut = problem?.kind === "signed-out";
  return (
    <Notice role="status" tone="warning" title={`${isSignedOut ? "Signed in no more" : "Connection lost"}: these runs are as they were ${since}.`}>
      <p>
        {why}{" "}
        {isSignedOut ? (
          <SignIn />
        ) : (
          <button type="button" onClick={again}>
            Try now
          </button>
        )}
      </p>
    </Notice>
  );
}
