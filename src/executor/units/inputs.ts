import type { InputChunk } from "../../../durable-objects/run/protocol.ts";
import { inputsKey } from "../../../r2-layout/keys.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { INPUT_CACHE_BYTES } from "../../limits.ts";
import type { ExecutorBytes, HeldBytes } from "../isolate-bytes.ts";
import type { ExecutorStore } from "../ports.ts";

interface Cached {
  readonly lines: Promise<readonly string[]>;
  readonly bytes: number;
  readonly held: HeldBytes;
}

/** Pinned inputs of one run, by unit. Keeps at most INPUT_CACHE_BYTES of chunks, the least recently used leave first. */
export class Inputs {
  readonly #store: ExecutorStore;
  readonly #runId: string;
  readonly #cache = new Map<string, Cached>();
  readonly #isolate: ExecutorBytes;
  #bytes = 0;

  constructor(store: ExecutorStore, runId: string, isolate: ExecutorBytes) {
    this.#isolate = isolate;
    this.#store = store;
    this.#runId = runId;
  }

  /** Bytes of chunks held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws `storage_damaged` when the chunk that holds `unit` is not there any more, or not whole. */
  async of(unit: number, chunks: readonly InputChunk[]): Promise<RolloutInput> {
    const chunk = chunks.find(({ lo, hi }) => unit >= lo && unit < hi);
    if (chunk === undefined) throw new EdgewiseError("internal", `no input chunk holds unit ${unit}`);
    const line = (await this.#lines(chunk))[unit - chunk.lo];
    if (line === undefined) throw new EdgewiseError("storage_damaged", `the input chunk of unit ${unit} has too few rows in storage`);
    return JSON.parse(line) as RolloutInput;
  }

  #lines(chunk: InputChunk): Promise<readonly string[]> {
    const known = this.#cache.get(chunk.digest);
    if (known !== undefined) {
      this.#cache.delete(chunk.digest);
      this.#cache.set(chunk.digest, known);
      return known.lines;
    }
    const lines = this.#read(chunk);
    this.#cache.set(chunk.digest, { lines, bytes: chunk.bytes, held: this.#isolate.add(chunk.bytes) });
    this.#bytes += chunk.bytes;
    for (const digest of this.#cache.keys()) {
      if (this.#bytes <= INPUT_CACHE_BYTES || this.#cache.size === 1) break;
      this.#forget(digest);
    }
    return lines;
  }

  /** Holds nothing any more; whatever is asked for next is read anew. */
  drop(): void {
    for (const digest of [...this.#cache.keys()]) this.#forget(digest);
  }

  #forget(digest: string): void {
    const cached = this.#cache.get(digest);
    if (cached === undefined) return;
    this.#cache.delete(digest);
    this.#bytes -= cached.bytes;
    cached.held.release();
  }

  async #read(chunk: InputChunk): Promise<readonly string[]> {
    try {
      const key = inputsKey(this.#runId, chunk.digest);
      const bytes = await this.#store.readAll(key);
      if (bytes === null) throw new EdgewiseError("storage_damaged", `${key} is missing in storage`);
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).split("\n");
    } catch (thrown) {
      this.#forget(chunk.digest);
      throw thrown;
    }
  }
}
