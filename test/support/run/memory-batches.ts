import type { BatchStore } from "../../../durable-objects/run/batching/batch-store.ts";
import type { AskedRange, Job } from "../../../durable-objects/run/batching/job.ts";
import type { JobNumber, UnitRange } from "../../../durable-objects/run/protocol.ts";

/** What a Run in batches remembers, as maps. */
export class MemoryBatches implements BatchStore {
  readonly rows = new Map<JobNumber, Job>();
  readonly units = new Map<JobNumber, readonly AskedRange[]>();
  readonly ranges = new Map<number, AskedRange>();

  jobs(): readonly Job[] {
    return [...this.rows.values()].sort((a, b) => a.job - b.job);
  }
  add(job: Job, units: readonly AskedRange[]): void {
    if (this.rows.has(job.job)) throw new Error(`job ${job.job} is there already`);
    this.rows.set(job.job, structuredClone(job));
    this.units.set(job.job, structuredClone(units));
  }
  put(job: Job): void {
    if (!this.rows.has(job.job)) throw new Error(`no job ${job.job}`);
    this.rows.set(job.job, structuredClone(job));
  }
  unitsOf(job: JobNumber): readonly AskedRange[] {
    return this.units.get(job) ?? [];
  }

  unasked(units: number): readonly AskedRange[] {
    let left = units;
    return this.#sorted().filter(({ lo, hi }) => {
      const taken = left > 0;
      left -= hi - lo;
      return taken;
    });
  }
  unaskedIn({ lo, hi }: UnitRange): readonly AskedRange[] {
    return this.#sorted().filter((range) => range.lo < hi && range.hi > lo);
  }
  putUnasked(range: AskedRange): void {
    if (this.ranges.has(range.lo)) throw new Error(`unit ${range.lo} is not asked already`);
    this.ranges.set(range.lo, range);
  }
  deleteUnasked(lo: number): void {
    this.ranges.delete(lo);
  }
  forgetTries(): void {
    for (const range of this.ranges.values()) this.ranges.set(range.lo, { ...range, tries: 0 });
  }
  clearUnasked(): void {
    this.ranges.clear();
  }
  #sorted(): AskedRange[] {
    return [...this.ranges.values()].sort((a, b) => a.lo - b.lo);
  }
}
