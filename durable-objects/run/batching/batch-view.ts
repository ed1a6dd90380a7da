import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { BatchView } from "./batching-protocol.ts";
import { isLive } from "./job.ts";

/** Units whose requests are in jobs, and not in storage yet. */
export const askedUnits = (ledger: Ledger, { batching }: RunHead): number =>
  batching === undefined ? 0 : ledger.batching.jobs().reduce((sum, job) => sum + (isLive(job) ? job.units : 0), 0);

/** What people see of the batches of a run. */
export function batchView(ledger: Ledger, { batching }: RunHead): BatchView | null {
  if (batching === undefined) return null;
  const jobs = ledger.batching.jobs();
  const lost: Record<string, number> = {};
  for (const job of jobs) for (const [why, requests] of Object.entries(job.lost ?? {})) lost[why] = (lost[why] ?? 0) + requests;
  const sent = jobs.filter(({ state }) => state !== "dropped");
  return {
    unasked: batching.unasked,
    jobs: jobs.map(({ job, state, requests, counts, batch_id, submitted_at, ended_at, expires_at }) => ({
      job,
      state,
      requests,
      counts,
      batch_id,
      submitted_at,
      ended_at,
      expires_at,
    })),
    requests: sent.reduce((sum, { requests }) => sum + requests, 0),
    answered: jobs.reduce((sum, { counts }) => sum + counts.answered, 0),
    failed: jobs.reduce((sum, { counts }) => sum + counts.failed, 0),
    lost,
    look_at: batching.next_at,
    closing: batching.closing?.why ?? null,
  };
}
