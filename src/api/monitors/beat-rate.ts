import { EdgewiseError } from "../../errors/result.ts";
import { isLet, type RateLimit } from "../access/request-rate.ts";

/** How often one that calls without a pause is heard all the same. */
const HEARD_MS = 1_000;
/** Monitors of one isolate that are remembered; beyond it all are forgotten, and heard once more. */
const MOST_KNOWN = 10_000;

/**
 * How often one monitor is called: as often as the counter of the deployment lets through, and then once a second, so that a flood of beats costs nobody
 * anything and a job that is alive is never called lost for it. Each address counts for itself.
 */
export class BeatRate {
  readonly #heard = new Map<string, number>();

  /** Throws `limit_reached`. `now`: Unix milliseconds. */
  async check(rate: RateLimit | null, id: string, now: number): Promise<void> {
    if (rate === null) return;
    const heardAt = this.#heard.get(id) ?? 0;
    if (now - heardAt < HEARD_MS && now >= heardAt && !(await isLet(rate, `beat ${id}`, 1)))
      throw new EdgewiseError("limit_reached", "This monitor is called too often: one beat a second says as much.", { retry_after_s: 1 });
    if (this.#heard.size >= MOST_KNOWN) this.#heard.clear();
    this.#heard.set(id, now);
  }
}
