import { EdgewiseError } from "../../../src/errors/result.ts";
import { execute } from "../../counted-sql.ts";
import type { BaselineScore, BaselineScores, StoppingStore, StoredWatch } from "./stopping-store.ts";

/**
 * Scores of the run that this one is held against, a row for each part that was told, made when the first one is. No change of version: code that does not
 * know it plays such a run to its end.
 */
const BASELINE_TABLE = "CREATE TABLE IF NOT EXISTS baseline_score (lo INTEGER PRIMARY KEY, hi INTEGER NOT NULL, pairs INTEGER NOT NULL, scores TEXT NOT NULL)";

/** Units of one row, which stays far below the size that a row may have. */
const PART_UNITS = 4_096;

/** The key of the watch among the Run's records. */
const WATCH = "watch";

export class StoppingTable implements StoppingStore {
  readonly #sql: SqlStorage;
  /** As it was read or written last: what is read of it is not changed. */
  #watch: StoredWatch | null = null;
  #part: { readonly lo: number; readonly scores: readonly BaselineScore[] } | null = null;
  #isThere: boolean | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  forget(): void {
    this.#watch = null;
    this.#part = null;
    this.#isThere = null;
  }

  watch(): StoredWatch | null {
    if (this.#watch !== null) return this.#watch;
    const [row] = execute<{ value: string }>(this.#sql, "SELECT value FROM record WHERE key = ?", WATCH);
    if (row === undefined) return null;
    const watch = JSON.parse(row.value) as StoredWatch;
    if (watch.version !== 1)
      throw new EdgewiseError("stored_version_unknown", `This run is watched in the form of version ${String(watch.version)}; this version knows 1.`, {
        hint: "Deploy the version of edgewise that stored it again, or a newer one.",
      });
    this.#watch = watch;
    return watch;
  }
  putWatch(watch: StoredWatch): void {
    execute(this.#sql, "INSERT OR REPLACE INTO record (key, value) VALUES (?, ?)", WATCH, JSON.stringify(watch));
    this.#watch = watch;
  }
  forgetWatch(): void {
    this.#watch = null;
    execute(this.#sql, "DELETE FROM record WHERE key = ?", WATCH);
  }

  putBaseline(lo: number, { scores, pairs }: BaselineScores): void {
    execute(this.#sql, BASELINE_TABLE);
    this.#isThere = true;
    this.#part = null;
    execute(this.#sql, "DELETE FROM baseline_score WHERE hi > ?", lo);
    for (let from = 0; from < scores.length; from += PART_UNITS) {
      const part = scores.slice(from, from + PART_UNITS);
      const range = [lo + from, lo + from + part.length] as const;
      execute(this.#sql, "INSERT INTO baseline_score (lo, hi, pairs, scores) VALUES (?, ?, ?, ?)", ...range, pairs ? 1 : 0, JSON.stringify(part));
    }
  }
  baselineOf(unit: number): BaselineScore | null {
    const known = this.#part;
    const part = known !== null && unit >= known.lo && unit < known.lo + known.scores.length ? known : this.#readPart(unit);
    this.#part = part;
    return part?.scores[unit - part.lo] ?? null;
  }
  #readPart(unit: number): { readonly lo: number; readonly scores: readonly BaselineScore[] } | null {
    if (!this.#there()) return null;
    const [row] = execute<{ lo: number; scores: string }>(this.#sql, "SELECT lo, scores FROM baseline_score WHERE lo <= ? AND hi > ?", unit, unit);
    return row === undefined ? null : { lo: row.lo, scores: JSON.parse(row.scores) as BaselineScore[] };
  }
  baselinePairs(): boolean {
    if (!this.#there()) return false;
    const [{ all, pairs } = { all: 0, pairs: 0 }] = execute<{ all: number; pairs: number }>(
      this.#sql,
      'SELECT count(*) AS "all", coalesce(sum(pairs), 0) AS pairs FROM baseline_score',
    );
    return all > 0 && all === pairs;
  }

  #there(): boolean {
    this.#isThere ??= execute(this.#sql, "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'baseline_score'").length > 0;
    return this.#isThere;
  }
}
