import { readCacheUsage } from "../cache-usage.ts";
import { textHash } from "../grouping.ts";

/** What the rollouts of each example answered in a run that reads the cache. */
export interface AnswersOfRun {
  /** 53 bits of them by example; NaN where a row does not say how its calls were answered. */
  readonly hashes: Float64Array;
  /** Rollouts by example; 0 where one had a call that was not answered from the cache. */
  readonly cached: Float64Array;
}

/** Gathers them from rows that come in the order of their attempts. */
export class AnswerMarks {
  readonly #hashes: number[] = [];
  readonly #cached: number[] = [];
  readonly #partly = new Set<number>();
  #isKnown = false;

  add(example: number, { cache_usage, completion }: Readonly<Record<string, unknown>>): void {
    const usage = readCacheUsage(cache_usage);
    const isFirst = example >= this.#hashes.length;
    if (isFirst) {
      this.#hashes[example] = 0;
      this.#cached[example] = 0;
    }
    if (usage === null) this.#hashes[example] = Number.NaN;
    if (usage === null || usage.cached < usage.calls) this.#partly.add(example);
    if (usage === null) return;
    this.#isKnown = true;
    this.#hashes[example] = Number.isNaN(this.#hashes[example]) ? Number.NaN : textHash(`${this.#hashes[example]} ${JSON.stringify(completion)}`);
    this.#cached[example] = (this.#cached[example] ?? 0) + 1;
  }

  /** Null where no row says anything of it. */
  values(): AnswersOfRun | null {
    if (!this.#isKnown) return null;
    return { hashes: Float64Array.from(this.#hashes), cached: Float64Array.from(this.#cached, (count, example) => (this.#partly.has(example) ? 0 : count)) };
  }
}

/** Rollouts of joined examples whose answers are equal in both runs, and all from the cache in one of them: the same answers, and no two observations. */
export function sameAnswers(a: AnswersOfRun | null, b: AnswersOfRun | null, join: { readonly a: Uint32Array; readonly b: Uint32Array }): number {
  if (a === null || b === null) return 0;
  let same = 0;
  for (const [pair, one] of join.a.entries()) {
    const other = join.b[pair] ?? -1;
    if (a.hashes[one] === b.hashes[other]) same += Math.max(a.cached[one] ?? 0, b.cached[other] ?? 0);
  }
  return same;
}
