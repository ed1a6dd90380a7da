import type { UnitRange } from "../../../durable-objects/run/protocol.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MAX_WHOLE_ORDER_BYTES, MAX_WHOLE_ORDER_ROWS, MIB, PERMUTED_BYTES, PERMUTED_ROWS } from "../../limits.ts";
import { drawnRanks } from "../../pinned-order.ts";
import { type InputWriter, sizeOf, type WrittenInputs } from "./input-writer.ts";

export interface PermutedOptions {
  readonly seed: number;
  /** All examples are one part. */
  readonly whole: boolean;
}

/**
 * Writes examples in an order that a seed gives, part by part: what is held is one part, and a run of a large data set begins with its first. Most
 * data sets are one.
 */
export class PermutedWriter implements InputWriter {
  readonly #writer: InputWriter;
  readonly #options: PermutedOptions;
  #lines: string[] = [];
  #bytes = 0;
  #lo: number;
  #parts: UnitRange[] = [];

  /** `lo`: position of the first example. */
  constructor(writer: InputWriter, lo: number, options: PermutedOptions) {
    this.#writer = writer;
    this.#options = options;
    this.#lo = lo;
  }

  async add(line: string): Promise<boolean> {
    const size = sizeOf(line);
    const { whole } = this.#options;
    const [rows, bytes] = whole ? [MAX_WHOLE_ORDER_ROWS, MAX_WHOLE_ORDER_BYTES] : [PERMUTED_ROWS, PERMUTED_BYTES];
    const full = this.#lines.length > 0 && (this.#lines.length >= rows || this.#bytes + size > bytes);
    if (full && whole) throw tooManyForOneOrder();
    if (full) await this.#permute();
    this.#lines.push(line);
    this.#bytes += size;
    return full;
  }

  async taken(): Promise<WrittenInputs> {
    const { chunks } = await this.#writer.close();
    return { chunks, permuted: this.#parts.splice(0) };
  }

  async close(): Promise<WrittenInputs> {
    await this.#permute();
    return await this.taken();
  }

  async #permute(): Promise<void> {
    const lines = this.#lines;
    if (lines.length === 0) return;
    const part = { lo: this.#lo, hi: this.#lo + lines.length };
    this.#lines = [];
    this.#bytes = 0;
    this.#lo = part.hi;
    for (const rank of drawnRanks(part, this.#options.seed)) await this.#writer.add(lines[rank] ?? "");
    this.#parts.push(part);
  }
}

const tooManyForOneOrder = (): EdgewiseError =>
  new EdgewiseError(
    "dataset_unreadable",
    `num_examples: a run that may stop early has its examples in one random order, of at most ${MAX_WHOLE_ORDER_ROWS} examples of ${MAX_WHOLE_ORDER_BYTES / MIB} MiB together; these are more.`,
    { hint: "Ask for fewer examples, or leave the rule for stopping out." },
  );
