import { isCount } from "../count-metrics.ts";
import { textHash } from "../grouping.ts";
import { summaryOfRow } from "../row-summary.ts";
import type { UnknownKey } from "../one-run/row-keys.ts";
import { ExampleClusters } from "./example-clusters.ts";
import { contentHash } from "./example-content.ts";
import { AnswerMarks, type AnswersOfRun } from "./same-answers.ts";
import type { WithinSums } from "./variance-components.ts";

/** The reward among metrics. */
export const REWARD = "reward";
/** Metrics that are told apart; further ones are not compared. */
const MOST_METRICS = 64;

/** One metric over the examples of a run. */
export interface ScoreColumn {
  /** Mean of the rollouts that have it, by example; NaN where none has. */
  readonly means: Float64Array;
  readonly within: WithinSums;
  /** Whether every value is 0 or 1. */
  readonly binary: boolean;
}

/** What a comparison knows of a run: 8 bytes for each example and metric, and four more numbers an example. */
export interface ScoreTable {
  readonly examples: number;
  readonly rollouts: number;
  readonly errored: number;
  /** The example's id, or 53 bits of it where it is no number. */
  readonly ids: Float64Array;
  readonly contents: Float64Array;
  /** Where the example's first row is, from 1. */
  readonly rows: Float64Array;
  /** And how many of its rows stand there one behind another: all of them, in files of ours. */
  readonly adjacent: Float64Array;
  /** False where rows have no prompts: then ids are all there is. */
  readonly contentKnown: boolean;
  /** Ids that stood over rows of several examples, as in files of 2025: then contents alone say what belongs together. */
  readonly wrongIds: boolean;
  /** Rows that name no example: such are one where they ask the same, and by themselves where that is not known either. */
  readonly unnamed: number;
  /** Whether no example has two rollouts. */
  readonly single: boolean;
  /** What each example shares with others, as 53 bits of it; null where nobody asked. */
  readonly clusters: Float64Array | null;
  /** Of a run that reads the cache; null of others. */
  readonly answers: AnswersOfRun | null;
  readonly columns: ReadonlyMap<string, ScoreColumn>;
}

interface Sums {
  readonly sum: number[];
  readonly squares: number[];
  readonly count: number[];
  binary: boolean;
}

/**
 * Gathers the scores of a run from its rows in any order. Rollouts that ended in an error have no score: they count as errored and
 * nowhere else. `trusted`: rows are ours, whose ids are right, so that only the first row of an example is looked into.
 */
export class ScoreTableBuilder {
  readonly #trusted: boolean;
  readonly #only: ReadonlySet<string> | null;
  readonly #most: number;
  readonly #byKey = new Map<number | string, number>();
  readonly #ids: number[] = [];
  readonly #contents: number[] = [];
  readonly #rows: number[] = [];
  readonly #adjacent: number[] = [];
  readonly #attempts: number[] = [];
  readonly #metrics = new Map<string, Sums>();
  readonly #clusters: ExampleClusters | null;
  readonly #answers = new AnswerMarks();
  #rollouts = 0;
  #errored = 0;
  #contentKnown = true;
  #unnamed = 0;

  /**
   * `metrics`: those wanted; null = all. `most`: so many of them are kept, the reward among them. `clusterBy`: the key of rows under which examples share
   * something.
   */
  constructor({
    trusted,
    metrics = null,
    most = MOST_METRICS,
    clusterBy,
  }: {
    readonly trusted: boolean;
    readonly metrics?: readonly string[] | null;
    readonly most?: number;
    readonly clusterBy?: string | undefined;
  }) {
    this.#clusters = clusterBy === undefined ? null : new ExampleClusters(clusterBy);
    this.#most = most;
    this.#trusted = trusted;
    this.#only = metrics === null ? null : new Set(metrics);
  }

  get examples(): number {
    return this.#ids.length;
  }

  /** The key of clusters, where no row has it. */
  get unknownKey(): UnknownKey | null {
    return this.#clusters?.unknown() ?? null;
  }

  /** `number`: of the row, from 1. */
  add(row: Readonly<Record<string, unknown>>, number: number): void {
    this.#rollouts += 1;
    const example = this.#exampleOf(row, number);
    this.#attempts[example] = (this.#attempts[example] ?? 0) + 1;
    if (number === (this.#rows[example] ?? 0) + (this.#adjacent[example] ?? 0)) this.#adjacent[example] = (this.#adjacent[example] ?? 0) + 1;
    this.#answers.add(example, row);
    const { reward, error, metrics } = summaryOfRow(row);
    if (error !== null) {
      this.#errored += 1;
      return;
    }
    this.#score(REWARD, example, reward);
    for (const name in metrics) if (name !== REWARD) this.#score(name, example, metrics[name] ?? 0);
  }

  /** Of all rows; adding may not go on afterwards. */
  table(): ScoreTable {
    const wrongIds = !this.#trusted && new Set(this.#ids).size < this.#ids.length;
    if (wrongIds) this.#joinByContent();
    return {
      examples: this.#ids.length,
      rollouts: this.#rollouts,
      errored: this.#errored,
      ids: Float64Array.from(this.#ids),
      contents: Float64Array.from(this.#contents),
      rows: Float64Array.from(this.#rows),
      adjacent: Float64Array.from(this.#adjacent),
      contentKnown: this.#contentKnown,
      wrongIds,
      unnamed: this.#unnamed,
      single: this.#attempts.every((attempts) => attempts === 1),
      clusters: this.#clusters?.values() ?? null,
      answers: wrongIds ? null : this.#answers.values(),
      columns: new Map([...this.#metrics].map(([name, sums]) => [name, columnOf(sums, this.#ids.length)])),
    };
  }

  /** Examples that ask the same become one: what they were told apart by is wrong. */
  #joinByContent(): void {
    const firsts = new Map<number, number>();
    const kept: number[] = [];
    const [ids, contents, rows, adjacent, attempts] = [this.#ids, this.#contents, this.#rows, this.#adjacent, this.#attempts].map((column) => column.splice(0));
    const columns = [...this.#metrics.values()].map(({ sum, squares, count }) => [sum, squares, count].map((into) => ({ into, from: into.splice(0) })));
    for (const [example, content] of (contents ?? []).entries()) {
      let first = firsts.get(content);
      if (first === undefined) {
        first = this.#ids.length;
        firsts.set(content, first);
        kept.push(example);
        this.#ids.push(ids?.[example] ?? 0);
        this.#contents.push(content);
        this.#rows.push(rows?.[example] ?? 0);
        this.#adjacent.push(adjacent?.[example] ?? 0);
        this.#attempts.push(0);
        for (const { into } of columns.flat()) into.push(0);
      }
      this.#attempts[first] = (this.#attempts[first] ?? 0) + (attempts?.[example] ?? 0);
      for (const { into, from } of columns.flat()) into[first] = (into[first] ?? 0) + (from[example] ?? 0);
    }
    this.#clusters?.keep(kept);
  }

  #exampleOf(row: Readonly<Record<string, unknown>>, number: number): number {
    // Rows of 2025 call the example `id`.
    const named = row.example_id ?? row.id ?? null;
    if (named === null) this.#unnamed += 1;
    const stated = typeof named === "number" ? named : named === null ? null : textHash(JSON.stringify(named));
    const known = this.#trusted && stated !== null ? this.#byKey.get(stated) : undefined;
    if (known !== undefined) return known;
    const content = contentHash(row);
    // The number of the row joins nothing: two runs need not have theirs in one order.
    const id = stated ?? content ?? textHash(`row ${number}`);
    if (content === null) this.#contentKnown = false;
    const key = this.#trusted ? id : `${id} ${content}`;
    const there = this.#byKey.get(key);
    if (there !== undefined) return there;
    const example = this.#ids.length;
    this.#byKey.set(key, example);
    this.#ids.push(id);
    this.#contents.push(content ?? id);
    this.#rows.push(number);
    this.#adjacent.push(0);
    this.#clusters?.add(row);
    return example;
  }

  #score(name: string, example: number, value: number): void {
    let sums = this.#metrics.get(name);
    if (sums === undefined) {
      if (this.#metrics.size >= this.#most || (this.#only !== null && !this.#only.has(name))) return;
      sums = { sum: [], squares: [], count: [], binary: !isCount(name) };
      this.#metrics.set(name, sums);
    }
    // Dense, since an array with holes takes several times the memory.
    while (sums.sum.length <= example) {
      sums.sum.push(0);
      sums.squares.push(0);
      sums.count.push(0);
    }
    sums.sum[example] = (sums.sum[example] ?? 0) + value;
    sums.squares[example] = (sums.squares[example] ?? 0) + value ** 2;
    sums.count[example] = (sums.count[example] ?? 0) + 1;
    sums.binary &&= value === 0 || value === 1;
  }
}

function columnOf({ sum, squares, count, binary }: Sums, examples: number): ScoreColumn {
  const means = new Float64Array(examples).fill(Number.NaN);
  let [inside, freedom, inverse] = [0, 0, 0];
  for (const [example, attempts] of count.entries()) {
    if (attempts === 0) continue;
    const total = sum[example] ?? 0;
    means[example] = total / attempts;
    inside += Math.max(0, (squares[example] ?? 0) - total ** 2 / attempts);
    freedom += attempts - 1;
    inverse += 1 / attempts;
  }
  return { means, binary, within: { squares: inside, freedom, inverse } };
}
