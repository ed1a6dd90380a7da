import { bytesOfHex, sha256Hex } from "../../config/sha256.ts";
import { PART_BYTES } from "../../limits.ts";

/**
 * What `metadata.json` says of the rows beside it, so that a change of them is found and named: how many there are, a digest of the file, and
 * marks by which rows that were changed are told.
 */
export type RowsDigest = {
  readonly rows: number;
  /**
   * Hex. Of a file of at most 8 MiB its sha256; of a larger one the sha256 of its blocks of 8 MiB, folded from the first one on: `d = sha256(d +
   * sha256(block))`, digests as their 32 bytes.
   */
  readonly sha256: string;
  /** 16 times two numbers of 16 hex digits: see `RowMarks`. */
  readonly marks: string;
};

/** Where a digest stands between two blocks; JSON. */
export interface RowsDigestState {
  readonly rows: number;
  readonly folded: string | null;
  readonly marks: string;
  /** Of the row that is cut at the end of the block: its hash so far, and its bytes. */
  readonly open: readonly [number, number, number];
}

/** Bytes of a block: the parts in which the file is written. */
export const DIGEST_BLOCK_BYTES = PART_BYTES;

const LINE_FEED = 0x0a;
const FRESH: RowsDigestState["open"] = [0xdeadbeef, 0x41c6ce57, 0];

/** Makes the digest of a results file block by block: it may stop after any, and go on elsewhere from its state. */
export class RowsDigester {
  #rows: number;
  #folded: string | null;
  readonly #marks: RowMarks;
  #open: [number, number, number];

  constructor(state: RowsDigestState | null = null) {
    this.#rows = state?.rows ?? 0;
    this.#folded = state?.folded ?? null;
    this.#marks = new RowMarks(state?.marks ?? "");
    this.#open = [...(state?.open ?? FRESH)];
  }

  /** The next block: of `DIGEST_BLOCK_BYTES` bytes unless it is the last. */
  async add(block: Uint8Array): Promise<void> {
    if (block.byteLength === 0) return;
    const digest = sha256Hex(block);
    this.#addRows(block);
    this.#folded = this.#folded === null ? await digest : await sha256Hex(bytesOfHex(this.#folded + (await digest)));
  }

  get state(): RowsDigestState {
    return { rows: this.#rows, folded: this.#folded, marks: this.#marks.text, open: this.#open };
  }

  /** Of all blocks; none may follow. */
  async result(): Promise<RowsDigest> {
    // A last line without its end.
    if (this.#open[2] > 0) this.#close();
    return { rows: this.#rows, sha256: this.#folded ?? (await sha256Hex("")), marks: this.#marks.text };
  }

  /** 53 bits of a row (cyrb53, as in metrics/grouping.ts, over bytes): it says where, never whether. */
  #addRows(block: Uint8Array): void {
    let [high, low, length] = this.#open;
    // An iterator would take twice as long.
    for (let at = 0; at < block.length; at++) {
      const byte = block[at] ?? 0;
      if (byte === LINE_FEED) {
        this.#open = [high, low, length];
        this.#close();
        [high, low, length] = this.#open;
        continue;
      }
      high = Math.imul(high ^ byte, 2654435761);
      low = Math.imul(low ^ byte, 1597334677);
      length += 1;
    }
    this.#open = [high, low, length];
  }

  #close(): void {
    let [high, low] = this.#open;
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    this.#marks.add(this.#rows, 4294967296 * (2097151 & low) + (high >>> 0));
    this.#rows += 1;
    this.#open = [...FRESH];
  }
}

/** Of a file that comes in chunks of any size. */
export async function rowsDigestOf(bytes: AsyncIterable<Uint8Array>): Promise<RowsDigest> {
  const digester = new RowsDigester();
  const block = new Uint8Array(DIGEST_BLOCK_BYTES);
  let filled = 0;
  for await (const chunk of bytes) {
    for (let rest = chunk; rest.byteLength > 0; ) {
      const taken = Math.min(rest.byteLength, block.byteLength - filled);
      block.set(rest.subarray(0, taken), filled);
      filled += taken;
      rest = rest.subarray(taken);
      if (filled < block.byteLength) continue;
      await digester.add(block);
      filled = 0;
    }
  }
  await digester.add(block.subarray(0, filled));
  return await digester.result();
}

/** Numbers are of this field: a prime, so that one can be divided by another. */
const PRIME = 2n ** 61n - 1n;
const GROUPS = 16;
const DIGITS = 16;

/**
 * Row `i` belongs to group `i mod 16`, of which two sums are kept: that of its rows' hashes, and that of each times `i + 1`. Where one row of a
 * group has changed, the sums differ by `d` and by `(i + 1) d`: the second difference over the first says which. So up to 16 rows are told, of any number, by 512 characters.
 */
export class RowMarks {
  readonly #sums: bigint[];

  constructor(text = "") {
    this.#sums = sumsOf(text);
  }

  /** `row`: from 0. `hash`: 53 bits of it. */
  add(row: number, hash: number): void {
    const at = 2 * (row % GROUPS);
    this.#sums[at] = ((this.#sums[at] ?? 0n) + BigInt(hash)) % PRIME;
    this.#sums[at + 1] = ((this.#sums[at + 1] ?? 0n) + BigInt(hash) * BigInt(row + 1)) % PRIME;
  }

  get text(): string {
    return this.#sums.map((sum) => sum.toString(16).padStart(DIGITS, "0")).join("");
  }
}

const sumsOf = (text: string): bigint[] =>
  Array.from({ length: 2 * GROUPS }, (_, at) => {
    const digits = text.slice(at * DIGITS, (at + 1) * DIGITS);
    return /^[0-9a-f]+$/.test(digits) ? BigInt(`0x${digits}`) % PRIME : 0n;
  });

/**
 * Which rows (from 0, ascending) of as many have changed, by two digests; null where they cannot be told: there are others in number, or too many.
 * `[]`: none, as far as the marks say.
 */
export function changedRows(stated: RowsDigest, found: RowsDigest): readonly number[] | null {
  if (stated.rows !== found.rows) return null;
  const [before, after] = [sumsOf(stated.marks), sumsOf(found.marks)];
  const changed: number[] = [];
  for (let group = 0; group < GROUPS; group++) {
    const [sum, weighted] = [0, 1].map((which) => difference(after[2 * group + which], before[2 * group + which]));
    if (sum === 0n && weighted === 0n) continue;
    const row = Number(((weighted ?? 0n) * inverse(sum ?? 0n)) % PRIME) - 1;
    if (row < 0 || row >= stated.rows || row % GROUPS !== group) return null;
    changed.push(row);
  }
  return changed.sort((a, b) => a - b);
}

const difference = (a = 0n, b = 0n): bigint => (a - b + PRIME) % PRIME;

/** By Fermat's little theorem; 0 of 0. */
function inverse(value: bigint): bigint {
  let [result, base] = [1n, value];
  for (let power = PRIME - 2n; power > 0n; power >>= 1n) {
    if ((power & 1n) === 1n) result = (result * base) % PRIME;
    base = (base * base) % PRIME;
  }
  return value === 0n ? 0n : result;
}

/** What a `metadata.json` states under `edgewise.rows_digest`; null where it states nothing of the kind. */
export function statedRowsDigest(metadata: unknown): RowsDigest | null {
  const { edgewise } = (metadata ?? {}) as { edgewise?: unknown };
  const { rows_digest } = (edgewise ?? {}) as { rows_digest?: unknown };
  const { rows, sha256, marks } = (rows_digest ?? {}) as Partial<Record<keyof RowsDigest, unknown>>;
  return typeof rows === "number" && Number.isSafeInteger(rows) && typeof sha256 === "string" && typeof marks === "string" ? { rows, sha256, marks } : null;
}
