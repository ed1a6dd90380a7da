import { Orphans } from "../../../durable-objects/run/course/orphans.ts";
import { type RemovalOutcome, removalWait, type SweepOutcome } from "../../../durable-objects/run/course/sweep.ts";
import type { MemoryLedger } from "../../support/run/memory-ledger.ts";
import { broken } from "../invariants.ts";
import type { Random } from "./random.ts";
import type { Scene } from "./scene.ts";

/** Objects that one page of a list has, and names that a sweep holds at once: few, so that much happens in between. */
const PAGE = 2;
const WINDOW = 3;
/** Between two pages, or slices. */
const PAGE_MS = 300;

/** What becomes of a run when nobody works for it, drawn beside its schedule. */
export interface CleaningPlan {
  /** Attempts in a row that storage refuses: of each sweep, and of its removal. */
  readonly failures: number;
  /** Its user asks for more examples while the first sweep is under way. */
  readonly growth: number;
  /** From when on its user deletes it, as soon as that may be; null = never. Milliseconds. */
  readonly removedAt: number | null;
}

export function drawCleaning(random: Random, calmAt: number): CleaningPlan {
  return {
    failures: random.pick([0, 0, 1, 3, 8]),
    growth: random.pick([0, 0, 3]),
    removedAt: random.chance(0.3) ? random.int(500, calmAt + 60_000) : null,
  };
}

interface CleaningHost {
  swept(outcome: SweepOutcome): void;
  /** The user asks for so many more examples. */
  grow(examples: number): void;
  /** Everything that the run has itself goes. */
  forget(): void;
}

const epochOf = (name: string): number => Number(name.split("-")[1]);

/** What the object of a run does with its stored objects by alarms, a page at a time: other calls of the run come in between. */
export class Cleaning {
  readonly #world: Scene;
  readonly #ledger: MemoryLedger;
  readonly #plan: CleaningPlan;
  readonly #host: CleaningHost;
  /** Of the alarm that runs: the object has one at a time. */
  busy = false;
  #attempts = 0;
  #grown = false;
  /** What was there when the newest sweep began, or the removal. */
  #there: readonly string[] = [];

  constructor(world: Scene, ledger: MemoryLedger, plan: CleaningPlan, host: CleaningHost) {
    this.#world = world;
    this.#ledger = ledger;
    this.#plan = plan;
    this.#host = host;
  }

  /** `then`: the alarm has ended. */
  sweep(epoch: number, then: () => void): void {
    const orphans = new Orphans(epoch, WINDOW);
    this.#there = [...this.#world.objects.keys()].filter((name) => epochOf(name) <= epoch);
    const end = (failed: boolean): void => {
      this.busy = false;
      this.#attempts = failed ? this.#attempts + 1 : 0;
      this.#host.swept({ epoch, failed });
      then();
    };
    const page = (after: string): void => {
      if (this.#refuses()) return end(true);
      const names = [...this.#world.objects.keys()]
        .filter((name) => name > after)
        .sort()
        .slice(0, PAGE);
      for (const name of names) {
        const segment = { name, epoch: epochOf(name) };
        for (let from = orphans.missing(segment); from !== null; from = orphans.missing(segment)) orphans.learn(this.#ledger.segmentsAfter(from, WINDOW));
        if (orphans.has(segment)) this.#world.objects.delete(name);
      }
      this.#grow();
      const last = names.at(-1);
      if (last === undefined || names.length < PAGE) return end(false);
      this.#world.clock.after(PAGE_MS, () => page(last));
    };
    this.busy = true;
    this.#world.clock.after(PAGE_MS, () => page(""));
  }

  #grow(): void {
    if (this.#grown || this.#plan.growth === 0) return;
    this.#grown = true;
    this.#host.grow(this.#plan.growth);
  }

  #refuses(): boolean {
    return this.#world.outage || this.#attempts < this.#plan.failures;
  }

  /** A tombstone is there: what the run has goes, in slices. */
  remove(failures = 0): void {
    if (failures === 0) this.#there = [...this.#world.objects.keys()];
    const outcome = this.#removeSlice();
    this.#attempts = outcome === "failed" ? this.#attempts + 1 : this.#attempts;
    const wait = removalWait(outcome, failures);
    if (wait === null) return this.#host.forget();
    this.#world.clock.after(wait + PAGE_MS, () => this.remove(outcome === "failed" ? failures + 1 : failures));
  }

  #removeSlice(): RemovalOutcome {
    if (this.#refuses()) return "failed";
    const names = [...this.#world.objects.keys()];
    for (const name of names.slice(0, PAGE)) this.#world.objects.delete(name);
    return names.length > PAGE ? "more" : "gone";
  }

  /** Nothing is left of what was there that nobody points to. A zombie may have written later. */
  checkEnd(): void {
    const kept = new Set(this.#ledger.segmentsAfter("", Number.POSITIVE_INFINITY));
    const left = this.#there.filter((name) => this.#world.objects.has(name) && !kept.has(name));
    if (left.length > 0) broken(`nobody deletes ${left.join()} any more, to which nothing points`);
  }
}
