import { RetryWaits } from "../../../src/executor/units/retry-waits.ts";
import { broken } from "../invariants.ts";

/** Of so many first waits in a row that are all the same none is drawn. */
const NOT_DRAWN = 6;

/** How long one executor leaves alone what failed, by the real rule. Executors that failed together are not to come back together. */
export class Waits {
  readonly #random: () => number;
  #waits: RetryWaits;
  #first: number[] = [];
  readonly #failed = new Set<string>();

  constructor(random: () => number) {
    this.#random = random;
    this.#waits = new RetryWaits(random);
  }

  /** A new grant begins. */
  renew(): void {
    this.#waits = new RetryWaits(this.#random);
    this.#failed.clear();
  }

  after(call: string): number {
    const wait = this.#waits.after(call, null);
    if (!this.#failed.has(call)) this.#first = [...this.#first.slice(1 - NOT_DRAWN), wait];
    this.#failed.add(call);
    if (this.#first.length === NOT_DRAWN && new Set(this.#first).size === 1) broken(`executors that fail together come back together, ${wait} ms later`);
    return wait;
  }
}
