import { Failure } from "../../design/notice.tsx";
import type { Polled } from "../../live/polled.ts";

interface PartFailureProps<T> {
  readonly what: string;
  readonly polled: Polled<T>;
}

/** In place of a part of the page whose answer is not there: it is loading, or was refused. */
export function PartFailure<T>({ what, polled }: PartFailureProps<T>) {
  const problem = polled.problem.value;
  return problem === null ? <p role="status">{`${what}: loading…`}</p> : <Failure problem={problem} again={() => polled.again()} />;
}
