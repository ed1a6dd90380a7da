import type { Failure } from "../../../src/errors/result.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import { retryDelay } from "../sending/wake.ts";

/** Attempts in a row to write the final files that may come to nothing: some twenty minutes of a storage that is away. */
export const FINALISINGS_TO_FAIL = 25;

/** An attempt to write the final files came to nothing: the next one waits, ever longer where something was in the way. */
export function failAttempt(head: RunHead, failure: Failure | null, context: RunContext): void {
  const count = (head.finalise.failed?.count ?? 0) + 1;
  head.finalise = { ...head.finalise, failed: { count, failure, retry_at: failure === null ? 0 : context.now + retryDelay(count) } };
}

/** Whether somebody may try to write the final files now. */
export const mayFinalise = ({ finalise }: RunHead, { now }: RunContext): boolean => now >= (finalise.failed?.retry_at ?? 0);
