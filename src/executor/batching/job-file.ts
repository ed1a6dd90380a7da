import { GrowingBytes } from "../../../r2-layout/growing-bytes.ts";
import type { BatchLimits } from "../../clients/batching/batch-route.ts";
import { BATCH_JOB_BYTES, BATCH_JOB_REQUESTS } from "../../limits.ts";

/** Requests on their way into one job: whole examples, in their order, as many as its provider and this executor take. */
export class JobFile {
  readonly #most: BatchLimits;
  readonly #bytes: GrowingBytes;
  readonly #encoder = new TextEncoder();
  #requests = 0;

  constructor({ requests, bytes }: BatchLimits) {
    this.#most = { requests: Math.min(requests, BATCH_JOB_REQUESTS), bytes: Math.min(bytes, BATCH_JOB_BYTES) };
    this.#bytes = new GrowingBytes(this.#most.bytes);
  }

  get bytes(): number {
    return this.#bytes.length;
  }

  get requests(): number {
    return this.#requests;
  }

  /** How many of the lines of an example were taken: all or none, but for the first example, of which as many are as there is room for. */
  add(lines: readonly string[]): number {
    const texts = lines.map((line) => this.#encoder.encode(`${line}\n`));
    const size = texts.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const isWhole = this.#requests + texts.length <= this.#most.requests && this.#bytes.length + size <= this.#most.bytes;
    if (!isWhole && this.#requests > 0) return 0;
    let taken = 0;
    for (const text of texts) {
      if (this.#requests >= this.#most.requests || this.#bytes.length + text.byteLength > this.#most.bytes) break;
      this.#bytes.append(text);
      this.#requests++;
      taken++;
    }
    return taken;
  }

  /** Everything that was added; nothing may be added afterwards. */
  take(): Uint8Array {
    return this.#bytes.take();
  }
}
