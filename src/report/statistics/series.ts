import { fixed, listNumber } from "../text/format.ts";

/** Values of an r-line that are printed, and kept. */
export const SHOWN_EXAMPLES = 50;
/** r-lines that are printed, and kept. */
export const SHOWN_ROLLOUTS = 16;

/** Where a value belongs: example j of the block, rollout i of that example, both from 0. */
export interface Position {
  readonly example: number;
  readonly rollout: number;
}

/** One named number over all rows: mean and population deviation as a stream, and the head of its r-lines. Bounded memory. */
export class Series {
  #count = 0;
  #sum = 0;
  #mean = 0;
  #squares = 0;
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;
  readonly #lines: { readonly values: (number | undefined)[]; count: number }[] = [];

  add(value: number, { example, rollout }: Position): void {
    this.#count += 1;
    this.#sum += value;
    const delta = value - this.#mean;
    this.#mean += delta / this.#count;
    this.#squares += delta * (value - this.#mean);
    this.#low = Math.min(this.#low, value);
    this.#high = Math.max(this.#high, value);
    if (rollout >= SHOWN_ROLLOUTS) return;
    while (this.#lines.length <= rollout) this.#lines.push({ values: [], count: 0 });
    const line = this.#lines[rollout];
    if (line === undefined) return;
    line.count += 1;
    if (example < SHOWN_EXAMPLES) line.values[example] = value;
  }

  /** Whether all values are one: a list of them says no more than their mean. */
  get constant(): boolean {
    return this.#low >= this.#high;
  }

  /** `avg - x, std - y`. */
  spread(): string {
    const deviation = Math.sqrt(Math.max(0, this.#squares) / Math.max(1, this.#count));
    return `avg - ${fixed(this.#count === 0 ? 0 : this.#sum / this.#count, 3)}, std - ${fixed(deviation, 3)}`;
  }

  /** `r1: [..]` and so on for a block of `examples` examples with up to `rollouts` rollouts each; `-` where a row has no value. */
  lines(examples: number, rollouts: number): string[] {
    const shown = Array.from({ length: Math.min(rollouts, SHOWN_ROLLOUTS) }, (_, i) => {
      const { values, count } = this.#lines[i] ?? { values: [], count: 0 };
      const head = Array.from({ length: Math.min(examples, SHOWN_EXAMPLES) }, (_, j) => {
        const value = values[j];
        return value === undefined ? "-" : listNumber(value);
      });
      return `r${i + 1}: [${head.join(", ")}${examples > SHOWN_EXAMPLES ? ` … (${count} values)` : ""}]`;
    });
    return rollouts > SHOWN_ROLLOUTS ? [...shown, `… (${rollouts - SHOWN_ROLLOUTS} more rollouts per example)`] : shown;
  }
}
