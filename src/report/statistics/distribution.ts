import { fixed } from "../text/format.ts";
import { padTo, textWidth } from "../text/text-width.ts";

/** Values that are kept; the picture of so many does not change with more. */
export const KEPT_VALUES = 100_000;
const BINS = 8;
const BAR = 20;

/** How values spread, as eight bars. Bounded memory. */
export class Distribution {
  readonly #values: number[] = [];
  #count = 0;

  add(value: number): void {
    this.#count += 1;
    if (this.#values.length < KEPT_VALUES) this.#values.push(value);
  }

  /** Under `title`: one line per bin from the lowest value to the highest, both included in a bin; one line where all are the same. */
  lines(title: string): string[] {
    const values = this.#values;
    const some = this.#count > values.length ? ` (of the first ${values.length})` : "";
    const heading = `${title}${some}:`;
    const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
    const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    if (values.length === 0) return [heading, "no values"];
    if (low === high) return [heading, `all values = ${fixed(low, 3)}`];
    const counts = Array.from({ length: BINS }, () => 0);
    const binOf = (value: number): number => Math.min(BINS - 1, Math.floor((BINS * (value - low)) / (high - low)));
    for (const value of values) counts[binOf(value)] = (counts[binOf(value)] ?? 0) + 1;
    const edge = (bin: number): string => fixed(low + ((high - low) * bin) / BINS, 3);
    const width = Math.max(edge(0).length, edge(BINS).length);
    const most = Math.max(...counts);
    return [
      heading,
      ...counts.map((count, bin) => {
        // What there is at all can be seen.
        const bar = count === 0 ? 0 : Math.max(1, Math.round((BAR * count) / most));
        return `${edge(bin).padStart(width)} to ${edge(bin + 1).padStart(width)} ${"█".repeat(bar)}${bar === 0 ? "" : " "}${count}`;
      }),
    ];
  }
}

/** Two blocks of lines next to each other where `width` columns allow it, else one below the other. */
export function besideOrBelow(left: readonly string[], right: readonly string[], width: number): string[] {
  const column = Math.max(...left.map(textWidth)) + 4;
  if (column + Math.max(...right.map(textWidth)) > width) return [...left, ...right];
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => `${padTo(left[i] ?? "", column)}${right[i] ?? ""}`.trimEnd());
}
