import { onAbort } from "../clients/transport/on-abort.ts";
import { sleep } from "../clients/transport/sleep.ts";
import { EdgewiseError } from "../errors/result.ts";
import { HTTP_POST_MS, HTTP_REPEAT_MS } from "../limits.ts";
import { type EnvironmentServer, isRefused, isTokenRefusal, type Refused } from "./environment-server.ts";

export interface PostPatience {
  /** What one attempt may take. Milliseconds, as below. */
  readonly postMs?: number;
  /** How long a batch is sent again of which nobody knows whether it was taken. */
  readonly repeatMs?: number;
  /** Between two attempts, doubling up to sixteen times as much. */
  readonly waitMs?: number;
}

const WAIT_MS = 250;

/** Batches of a conversation on their way up, which are numbered: one that was sent twice is taken once. */
export class NumberedPosts {
  readonly #server: EnvironmentServer;
  readonly #path: string;
  readonly #over: AbortSignal;
  readonly #patience: PostPatience;
  #sent = 0;

  /** `over`: nobody waits any more. */
  constructor(server: EnvironmentServer, conversation: string, over: AbortSignal, patience: PostPatience) {
    this.#server = server;
    this.#path = `/conversations/${encodeURIComponent(conversation)}`;
    this.#over = over;
    this.#patience = patience;
  }

  /**
   * Resolves when `batch` was taken. To be called when the last one has resolved. Rejects with `sandbox_error` where the conversation cannot go on, and with
   * `environment_error` where the server does not take what it is to take.
   */
  async post(batch: string): Promise<void> {
    const { repeatMs = HTTP_REPEAT_MS, waitMs = WAIT_MS } = this.#patience;
    const n = ++this.#sent;
    let waited = 0;
    for (let attempt = 0; ; attempt++) {
      const began = Date.now();
      const refused = await this.#attempt(n, batch);
      if (refused === null) return;
      waited += Date.now() - began;
      if (!refused.passing || waited >= repeatMs) throw this.#failure(refused, batch);
      const wait = waitMs * 2 ** Math.min(attempt, 4);
      waited += wait;
      await sleep(wait, this.#over);
    }
  }

  /** Null = taken. */
  async #attempt(n: number, batch: string): Promise<Refused | null> {
    const { postMs = HTTP_POST_MS } = this.#patience;
    const attempt = new AbortController();
    const timer = setTimeout(() => attempt.abort(new Error(`no answer within ${postMs / 1_000} s`)), postMs);
    const letGo = onAbort(this.#over, () => attempt.abort(this.#over.reason));
    try {
      const answer = await this.#server.ask("POST", `${this.#path}?n=${n}`, { body: batch, signal: attempt.signal });
      this.#over.throwIfAborted();
      if (isRefused(answer)) return answer;
      if (answer.status !== 204) return await this.#server.refusal(answer);
      await answer.body?.cancel();
      return null;
    } finally {
      clearTimeout(timer);
      letGo();
    }
  }

  #failure({ status, message, passing }: Refused, batch: string): EdgewiseError {
    const { shown } = this.#server;
    if (status === 404) return new EdgewiseError("sandbox_error", `the environment server ${shown} has ended the conversation`);
    // A link that was made anew, a process in the place of another: nobody's fault.
    if (passing || isTokenRefusal(status)) return new EdgewiseError("sandbox_error", `the environment server ${shown} ${message}`);
    return new EdgewiseError("environment_error", `the environment server ${shown} does not take a batch of ${batch.length} characters: it ${message}`);
  }
}
