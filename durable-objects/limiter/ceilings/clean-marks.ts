import { LIMIT_KINDS, type LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { Uses } from "./suspects.ts";

const KEPT_MS = 120_000;

const none = (): Record<LimitKind, number> => ({ concurrent: 0, requests: 0, tokens: 0, input_tokens: 0, output_tokens: 0 });

/** The most that was used of each kind in the last minutes while nothing was refused. */
export class CleanMarks {
  #now = none();
  #before = none();
  #turned: number;

  constructor(now: number) {
    this.#turned = now;
  }

  mark(uses: Uses, now: number): void {
    if (now - this.#turned > KEPT_MS) {
      this.#before = this.#now;
      this.#now = none();
      this.#turned = now;
    }
    for (const kind of LIMIT_KINDS) this.#now[kind] = Math.max(this.#now[kind], uses[kind]);
  }

  get most(): Uses {
    const most = none();
    for (const kind of LIMIT_KINDS) most[kind] = Math.max(this.#now[kind], this.#before[kind]);
    return most;
  }
}
