/** How the batches of a run are worded for people. */
import { thousands } from "./format.ts";

/** What is told of the batches of a run (`BatchView`). Times are Unix milliseconds. */
export interface ShownBatches {
  /** Examples that are not asked yet. */
  readonly unasked: number;
  readonly jobs: readonly {
    readonly state: string;
    readonly requests: number;
    readonly counts: { readonly answered: number; readonly failed: number };
    readonly batch_id: string | null;
  }[];
  readonly requests: number;
  readonly answered: number;
  readonly lost: Readonly<Record<string, number>>;
  readonly look_at: number | null;
  readonly closing: "timeout" | "cancelled" | "budget" | null;
}

/** States in which answers are still to come. */
const LIVE: readonly string[] = ["written", "uploaded", "creating", "submitted", "cancelling", "ended"];

const CLOSING: Readonly<Record<NonNullable<ShownBatches["closing"]>, string>> = {
  timeout: "the time limit is reached",
  cancelled: "the run is cancelled",
  budget: "the budget is used up",
};

/** What a run with batches waits for: `2 batches under way: 1,200 of 2,000 requests answered`. Null where it waits for none. */
export function batchWaitText({ unasked, jobs, closing }: ShownBatches): string | null {
  const live = jobs.filter(({ state }) => LIVE.includes(state));
  if (live.length === 0) return unasked > 0 && closing === null ? `${countOf(unasked, "example")} to be asked in a batch` : null;
  const sum = (of: (job: ShownBatches["jobs"][number]) => number): number => live.reduce((total, job) => total + of(job), 0);
  const over = sum(({ counts }) => counts.answered + counts.failed);
  const parts = [
    `${batchesOf(live.length)} under way: ${thousands(over)} of ${countOf(
      sum(({ requests }) => requests),
      "request",
    )} answered`,
  ];
  if (unasked > 0 && closing === null) parts.push(`${countOf(unasked, "example")} not asked yet`);
  if (closing !== null) parts.push(`${CLOSING[closing]}: they are cancelled, and what they answered is scored`);
  return parts.join(", ");
}

/** What all its batches came to: `3 batches: 1,997 of 2,000 requests answered, 3 came back without an answer (2 expired, 1 error), 1 under way`. Null before the first. */
export function batchesText({ jobs, requests, answered, lost }: ShownBatches): string | null {
  const sent = jobs.filter(({ batch_id }) => batch_id !== null);
  if (sent.length === 0) return null;
  const live = sent.filter(({ state }) => LIVE.includes(state)).length;
  const why = Object.entries(lost).filter(([, count]) => count > 0);
  const all = why.reduce((sum, [, count]) => sum + count, 0);
  const without =
    all === 0 ? "" : `, ${thousands(all)} came back without an answer (${why.map(([reason, count]) => `${thousands(count)} ${reason}`).join(", ")})`;
  return `${batchesOf(sent.length)}: ${thousands(answered)} of ${countOf(requests, "request")} answered${without}${live === 0 ? "" : `, ${thousands(live)} under way`}`;
}

/** What a run that is over has left at its provider, where it may be paid for: null where there is nothing. */
export function batchesLeftText({ jobs }: ShownBatches): string | null {
  const left = jobs.filter(({ state, batch_id }) => LIVE.includes(state) && (batch_id !== null || state === "creating"));
  if (left.length === 0) return null;
  return `${batchesOf(left.length)} may go on at the provider, and what ${left.length === 1 ? "it answers" : "they answer"} is paid for there; a resume collects it`;
}

const countOf = (count: number, what: string): string => `${thousands(count)} ${what}${count === 1 ? "" : "s"}`;
const batchesOf = (count: number): string => (count === 1 ? "1 batch" : `${thousands(count)} batches`);
