import type { Problem } from "../api/problem.ts";
import { agoText } from "./moment.tsx";
import { Notice, triesAgainText } from "./notice.tsx";
import { SignIn } from "./sign-in.tsx";

interface StaleProps {
  /** `these runs are as they were`, `this run is as it was`. */
  readonly what: string;
  /** Of the last look; null where only the stream of events is lost. */
  readonly problem: Problem | null;
  /** When what is shown was last as the service has it, in Unix milliseconds. */
  readonly seenAt: number;
  readonly again: () => void;
}

/** Says that what is shown is not as the service has it now. Drawn while that is so. */
export function Stale({ what, problem, seenAt, again }: StaleProps) {
  const since = agoText(new Date(seenAt).toISOString(), Date.now());
  const why = problem === null ? "It is tried again by itself." : [problem.text, problem.hint, triesAgainText(problem)].filter(Boolean).join(" ");
  const isSignedOut = problem?.kind === "signed-out";
  return (
    <Notice role="status" tone="warning" title={`${isSignedOut ? "Signed in no more" : "Connection lost"}: ${what} ${since}.`}>
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
