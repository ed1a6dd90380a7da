/** What one run is to do. */
export interface RunPlan {
  readonly id: string;
  readonly examples: number;
  /** `-c`. */
  readonly concurrency: number;
  /** `--priority`; absent = the default. */
  readonly priority?: number;
  /** Characters of its prompts, from and to; default 800 to 1,600. */
  readonly prompts?: readonly [number, number];
  /** What its requests bound answers by; absent = nothing. */
  readonly max_tokens?: number;
  /** When it begins. Milliseconds since the beginning. */
  readonly from_ms?: number;
}

/** A run as its executors see it: examples that wait, and what became of them. Times are milliseconds since the beginning. */
export class RunLoad {
  readonly plan: RunPlan;
  /** When each example was answered, in that order. */
  readonly answeredAt: number[] = [];
  readonly failures: string[] = [];
  readonly #returned: number[] = [];
  #next = 0;

  constructor(plan: RunPlan) {
    this.plan = plan;
  }

  get isOver(): boolean {
    return this.answeredAt.length + this.failures.length >= this.plan.examples;
  }

  /** From its beginning to its first result; null before there is one. */
  get firstAfter(): number | null {
    const [first] = this.answeredAt;
    return first === undefined ? null : first - (this.plan.from_ms ?? 0);
  }

  /** Length of the prompt of an example. */
  characters(example: number): number {
    const [low, high] = this.plan.prompts ?? [800, 1_600];
    return low + ((example * 7_919) % (high - low + 1));
  }

  /** Examples that nobody has begun. */
  get waiting(): number {
    return this.plan.examples - this.#next + this.#returned.length;
  }

  take(): number | null {
    const returned = this.#returned.pop();
    if (returned !== undefined) return returned;
    return this.#next < this.plan.examples ? this.#next++ : null;
  }

  /** Whoever had it is gone. */
  giveBack(example: number): void {
    this.#returned.push(example);
  }

  answered(now: number): void {
    this.answeredAt.push(now);
  }

  failed(why: string): void {
    this.failures.push(why);
  }

  /** Examples answered in `[from, to)`. */
  answeredBetween(from: number, to: number): number {
    return this.answeredAt.filter((at) => at >= from && at < to).length;
  }
}
