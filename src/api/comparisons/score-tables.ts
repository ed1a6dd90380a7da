import { MAX_COMPARED_EXAMPLES } from "../../limits.ts";
import { type Join, joinTables } from "../../metrics/comparison/join.ts";
import type { ScoreTable } from "../../metrics/comparison/score-table.ts";

/** After their last use: for somebody who looks through a comparison page by page. */
const KEPT_MS = 60_000;

interface Kept {
  readonly table: ScoreTable;
  readonly usedAt: number;
}

/**
 * What comparisons of this isolate have read: scores by run, digest of its rows, and what was asked of them. Of as many examples as one comparison may have:
 * 26 MiB with eight metrics each, beside the 60 that one takes while it reads. Data only, since no request may wait for another one's.
 */
export class ScoreTables {
  /** Those used last stand last. */
  readonly #kept = new Map<string, Kept>();
  /** Of a baseline's table by that of a candidate: 8 bytes an example, for as long as both tables are kept. */
  readonly #joins = new WeakMap<ScoreTable, WeakMap<ScoreTable, Join>>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  get(key: string): ScoreTable | null {
    const kept = this.#kept.get(key);
    if (kept === undefined || this.#now() - kept.usedAt >= KEPT_MS) return null;
    this.#use(key, kept.table);
    return kept.table;
  }

  put(key: string, table: ScoreTable): void {
    this.#use(key, table);
    let examples = [...this.#kept.values()].reduce((sum, kept) => sum + kept.table.examples, 0);
    for (const [oldest, { table: old, usedAt }] of this.#kept) {
      if (examples <= MAX_COMPARED_EXAMPLES && this.#now() - usedAt < KEPT_MS) break;
      examples -= old.examples;
      this.#kept.delete(oldest);
    }
  }

  /** Made once: joining takes longer than anything else of a page of examples. */
  join(baseline: ScoreTable, candidate: ScoreTable): Join {
    const joins = this.#joins.get(baseline) ?? new WeakMap<ScoreTable, Join>();
    this.#joins.set(baseline, joins);
    const join = joins.get(candidate) ?? joinTables(baseline, candidate);
    joins.set(candidate, join);
    return join;
  }

  #use(key: string, table: ScoreTable): void {
    this.#kept.delete(key);
    this.#kept.set(key, { table, usedAt: this.#now() });
  }
}
