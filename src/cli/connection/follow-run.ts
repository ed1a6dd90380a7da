/** Follows the events of a run over connections that end every few seconds or break, without missing or repeating a stored event. */
import type { LogEvent, RunState } from "./api-types.ts";
import { tlsReason } from "../terminal/cli-error.ts";
import { chunksOf, FOREIGN, type ServiceClient, ServiceError, ServiceUnreachable } from "./http-client.ts";
import { pause } from "./pause.ts";
import { readEvents } from "./sse.ts";

export interface RunWatcher {
  onState(state: RunState): void;
  onLog(event: LogEvent): void;
  /** Rows were committed. */
  onCommit(): void;
}

/** Where the following stands; shared between connections and services. */
export interface FollowPoint {
  /** Newest stored event that was handed to the watcher. */
  seq: number;
}

export interface FollowOptions {
  /** How long a service may be silent, counted from the first connection that failed: a laptop that slept has not been waiting. */
  readonly patienceMs: number;
  /** Longest wait between two attempts to connect again. */
  readonly maxWaitMs?: number;
  readonly signal: AbortSignal;
  /** Hears once per outage that the service does not answer, and when it does again. */
  readonly onOutage?: (error: unknown) => void;
  readonly onReturn?: () => void;
  /** The state to stop at; as a rule the one in which nothing happens any more. */
  readonly until?: (state: RunState) => boolean;
}

const RECONNECT_MS = 100;
const MAX_RECONNECT_MS = 2000;
/** The service closes a stream after 25 s and says something every 250 ms while a run works. */
const SILENCE_MS = 40_000;

export const isAtRest = ({ settled, suspended }: RunState): boolean => settled || suspended;

/**
 * Resolves with the last state when the run is settled or suspended (or with the one that `until` names). `ServiceUnreachable`, or the
 * service's own 5xx, after `patienceMs` without an answer.
 */
export async function followRun(client: ServiceClient, runId: string, point: FollowPoint, watcher: RunWatcher, options: FollowOptions): Promise<RunState> {
  const { patienceMs, maxWaitMs = MAX_RECONNECT_MS, signal, onOutage, onReturn, until = isAtRest } = options;
  let outage: { readonly since: number; told: boolean } | null = null;
  let wait = RECONNECT_MS;
  for (;;) {
    signal.throwIfAborted();
    try {
      const response = await client.events(runId, point.seq, signal);
      if (outage?.told) onReturn?.();
      outage = null;
      wait = RECONNECT_MS;
      const onRetry = (ms: number): void => {
        wait = Math.min(ms, MAX_RECONNECT_MS);
      };
      for await (const { event, data, id } of readEvents(chunksOf(response, signal, SILENCE_MS), onRetry)) {
        const state = handle(event, data, id, point, watcher);
        if (state !== null && (event === "end" || until(state))) return state;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (outage !== null && performance.now() - outage.since > patienceMs) throw error;
      // A stream that breaks off is no news as long as the next connection is made.
      if (outage !== null && !outage.told) {
        outage.told = true;
        onOutage?.(error);
      }
      outage ??= { since: performance.now(), told: false };
      wait = Math.min(wait * 2, maxWaitMs);
    }
    await pause(wait, signal);
  }
}

/**
 * No answer, one of a service that is starting or overloaded, or one of something on the way to it (a proxy, the sign-in page of a network).
 * Certificates do not mend themselves.
 */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServiceUnreachable
    ? tlsReason(error) === null
    : error instanceof ServiceError && (error.status >= 500 || error.status === 429 || error.code === FOREIGN);

/** Hands an event to the watcher; the state, where it is one. */
function handle(event: string, data: string, id: string | null, point: FollowPoint, watcher: RunWatcher): RunState | null {
  if (event === "log" || event === "commit") {
    const seq = Number(id ?? Number.NaN);
    if (Number.isSafeInteger(seq)) {
      if (seq <= point.seq) return null;
      point.seq = seq;
    }
    if (event === "commit") watcher.onCommit();
    else watcher.onLog(JSON.parse(data) as LogEvent);
    return null;
  }
  if (event !== "progress" && event !== "end") return null;
  const state = JSON.parse(data) as RunState;
  watcher.onState(state);
  return state;
}
