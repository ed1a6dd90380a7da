import type { Ack } from "../protocol.ts";
import { returnUnits } from "../grants/pending.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { BatchOutcome } from "./batching-protocol.ts";
import type { AskedRange, Job } from "./job.ts";
import { putUnasked } from "./unasked.ts";

/** What outcomes of a step have in common (told.ts, refused.ts). */

export type Told<Kind extends BatchOutcome["kind"]> = Extract<BatchOutcome, { kind: Kind }>;

export const OK: Ack = { kind: "ok" };
export const LOST: Ack = { kind: "lost" };

/** How often a request that came back without an answer is asked in one generation. */
export const BATCH_TRIES = 3;

/** Longest wait for the next look at a job. Milliseconds. */
const MOST_LOOK_MS = 60_000;
const LOOK_GROWTH = 1.5;

/** Wait after so many looks. Milliseconds. */
export const lookDelay = (looks: number, { timing }: RunContext): number => Math.min(MOST_LOOK_MS, timing.look * LOOK_GROWTH ** Math.min(looks, 20));

/** The job a step further, its next one at once or at `due_at`. */
export function moved(job: Job, changes: Partial<Job>): Job {
  const { full: _, ...rest } = job;
  return { ...rest, refusals: 0, due_at: 0, ...changes };
}

/** What the next job waited for may be there now. */
export function writesAtOnce(head: RunHead): void {
  if (head.batching === undefined) return;
  const { write_at: _, write_refusals: __, ...batching } = head.batching;
  head.batching = batching;
}

/** Units that lack answers: asked again, or played as they are when they were asked as often as they are. Of a run that ends they stay owed. */
export function askAgain(ledger: Ledger, head: RunHead, { generation }: Job, again: readonly AskedRange[]): void {
  const closing = head.batching?.closing !== undefined;
  for (const { lo, hi, tries } of again) {
    const tried = (generation === head.generation ? tries : 0) + 1;
    if (closing) putUnasked(ledger, head, [{ lo, hi, tries }]);
    else if (tried < BATCH_TRIES) putUnasked(ledger, head, [{ lo, hi, tries: tried }]);
    else returnUnits(ledger, head, { lo, hi });
  }
}
