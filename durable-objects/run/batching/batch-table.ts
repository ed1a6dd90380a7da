import { execute } from "../../counted-sql.ts";
import { storedByAnother } from "../state/stored-version.ts";
import type { JobNumber, UnitRange } from "../work.ts";
import type { BatchStore } from "./batch-store.ts";
import type { AskedRange, Job } from "./job.ts";

/**
 * Tables of a run whose requests go out in batches, made when something is first written to them. Versions that do not know them refuse such a run by the version
 * of its head (`BATCHING_HEAD_VERSION`).
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS batch_job (job INTEGER PRIMARY KEY, value TEXT NOT NULL, units TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS unasked (lo INTEGER PRIMARY KEY, hi INTEGER NOT NULL, tries INTEGER NOT NULL);
`;

/** Version of `value`, its first field, and of `units`, its first element. */
const VERSION = 1;

/** Ranges read at once. */
const PAGE = 512;

type StoredUnits = [version: number, ...ranges: [lo: number, hi: number, tries: number][]];

const unknown = (version: unknown): Error => storedByAnother("has batches of version", String(version), VERSION);

export class BatchTable implements BatchStore {
  readonly #sql: SqlStorage;
  #isThere: boolean | null = null;
  #jobs: Map<JobNumber, Job> | null = null;
  /** As far as they were asked for. */
  readonly #units = new Map<JobNumber, readonly AskedRange[]>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  forget(): void {
    this.#isThere = null;
    this.#jobs = null;
    this.#units.clear();
  }

  jobs(): readonly Job[] {
    return [...this.#read().values()];
  }

  add(job: Job, units: readonly AskedRange[]): void {
    this.#make();
    this.#read().set(job.job, job);
    this.#units.set(job.job, units);
    const stored: StoredUnits = [VERSION, ...units.map(({ lo, hi, tries }): [number, number, number] => [lo, hi, tries])];
    execute(this.#sql, "INSERT INTO batch_job (job, value, units) VALUES (?, ?, ?)", job.job, textOf(job), JSON.stringify(stored));
  }

  put(job: Job): void {
    this.#read().set(job.job, job);
    execute(this.#sql, "UPDATE batch_job SET value = ? WHERE job = ?", textOf(job), job.job);
  }

  unitsOf(job: JobNumber): readonly AskedRange[] {
    const known = this.#units.get(job);
    if (known !== undefined) return known;
    if (!this.#there()) return [];
    const [row] = execute<{ units: string }>(this.#sql, "SELECT units FROM batch_job WHERE job = ?", job);
    const [version, ...ranges] = JSON.parse(row?.units ?? `[${VERSION}]`) as StoredUnits;
    if (version !== VERSION) throw unknown(version);
    const units = ranges.map(([lo, hi, tries]) => ({ lo, hi, tries }));
    this.#units.set(job, units);
    return units;
  }

  unasked(units: number): readonly AskedRange[] {
    if (!this.#there()) return [];
    const found: AskedRange[] = [];
    let left = units;
    for (let from = 0; left > 0; ) {
      const page = execute<{ lo: number; hi: number; tries: number }>(
        this.#sql,
        "SELECT lo, hi, tries FROM unasked WHERE lo >= ? ORDER BY lo LIMIT ?",
        from,
        PAGE,
      );
      for (const range of page) {
        if (left <= 0) break;
        found.push(range);
        left -= range.hi - range.lo;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      from = last.lo + 1;
    }
    return found;
  }

  unaskedIn({ lo, hi }: UnitRange): readonly AskedRange[] {
    if (!this.#there()) return [];
    return execute<{ lo: number; hi: number; tries: number }>(this.#sql, "SELECT lo, hi, tries FROM unasked WHERE lo < ? AND hi > ? ORDER BY lo", hi, lo);
  }

  putUnasked({ lo, hi, tries }: AskedRange): void {
    this.#make();
    execute(this.#sql, "INSERT INTO unasked (lo, hi, tries) VALUES (?, ?, ?)", lo, hi, tries);
  }

  deleteUnasked(lo: number): void {
    execute(this.#sql, "DELETE FROM unasked WHERE lo = ?", lo);
  }

  forgetTries(): void {
    if (this.#there()) execute(this.#sql, "UPDATE unasked SET tries = 0 WHERE tries > 0");
  }

  clearUnasked(): void {
    if (this.#there()) execute(this.#sql, "DELETE FROM unasked");
  }

  #make(): void {
    if (this.#there()) return;
    this.#sql.exec(TABLES);
    this.#isThere = true;
  }

  #there(): boolean {
    this.#isThere ??= execute(this.#sql, "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'batch_job'").length > 0;
    return this.#isThere;
  }

  #read(): Map<JobNumber, Job> {
    if (this.#jobs !== null) return this.#jobs;
    const rows = this.#there() ? execute<{ job: number; value: string }>(this.#sql, "SELECT job, value FROM batch_job ORDER BY job") : [];
    this.#jobs = new Map(rows.map(({ job, value }) => [job, jobOf(value)]));
    return this.#jobs;
  }
}

const textOf = (job: Job): string => JSON.stringify({ version: VERSION, ...job });

function jobOf(text: string): Job {
  const { version, ...job } = JSON.parse(text) as Job & { readonly version: number };
  if (version !== VERSION) throw unknown(version);
  return job;
}
