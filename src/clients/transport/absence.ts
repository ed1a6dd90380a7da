import type { ClientPorts, Outlasting } from "../client.ts";
import { LAST_TURN_MS } from "../outage.ts";
import { isMissed, isUnconnected, type RequestFailure } from "./request-failure.ts";

/** How often a request that waits for a place looks whether it is back, or its own turn to ask. */
const LOOK_MS = 1_000;

/** What one request knows of its place being gone: which of its failures it has to answer for, and when it asks again. */
export class Absence {
  readonly #outlasting: Outlasting;
  readonly #ports: Pick<ClientPorts, "now" | "sleep" | "random" | "elsewhere">;
  /** The outage in which it failed last, and whether it had failed in the same before; 0 = none. */
  #spell = 0;
  #again = false;

  constructor(outlasting: Outlasting, ports: Pick<ClientPorts, "now" | "sleep" | "random" | "elsewhere">) {
    this.#outlasting = outlasting;
    this.#ports = ports;
  }

  /** The request was answered. */
  over(): void {
    const { outage, onBack } = this.#outlasting;
    outage.reached();
    if (this.#spell > 0) onBack?.();
  }

  /**
   * Takes note of a failure, and tells whether it is the place's alone: nobody was answered there since the request failed before,
   * and the place has not been gone for too long. A place that answers others refuses this request.
   */
  excuses(failure: RequestFailure): boolean {
    const { outage } = this.#outlasting;
    // An attempt that was cut by its own clock says neither.
    if (failure.code === "request_timeout") return false;
    if (!isMissed(failure)) {
      outage.reached();
      return false;
    }
    outage.missed();
    this.#again = this.#spell === outage.spell;
    this.#spell = outage.spell;
    return this.#again && this.#lasts(failure);
  }

  /** Whether a request that has just failed again waits no longer: nobody has reached the place in the time that it was given. */
  isHopeless(failure: RequestFailure): boolean {
    return this.#again && isUnconnected(failure) && !this.#lasts(failure);
  }

  /** Resolves when the request may be sent again: true, or false where nobody has reached the place in time. */
  async waitOut(failure: RequestFailure, signal: AbortSignal | null): Promise<boolean> {
    if (!isMissed(failure)) return true;
    const { outage, onGone, onBack } = this.#outlasting;
    const { now, sleep, random, elsewhere } = this.#ports;
    const begun = now();
    while (!(await this.#mayAsk(signal))) {
      onGone?.(failure.code);
      if (elsewhere?.(failure.code)) return false;
      if (!this.#lasts(failure)) {
        if (!isUnconnected(failure)) return true;
        // At the pace at which the place is asked at all: whoever takes this request's place would be refused as fast as it fails.
        if (now() - begun >= LAST_TURN_MS) return false;
      }
      await sleep(LOOK_MS * (1 - 0.25 * random()), signal);
    }
    if (outage.age === null) onBack?.();
    return true;
  }

  /** Of a place that is gone and whose requests are paid for by a budget no request finds out that it still is: one that is lost on its way counts as if it had been answered. */
  async #mayAsk(signal: AbortSignal | null): Promise<boolean> {
    const { outage, isThere } = this.#outlasting;
    if (!outage.takeTurn()) return false;
    return outage.age === null || isThere === undefined || (await isThere(signal));
  }

  #lasts({ code }: RequestFailure): boolean {
    return (this.#outlasting.outage.age ?? 0) < this.#outlasting.patienceMs(code);
  }
}
