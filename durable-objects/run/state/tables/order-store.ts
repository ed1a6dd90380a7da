import { EdgewiseError } from "../../../../src/errors/result.ts";
import { DATA_ORDER, type PermutedPart, PinnedOrder } from "../../../../src/pinned-order.ts";

/** Version of the record: another one is refused by name. */
const VERSION = 1;

interface StoredOrder {
  readonly version: typeof VERSION;
  readonly seed: number;
  readonly parts: readonly (readonly [lo: number, hi: number])[];
}

/** One record of the run, as text. */
export interface OrderRecord {
  get(): string | null;
  put(text: string): void;
  remove(): void;
}

/** Which parts of the pinned examples were permuted, by which seed: a run without the record has them as its data set does. */
export class OrderStore {
  readonly #record: OrderRecord;
  #order: PinnedOrder | null = null;

  constructor(record: OrderRecord) {
    this.#record = record;
  }

  get(): PinnedOrder {
    this.#order ??= this.#read();
    return this.#order;
  }

  /** A part behind all that are known. Throws a `RangeError` for another seed: it would give the parts before it another order. */
  permute(part: PermutedPart, seed: number): void {
    const known = this.#stored();
    if (known !== null && known.seed !== seed) throw new RangeError(`the examples are permuted by seed ${known.seed}, not ${seed}`);
    const stored: StoredOrder = { version: VERSION, seed, parts: [...(known?.parts ?? []), [part.lo, part.hi]] };
    this.#record.put(JSON.stringify(stored));
    this.#order = null;
  }

  clear(): void {
    if (this.#record.get() !== null) this.#record.remove();
    this.#order = null;
  }

  forget(): void {
    this.#order = null;
  }

  #read(): PinnedOrder {
    const stored = this.#stored();
    if (stored === null) return DATA_ORDER;
    return new PinnedOrder(
      stored.seed,
      stored.parts.map(([lo, hi]) => ({ lo, hi })),
    );
  }

  #stored(): StoredOrder | null {
    const text = this.#record.get();
    const stored = text === null ? null : (JSON.parse(text) as StoredOrder);
    if (stored !== null && stored.version !== VERSION) {
      throw new EdgewiseError("stored_version_unknown", `This run has an order of version ${String(stored.version)}; this version knows ${VERSION}.`, {
        hint: "Deploy the version of edgewise that stored it again, or a newer one.",
      });
    }
    return stored;
  }
}
