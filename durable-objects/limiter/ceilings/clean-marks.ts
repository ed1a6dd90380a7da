import { LIMIT_KINDS, type LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { Uses } from "./suspects.ts";

const KEPT_MS = 120_000;
const REFUSED_WITHIN_MS = 1_000;

const none = (): Record<LimitKind, number> => ({ concurrent: 0, requests: 0, tokens: 0, input_tokens: 0, output_tokens: 0 });

/** The most that was used of each kind in the last minutes while nothing was refused. */
export class CleanMarks {
  #now = none();
  #before = none();
  #turned: number;
  #pending: { readonly uses: Uses; readonly at: number } | null = null;

  constructor(now: number) {
    this.#turned = now;
  }

  /** `uses` went well if nothing is refused in the `lag` after it: what is on its way may be refused yet. */
  mark(uses: Uses, lag: number, now: number): void {
    if (this.#pending !== null && now - this.#pending.at < lag + REFUSED_WITHIN_MS) return;
    if (this.#pending !== null) this.#keep(this.#pending.uses, now);
    this.#pending = { uses, at: now };
  }

  /** Something is refused. */
  refused(): void {
    this.#pending = null;
  }

  #keep(uses: Uses, now: number): void {
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
