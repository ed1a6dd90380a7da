import { agoText } from "../../design/moment.tsx";
import { Notice } from "../../design/notice.tsx";
import { SignIn } from "../../design/sign-in.tsx";
import type { SamplesSource } from "../../samples/samples-source.ts";

/** Says when the grid is not as the service has the run now. */
export function SamplesStale({ source }: { readonly source: SamplesSource }) {
  const problem = source.problem.value;
  if (source.table.value === null || (problem === null && source.connection.value !== "lost")) return null;
  const since = agoText(new Date(source.seenAt.value).toISOString(), Date.now());
  const isSignedOut = problem?.kind === "signed-out";
  return (
    <Notice role="status" tone="warning" title={`${isSignedOut ? "Signed in no more" : "Connection lost"}: these rollouts are as they were ${since}.`}>
      <p>
        {problem === null ? "It is tried again by itself." : [problem.text, problem.hint].filter(Boolean).join(" ")}{" "}
        {isSignedOut ? (
          <SignIn />
        ) : (
          <button type="button" onClick={() => source.refresh()}>
            Try now
          </button>
        )}
      </p>
    </Notice>
  );
}
