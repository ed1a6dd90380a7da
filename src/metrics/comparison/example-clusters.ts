import { textHash } from "../grouping.ts";
import { valueUnder } from "../one-run/row-key.ts";
import { RowKeys, type UnknownKey } from "../one-run/row-keys.ts";

/** What each example shares with others: 53 bits of its value under a key, from its first row. */
export class ExampleClusters {
  readonly #key: string;
  readonly #keys: RowKeys;
  readonly #values: number[] = [];

  constructor(key: string) {
    this.#key = key;
    this.#keys = new RowKeys(key);
  }

  /** The first row of an example that is not there yet. */
  add(row: Readonly<Record<string, unknown>>): void {
    this.#keys.add(row);
    this.#values.push(textHash(valueUnder(row, this.#key)));
  }

  /** Examples in this order remain, of those that there are. */
  keep(examples: readonly number[]): void {
    const values = this.#values.splice(0);
    for (const example of examples) this.#values.push(values[example] ?? 0);
  }

  values(): Float64Array {
    return Float64Array.from(this.#values);
  }

  /** Null where some row has the key. */
  unknown(): UnknownKey | null {
    return this.#keys.unknown();
  }
}
