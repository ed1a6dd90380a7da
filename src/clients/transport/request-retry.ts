import { Absence } from "./absence.ts";
import type { AttemptClock } from "./attempt-clock.ts";
import { AttemptWatch, type WatchedRequest } from "../limits/attempt-watch.ts";
import { type ClientPorts, DEFAULT_REQUEST_RETRIES } from "../client.ts";
import { onAbort } from "./on-abort.ts";
import { Shelter } from "./shelter.ts";
import { isRefused, mayRepeat, RequestFailed, type RequestFailure, timedOut } from "./request-failure.ts";

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 8_000;

/** Wait before the attempt after number `attempt` (from 0): doubling, and up to a quarter shorter so that lanes spread. */
export const backoff = (attempt: number, random: number): number => Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) * (1 - 0.25 * random);

/** `weigh` is asked where the permits read it. */
export interface RetriedRequest<T> extends WatchedRequest {
  readonly signal: AbortSignal | null;
  readonly clock: AttemptClock;
  /** Called once, when the first attempt holds its permit. */
  readonly onBegin?: (() => void) | undefined;
  /** See `ModelCall`. */
  readonly onWait?: ((waiting: boolean) => void) | undefined;
  /** One attempt; throws `RequestFailed` for what the table of docs/retries.md knows. Any other error is final. `watch`: where the permits read outcomes. */
  readonly attempt: (signal: AbortSignal, watch: AttemptWatch | undefined) => Promise<T>;
}

/**
 * Sends a request until it is answered, refused for good, or out of retries; the last failure is thrown as `RequestFailed`.
 * The permit is held during an attempt only, so that whoever waits out a 429 keeps nobody else from working. While a place
 * answers nobody, or has no room for anybody, what fails there says nothing of the request: it is not counted for as long as the place is waited for.
 */
export async function sendWithRetries<T>(request: RetriedRequest<T>, ports: ClientPorts): Promise<T> {
  const { gate } = ports;
  const retries = ports.maxRequestRetries ?? DEFAULT_REQUEST_RETRIES;
  const absence = ports.outlasting === undefined ? null : new Absence(ports.outlasting, ports);
  let shelter: Shelter | null = null;
  let counted = 0;
  for (let attempt = 0; ; attempt++) {
    const watch = gate.reads === true ? new AttemptWatch(request) : undefined;
    await enter(request.signal, watch, ports);
    const begun = ports.now();
    watch?.begin(begun);
    if (attempt === 0) request.onBegin?.();
    else request.onWait?.(false);
    let failure: RequestFailure;
    try {
      const answer = await timedAttempt(request, begun, watch);
      absence?.over();
      ports.storm?.accepted();
      return answer;
    } catch (thrown) {
      watch?.failed(thrown);
      if (!(thrown instanceof RequestFailed)) throw thrown;
      failure = thrown.failure;
    } finally {
      if (watch === undefined) gate.leave();
      else {
        gate.leave(watch.outcome(ports.now()), watch);
        watch.teach();
      }
    }
    if (ports.storm !== undefined && shelter === null && isRefused(failure)) shelter = new Shelter(ports.storm, ports.now);
    const excused = [absence?.excuses(failure), shelter?.excuses(failure)].includes(true);
    if (!excused) counted++;
    const last = (): RequestFailed => new RequestFailed(failure, attempt + 1);
    if (!mayRepeat(failure) || counted > retries || absence?.isHopeless(failure) || ports.elsewhere?.(failure.code)) throw last();
    request.onWait?.(true);
    await waitBefore(Math.max(counted, shelter?.refusals ?? 0), attempt, failure, request.signal, ports);
    if (absence !== null && !(await absence.waitOut(failure, request.signal))) throw last();
  }
}

/** Takes a permit while the endpoint may be called. A pause that began while waiting for the permit gives it back. */
async function enter(signal: AbortSignal | null, watch: AttemptWatch | undefined, { gate, pause }: ClientPorts): Promise<void> {
  for (;;) {
    if (pause.until !== null) await pause.wait(signal);
    await gate.enter(signal, watch);
    if (pause.until === null) return;
    gate.leave(watch?.unsent(), watch);
  }
}

/** A pause asked for by the endpoint stops all its callers; without one only this request waits, longer with each of its `failures`. */
async function waitBefore(
  failures: number,
  attempt: number,
  { code, message, retryAfterMs }: RequestFailure,
  signal: AbortSignal | null,
  ports: ClientPorts,
): Promise<void> {
  // "Retry at once" from a server that has just refused would be repeated as fast as it refuses.
  const asked = retryAfterMs !== null && retryAfterMs > 0 ? ports.pause.hold(retryAfterMs) : null;
  const delay = asked === null ? backoff(Math.max(0, failures - 1), ports.random()) : 0;
  ports.onRetry({ code, message, attempt: attempt + 1, until: asked ?? ports.now() + delay });
  if (delay > 0) await ports.sleep(delay, signal);
}

/** One attempt under the clock of its endpoint. A cancellation of the whole request rejects with that signal's reason. */
async function timedAttempt<T>({ signal, clock, attempt }: RetriedRequest<T>, begun: number, watch: AttemptWatch | undefined): Promise<T> {
  const controller = new AbortController();
  signal?.throwIfAborted();
  const letGo = signal === null ? null : onAbort(signal, () => controller.abort(signal.reason));
  let late = false;
  const finish = clock.begin(begun, () => {
    late = true;
    controller.abort(new Error("request time-out"));
  });
  try {
    return await attempt(controller.signal, watch);
  } catch (thrown) {
    if (signal?.aborted) throw signal.reason;
    throw late ? new RequestFailed(timedOut(clock.limitMs)) : thrown;
  } finally {
    finish();
    letGo?.();
  }
}
