import { type Attempt, askedWait, BODY_CHARS, statusProblem } from "../alerts/answer.ts";
import { beginningOf } from "../beginning-of.ts";
import { blotter } from "../errors/masking.ts";

/** How long a receiver may take to answer, its body included. The specification asks senders for 15 to 30 s; whoever waits here keeps a place in the queue. */
export const ANSWER_MS = 15_000;
/** Characters of an answer that are read, of which the first are kept: what is secret is taken out before it is cut. */
const READ_CHARS = 4 * 1024;

export interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What may stand in nothing that is kept. */
  readonly hidden: readonly string[];
  /** Why it may not be called; null when it may. */
  readonly refusal: string | null;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Posts one message once. Never rejects; what is said of the address is its origin. */
export async function postMessage({ url, headers, body, hidden, refusal }: Posting, send: Fetch, now: () => number, answerMs = ANSWER_MS): Promise<Attempt> {
  const at = now();
  const { origin } = new URL(url);
  const clean = blotter(hidden);
  const answer = (status: number | null, problem: string | null, text = "", asked: number | null = null): Attempt => ({
    ...{ at, ms: Math.max(0, now() - at), status, problem, asked_ms: asked },
    body: clean(text).slice(0, BODY_CHARS),
  });
  if (refusal !== null) return answer(null, `${origin} is not called: ${refusal}`);
  const signal = AbortSignal.timeout(answerMs);
  try {
    // Redirects could lead where the address was never checked.
    const response = await send(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body, redirect: "manual", signal });
    const problem = statusProblem(response.status);
    const text = await beginningOf(response, READ_CHARS);
    return answer(response.status, problem === null ? null : `${origin} ${problem}`, text, askedWait(response.headers.get("retry-after"), now()));
  } catch {
    // What was thrown may name the whole URL.
    return answer(null, signal.aborted ? `${origin} did not answer within ${answerMs / 1_000} s` : `no connection to ${origin}`);
  }
}
