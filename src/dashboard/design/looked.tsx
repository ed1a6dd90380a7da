import type { ComponentChildren } from "preact";
import type { Look } from "../live/look.ts";
import { Failure } from "./notice.tsx";
import { Stale } from "./stale.tsx";

interface LookedProps<T> {
  readonly look: Look<T>;
  /** `these schedules are as they were`, `this schedule is as it was`. */
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}

/** What a look has found, or that it is still looking, that it failed, or that what it found is not of now. */
export function Looked<T>({ look, what, children }: LookedProps<T>) {
  const value = look.value.value;
  const problem = look.problem.value;
  const again = (): void => void look.refresh();
  if (value === null) return problem === null ? <p role="status">Loading…</p> : <Failure problem={problem} again={again} />;
  return (
    <>
      {problem === null ? null : <Stale what={what} problem={problem} seenAt={look.seenAt.value} again={again} />}
      {children(value)}
    </>
  );
}
