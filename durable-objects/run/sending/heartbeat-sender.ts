import type { Heartbeat, HeartbeatOutcome } from "./heartbeat.ts";

const TIMEOUT_MS = 5_000;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Sends the heartbeats of one run, at most one at a time: one that falls due while another is under way is skipped, and the last
 * one waits for it. Sent by the Run, which alone knows all units of all executors, and outlives them: this costs one connection
 * and at most as much waiting as the object is awake for its executors anyway.
 */
export class HeartbeatSender {
  readonly #fetch: Fetch;
  readonly #timeoutMs: number;
  #underWay: Promise<unknown> | null = null;

  constructor(send: Fetch, timeoutMs = TIMEOUT_MS) {
    this.#fetch = send;
    this.#timeoutMs = timeoutMs;
  }

  /** Null when it was skipped. Never rejects, and says nothing of the URL but its origin. */
  async send(url: string, heartbeat: Heartbeat): Promise<HeartbeatOutcome | null> {
    if (this.#underWay !== null && heartbeat !== "last") return null;
    const request = this.#underWay === null ? this.#get(url) : this.#underWay.then(() => this.#get(url));
    this.#underWay = request;
    const problem = await request;
    if (this.#underWay === request) this.#underWay = null;
    return { heartbeat, problem };
  }

  async #get(url: string): Promise<string | null> {
    const { origin } = new URL(url);
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      // Redirects could lead where the address was never checked.
      const response = await this.#fetch(url, { method: "GET", redirect: "manual", signal });
      await response.body?.cancel();
      if (response.status < 300) return null;
      return `${origin} answered with status ${response.status}${response.status < 400 ? "; redirects are not followed" : ""}`;
    } catch {
      // What was thrown may name the whole URL.
      return signal.aborted ? `${origin} did not answer within ${this.#timeoutMs / 1_000} s` : `no connection to ${origin}`;
    }
  }
}
