import type { ComponentChildren } from "preact";
import { RUNS } from "../address/links.ts";
import type { Problem } from "../api/problem.ts";
import { useDashboard } from "../context.ts";
import { absenceText } from "./absence.ts";
import { SignIn } from "./sign-in.tsx";

interface NoticeProps {
  /** `alert` is read out at once, `status` when there is time for it. */
  readonly role: "alert" | "status";
  readonly tone: "plain" | "bad" | "warning";
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** Says of a page that there is nothing, that it failed, or that it is not of now. */
export const Notice = ({ role, tone, title, children }: NoticeProps) => (
  <div class={`notice ${tone}`} role={role}>
    <p class="notice-title">{title}</p>
    {children}
  </div>
);

interface FailureProps {
  readonly problem: Problem;
  readonly again: () => void;
}

/** Said where something is looked at. Not where something is changed: no page does that twice by itself. */
export const triesAgainText = ({ kind }: Problem): string | null => (kind === "unreachable" ? "This page tries again by itself." : null);

/** What could not be had, why, and a way to try again. */
export function Failure({ problem, again }: FailureProps) {
  const { kind, code, text, hint } = problem;
  const { link, viewer } = useDashboard();
  return (
    <Notice role="alert" tone="bad" title={text}>
      {hint === null ? null : (
        <p>
          {hint} {triesAgainText(problem)}
        </p>
      )}
      {code === "not_found" && hint === null ? (
        <p>
          {absenceText(viewer, "it")} <a href={link(RUNS)}>Runs</a>
        </p>
      ) : null}
      <p>
        {kind === "signed-out" ? (
          <SignIn />
        ) : (
          <button type="button" onClick={again}>
            Try again
          </button>
        )}
      </p>
    </Notice>
  );
}
