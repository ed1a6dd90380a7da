import { Services } from "../../../src/executor/hosting/services.ts";
import type { UnitTimes, Wall } from "../../../src/executor/session/unit-times.ts";
import { broken } from "../invariants.ts";
import type { Plan } from "../world/plan.ts";

const SLICE_MS = 60_000;
/** A tenth of the platform's: the slice of an executor, the end of its work, and the end of its invocation; and the deadline of a unit. */
const WALLED = { slice: 72_000, work: 87_000, end: 90_000, deadline: 78_000 };

/** How long one executor may live, and what it knows of how long units take: where the platform ends invocations, what is open then is lost. */
export class Invocation {
  readonly #bornAt: number;
  readonly #walled: boolean;
  readonly #services = new Services();
  /** The shortest that a unit of a run took this executor. */
  readonly #shortest = new Map<string, number>();
  readonly #resumed = new Set<string>();

  /** `now`: by the executor's own clock, as all times here. Milliseconds. */
  constructor({ walled }: Plan, now: number) {
    this.#bornAt = now;
    this.#walled = walled;
  }

  get wall(): Wall | null {
    return this.#walled ? { endsAt: this.#bornAt + WALLED.work, deadline: WALLED.deadline } : null;
  }
  get deadline(): number | null {
    return this.#walled ? WALLED.deadline : null;
  }
  isOver(now: number): boolean {
    return now - this.#bornAt > (this.#walled ? WALLED.slice : SLICE_MS);
  }
  /** What is still open is given up a moment before the platform ends everything. */
  gives(now: number): "up" | "out" | null {
    if (!this.#walled || now - this.#bornAt < WALLED.work) return null;
    return now - this.#bornAt < WALLED.end ? "up" : "out";
  }

  timesOf(run: string): UnitTimes {
    return this.#services.timesOf(run);
  }
  /** Runs of which it would do no more unit. */
  passes(now: number): string[] {
    return this.#services.beyond(this.wall, now);
  }

  ended(run: string, ms: number): void {
    this.#shortest.set(run, Math.min(this.#shortest.get(run) ?? Number.POSITIVE_INFINITY, ms));
  }
  /** What is open when it ends goes on elsewhere. */
  resumes(run: string): void {
    this.timesOf(run).resume();
    this.#resumed.add(run);
  }
  mayBegin(run: string, unit: number, now: number): void {
    const { wall } = this;
    const shortest = this.#shortest.get(run);
    if (wall === null || shortest === undefined || this.#resumed.has(run)) return;
    if (now + Math.min(shortest, WALLED.deadline) > wall.endsAt) broken(`unit ${unit} is begun though it cannot be done before the invocation ends`);
  }
}
