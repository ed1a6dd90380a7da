import type { Grant } from "../../../durable-objects/run/protocol.ts";

/**
 * The lease of one grant by its executor's own clock, in milliseconds. It counts from the moment at which the newest call that the Run
 * renewed it by was sent, which is before the Run received it. A claim and a commit do what a beat does, so beats go out only where neither did.
 */
export class Lease {
  readonly #grant: Pick<Grant, "lease_ms" | "beat_ms">;
  readonly #margin: number;
  #from: number;
  #beatSentAt: number;
  #beatInFlight = false;
  /** When the newest beat was sent, if it failed and nothing that was sent since renewed the lease. */
  #unheard: number | null = null;
  #retryAt = Number.POSITIVE_INFINITY;

  /** `margin`: distance kept from the end of the lease; `sentAt`: when the join was sent. */
  constructor(grant: Pick<Grant, "lease_ms" | "beat_ms">, margin: number, sentAt: number) {
    this.#grant = grant;
    this.#margin = margin;
    this.#from = sentAt;
    this.#beatSentAt = sentAt;
  }

  /** When everything of the grant must have stopped. */
  get stopsAt(): number {
    return this.#from + this.#grant.lease_ms - this.#margin;
  }

  /** The newest beat failed: whoever cannot be told of a unit may not be able to take its rows either. */
  get isUnheard(): boolean {
    return this.#unheard !== null;
  }

  /** When a beat is due, unless something else renews the lease before. */
  get nextBeat(): number {
    return Math.min(Math.max(this.#beatSentAt, this.#from) + this.#grant.beat_ms, this.#retryAt);
  }

  /** A beat that was not answered for so long is lost. */
  isBeating(now: number): boolean {
    return this.#beatInFlight && now < this.#beatSentAt + this.#grant.beat_ms;
  }

  beat(now: number): void {
    this.#beatInFlight = true;
    this.#beatSentAt = now;
    this.#retryAt = Number.POSITIVE_INFINITY;
  }

  /** The Run has answered a beat, whatever it said. */
  answered(): void {
    this.#beatInFlight = false;
  }

  /** A call that was sent then has renewed it. */
  renew(sentAt: number): void {
    this.#from = Math.max(this.#from, sentAt);
    if (this.#unheard === null || sentAt < this.#unheard) return;
    this.#unheard = null;
    this.#retryAt = Number.POSITIVE_INFINITY;
  }

  failed(sentAt: number, retryAt: number): void {
    // Something later was answered.
    if (sentAt < this.#from) return;
    this.#beatInFlight = false;
    this.#unheard = sentAt;
    this.#retryAt = retryAt;
  }
}
