import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { Job } from "./job.ts";
import { putUnasked } from "./unasked.ts";

/** Nothing of the job is at the provider, and nothing will be: its units are to be asked as if it had never been. */
export function dropJob(ledger: Ledger, head: RunHead, job: Job): void {
  const { full: _, ...rest } = job;
  ledger.batching.put({ ...rest, state: "dropped", due_at: 0 });
  const tried = job.generation === head.generation;
  putUnasked(
    ledger,
    head,
    ledger.batching.unitsOf(job.job).map((range) => (tried ? range : { ...range, tries: 0 })),
  );
}
