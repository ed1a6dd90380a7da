import type { Amounts } from "../../../src/endpoint-limits/limit-kinds.ts";
import { broken } from "../invariants.ts";
import type { LimitedWorld } from "./world/limited-world.ts";

const MINUTE_MS = 60_000;
/** A run that has begun has its executors by then. */
const JOINED_MS = 1_000;

/** Looks at every request that is sent, whether it is within a limit that was given. */
export class SendsWatch {
  readonly #world: LimitedWorld;
  readonly #given: Amounts;
  readonly #sent: number[] = [];
  #first = 0;
  /** When all of the limit on requests in flight was used last. */
  #fullAt: number;
  #exceeded: string | null = null;

  constructor(world: LimitedWorld, given: Amounts) {
    this.#world = world;
    this.#given = given;
    this.#fullAt = world.now;
    world.port.onSent = () => this.#look();
  }

  /** No limit was exceeded so far. */
  check(): void {
    if (this.#exceeded !== null) broken(this.#exceeded);
  }

  /** Whoever could use it has all of it, again after whatever happened: nothing is lost for longer than `leaseMs`. */
  checkUse(leaseMs: number): void {
    const { concurrent, requests } = this.#given;
    const { now } = this.#world;
    if (this.#demand() < (concurrent ?? 0) || requests !== undefined || concurrent === undefined) {
      this.#fullAt = now;
      return;
    }
    if (now - this.#fullAt > leaseMs) broken(`of ${concurrent} requests in flight not all are used for ${now - this.#fullAt} ms`);
  }

  #look(): void {
    const { now, port } = this.#world;
    const { concurrent, requests } = this.#given;
    if (concurrent !== undefined && port.underWay > concurrent)
      this.#exceeded ??= `${port.underWay} requests are in flight at ${now} ms, and ${concurrent} may be`;
    if (port.underWay === concurrent) this.#fullAt = now;
    this.#sent.push(now);
    while ((this.#sent[this.#first] ?? now) <= now - MINUTE_MS) this.#first++;
    const inMinute = this.#sent.length - this.#first;
    if (requests !== undefined && inMinute > requests)
      this.#exceeded ??= `${inMinute} requests were sent in the minute before ${now} ms, and ${requests} may be`;
  }

  /** Requests that runs could have in flight now. */
  #demand(): number {
    const { now, runs } = this.#world;
    const begun = runs.filter(({ plan }) => (plan.from_ms ?? 0) + JOINED_MS < now);
    return begun.reduce((sum, { waiting, plan }) => sum + Math.min(waiting, plan.concurrency), 0);
  }
}
