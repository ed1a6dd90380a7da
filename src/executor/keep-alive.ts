import { type BeatAnswer, type Grant, PROTOCOL, type TicketId } from "../../durable-objects/run/protocol.ts";
import { failureOf } from "../errors/result.ts";
import type { ExecutorPorts } from "./ports.ts";

const NO_VITALS = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };

export const ticketOf = ({ ticket, epoch }: Grant): TicketId => ({ protocol: PROTOCOL, ticket, epoch });

/**
 * Keeps the lease of a prepare or finalise ticket while `work` goes on, and aborts it when the lease is lost, the run ends, or the
 * host wants out (`stop`). Leaves the ticket in any case. Rejects with what `work` rejected with.
 */
export async function keepAlive(
  ports: ExecutorPorts,
  runId: string,
  grant: Grant,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController();
  const over = new AbortController();
  const signal = AbortSignal.any([lost.signal, stop]);
  const beating = beatUntil(ports, runId, grant, over.signal, lost);
  try {
    await work(signal);
  } finally {
    over.abort();
    await beating;
    await ports.run(runId).leave(ticketOf(grant));
  }
}

/**
 * Keeps the lease of any ticket while `work` goes on that knows nothing of it, as the loading of an environment: a process elsewhere may take minutes for that, and a lease has seconds.
 * Gives what `work` gave, and when the lease was renewed last, if it was; rejects with what that rejected with. Who finds the lease lost learns it by the next word of the Run.
 */
export async function whileHeld<T>(
  ports: ExecutorPorts,
  runId: string,
  grant: Grant,
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly renewedAt: number | null }> {
  const over = new AbortController();
  let renewedAt: number | null = null;
  const renewed = (sentAt: number): void => {
    renewedAt = sentAt;
  };
  const beating = beatUntil(ports, runId, grant, over.signal, new AbortController(), renewed);
  try {
    return { value: await work(), renewedAt };
  } finally {
    over.abort();
    await beating;
  }
}

async function beatUntil(
  ports: ExecutorPorts,
  runId: string,
  grant: Grant,
  over: AbortSignal,
  lost: AbortController,
  renewed: (sentAt: number) => void = () => undefined,
): Promise<void> {
  let end = ports.now() + grant.lease_ms - grant.beat_ms;
  while (!over.aborted) {
    await ports.sleep(pauseUntil(end, ports, grant), over).catch(() => undefined);
    if (over.aborted) return;
    const sentAt = ports.now();
    if (sentAt >= end) return lost.abort(new Error("the lease ended"));
    const kind = await beatOnce(ports, runId, grant, pauseUntil(end, ports, grant), over);
    if (kind !== null && kind !== "continue") return lost.abort(new Error(`the ticket ended: ${kind}`));
    if (kind === null) continue;
    end = sentAt + grant.lease_ms - grant.beat_ms;
    renewed(sentAt);
  }
}

const pauseUntil = (end: number, ports: ExecutorPorts, grant: Grant): number => Math.max(0, Math.min(grant.beat_ms, end - ports.now()));

/** Null when the beat fails, or is not answered within `ms`. */
async function beatOnce(ports: ExecutorPorts, runId: string, grant: Grant, ms: number, over: AbortSignal): Promise<BeatAnswer["kind"] | null> {
  const answered = new AbortController();
  const late = ports.sleep(ms, AbortSignal.any([over, answered.signal])).then(
    () => null,
    () => null,
  );
  try {
    const answer = await Promise.race([ports.run(runId).beat({ ...ticketOf(grant), started: [], vitals: NO_VITALS }), late]);
    return answer?.kind ?? null;
  } catch (thrown) {
    ports.log(`beat of run ${runId} failed: ${failureOf(thrown).message}`);
    return null;
  } finally {
    answered.abort();
  }
}
