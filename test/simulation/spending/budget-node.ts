import type { BudgetAnswer, BudgetLimits, BudgetRequest, BudgetView, JobAnswer, JobRequest } from "../../../durable-objects/budget/budget-control.ts";
import { BUDGET_SPANS } from "../../../durable-objects/budget/budget-control.ts";
import { Ledger, type LedgerChanges, type StoredLedger } from "../../../durable-objects/budget/ledger.ts";
import { broken } from "../invariants.ts";
import type { VirtualTime } from "../limiting/world/virtual-time.ts";

const NOTHING: StoredLedger = { limits: null, windows: [], parties: [], jobs: [] };

/** A Budget: its ledger as shipped, what its object has stored, and an end at any moment. */
export class BudgetNode {
  readonly #time: VirtualTime;
  #ledger: Ledger | null = null;
  #stored = NOTHING;
  /** Steps so far, and the one at which it is killed; null = at none. */
  steps = 0;
  /** The first invariant of its that was broken; null = none. */
  problem: string | null = null;
  killAt: number | null = null;

  constructor(time: VirtualTime, limits: BudgetLimits) {
    this.#time = time;
    this.set(limits);
  }

  set(limits: BudgetLimits): void {
    const ledger = this.#alive();
    ledger.set(limits, 0, this.#time.now());
    this.#write(ledger.takeChanges());
  }

  /** Throws when it is killed meanwhile. What is settled, unseen and allotted never exceeds a limit. */
  async exchange(request: BudgetRequest): Promise<BudgetAnswer> {
    this.#step();
    const ledger = this.#alive();
    const answer = ledger.exchange(request, this.#time.now());
    this.#step();
    this.#write(ledger.takeChanges());
    this.#check();
    this.#step();
    return answer;
  }

  /** The same of a word of a job. */
  async job(request: JobRequest): Promise<JobAnswer> {
    this.#step();
    const ledger = this.#alive();
    const answer = ledger.job(request, this.#time.now());
    this.#step();
    this.#write(ledger.takeChanges());
    this.#check();
    this.#step();
    return answer;
  }

  get view(): BudgetView {
    return this.#alive().view(this.#time.now()) ?? broken("it has no limits");
  }

  kill(): void {
    this.#ledger = null;
  }

  #check(): void {
    const { limits, spent, allotted, batches } = this.view;
    const held = batches?.amount ?? 0;
    for (const span of BUDGET_SPANS) {
      const { settled, unseen } = spent[span];
      if (settled + unseen.amount + allotted + held > (limits[span] ?? Number.POSITIVE_INFINITY))
        this.#broken(
          `${settled} settled, ${unseen.amount} unseen and ${allotted} allotted and ${held} held for jobs are more than the ${limits[span]} of ${span}`,
        );
    }
  }

  #broken(message: string): never {
    this.problem ??= message;
    broken(message);
  }

  #alive(): Ledger {
    this.#ledger ??= new Ledger(structuredClone(this.#stored), this.#time.now());
    return this.#ledger;
  }

  #write(changes: LedgerChanges | null): void {
    if (changes === null) return;
    const parties = new Map(this.#stored.parties.map((party) => [party.executor, party]));
    for (const executor of changes.gone) parties.delete(executor);
    for (const party of changes.put) parties.set(party.executor, party);
    const jobs = new Map(this.#stored.jobs.map((job) => [job.job, job]));
    for (const job of changes.jobs?.gone ?? []) jobs.delete(job);
    for (const job of changes.jobs?.put ?? []) jobs.set(job.job, job);
    this.#stored = structuredClone({
      limits: changes.windows === null ? this.#stored.limits : changes.limits,
      windows: changes.windows ?? this.#stored.windows,
      parties: [...parties.values()],
      jobs: [...jobs.values()],
    });
  }

  #step(): void {
    if (this.steps++ !== this.killAt) return;
    this.kill();
    throw new Error("the Budget was killed");
  }
}
