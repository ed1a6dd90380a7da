import type { InputChunk } from "../../../durable-objects/run/protocol.ts";
import { inputsKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { INPUT_CHUNK_BYTES, INPUT_CHUNK_ROWS } from "../../limits.ts";
import type { ExecutorPorts } from "../ports.ts";
import { type InputWriter, sizeOf, type WrittenInputs } from "./input-writer.ts";

/** Each holds at most `INPUT_CHUNK_BYTES`, or one larger row. */
const CHUNKS_UNDER_WAY = 4;

/** Chunks of a part that the run can begin with, or go on with, while more is read: some ten thousand short rows, which are read in a fraction of a second. */
const PART_CHUNKS = 16;

/** Writes input lines as content-addressed chunks. */
export class ChunkWriter implements InputWriter {
  #chunks: InputChunk[] = [];
  readonly #ports: ExecutorPorts;
  readonly #runId: string;
  readonly #encoder = new TextEncoder();
  #lines: string[] = [];
  #size = 0;
  #lo: number;
  /** Chunks on their way, oldest first. */
  #storing: Promise<unknown>[] = [];

  constructor(ports: ExecutorPorts, runId: string, lo: number) {
    this.#ports = ports;
    this.#runId = runId;
    this.#lo = lo;
  }

  async add(line: string): Promise<boolean> {
    const size = sizeOf(line) + 1;
    const full = this.#lines.length > 0 && (this.#lines.length >= INPUT_CHUNK_ROWS || this.#size + size > INPUT_CHUNK_BYTES);
    if (full) await this.#cut();
    this.#lines.push(line);
    this.#size += size;
    return full && this.#chunks.length >= PART_CHUNKS;
  }

  async taken(): Promise<WrittenInputs> {
    await Promise.all(this.#storing.splice(0));
    return { chunks: this.#chunks.splice(0), permuted: [] };
  }

  async close(): Promise<WrittenInputs> {
    await this.#cut();
    return await this.taken();
  }

  /** Chunks are stored while the next is filled: what storage takes for each would add up. */
  async #cut(): Promise<void> {
    if (this.#lines.length === 0) return;
    const bytes = this.#encoder.encode(`${this.#lines.join("\n")}\n`);
    const digest = await sha256Hex(bytes);
    if (this.#storing.length >= CHUNKS_UNDER_WAY) await this.#storing.shift();
    const storing = this.#ports.store.create(inputsKey(this.#runId, digest), bytes);
    // Waited for in its turn; until then a failure is nobody's.
    storing.catch(() => undefined);
    this.#storing.push(storing);
    this.#chunks.push({ lo: this.#lo, hi: this.#lo + this.#lines.length, digest, bytes: bytes.byteLength });
    this.#lo += this.#lines.length;
    this.#lines = [];
    this.#size = 0;
  }
}
