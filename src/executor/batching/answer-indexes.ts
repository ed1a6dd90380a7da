import type { CollectedJob } from "../../../durable-objects/run/protocol.ts";
import { answerIndexKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { BATCH_INDEX_BYTES } from "../../limits.ts";
import type { ExecutorBytes, HeldBytes } from "../isolate-bytes.ts";
import type { ExecutorStore } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { AnswerIndex, type IndexedAnswer, type LostAnswer, type PlacedAnswer } from "./answer-index.ts";
import type { RequestId } from "./custom-id.ts";

interface Held {
  readonly index: Promise<AnswerIndex>;
  bytes: number;
  held: HeldBytes | null;
}

export interface IndexesHost {
  readonly store: Pick<ExecutorStore, "readAll">;
  readonly bytes: ExecutorBytes;
  readonly slice: Pick<Slice, "spend">;
}

/** An answer of a job, and of how many bytes its part is. */
export type FoundAnswer = PlacedAnswer & { readonly index: string; readonly size: number };

/** What jobs of one run say of a request. */
export interface SaidOf {
  /** Its answer, and the job that has it; null where none has. */
  readonly answer: FoundAnswer | null;
  /** Why the newest job that it was in has none; null where one has, or it was in none. */
  readonly lost: LostAnswer | null;
}

/** Indexes of the collected jobs of one run. Keeps at most BATCH_INDEX_BYTES of them, or the single one that is larger; the least recently used leave first. */
export class AnswerIndexes {
  readonly #host: IndexesHost;
  readonly #runId: string;
  readonly #known = new Map<string, Held>();

  constructor(host: IndexesHost, runId: string) {
    this.#host = host;
    this.#runId = runId;
  }

  /** Bytes of indexes held. */
  get bytes(): number {
    return [...this.#known.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** `jobs`: oldest first. Throws `storage_damaged` when an index is not there any more. */
  async saidOf(jobs: readonly CollectedJob[], asked: RequestId): Promise<SaidOf> {
    let lost: LostAnswer | null = null;
    for (const { index, earlier } of [...jobs].reverse()) {
      const { said, parts } = await this.#answerIn(index, asked);
      // A refusal of then is asked again, as a resume does with every error.
      if (said?.kind === "answer" && earlier === true && said.status >= 400) continue;
      if (said?.kind === "answer") return { answer: { ...said, index, size: parts[said.part ?? 0] ?? 0 }, lost: null };
      lost ??= said;
    }
    return { answer: null, lost };
  }

  async #answerIn(name: string, asked: RequestId): Promise<{ readonly said: IndexedAnswer | null; readonly parts: readonly number[] }> {
    const index = await this.#indexOf(name);
    return { said: index.of(asked), parts: index.parts };
  }

  #indexOf(name: string): Promise<AnswerIndex> {
    const known = this.#known.get(name);
    if (known !== undefined) {
      this.#known.delete(name);
      this.#known.set(name, known);
      return known.index;
    }
    const entry: Held = { index: this.#read(name), bytes: 0, held: null };
    this.#known.set(name, entry);
    return entry.index;
  }

  async #read(name: string): Promise<AnswerIndex> {
    const { store, slice, bytes: isolate } = this.#host;
    const key = answerIndexKey(this.#runId, name);
    try {
      slice.spend();
      const read = await store.readAll(key);
      if (read === null) throw new EdgewiseError("storage_damaged", `${key} is missing in storage`);
      const index = new AnswerIndex(new TextDecoder().decode(read));
      const entry = this.#known.get(name);
      if (entry !== undefined) {
        entry.bytes = read.byteLength;
        entry.held = isolate.add(read.byteLength);
      }
      this.#makeRoom();
      return index;
    } catch (thrown) {
      this.#forget(name);
      throw thrown;
    }
  }

  #makeRoom(): void {
    for (const [name, { held }] of [...this.#known]) {
      if (this.bytes <= BATCH_INDEX_BYTES || this.#known.size === 1) return;
      if (held !== null) this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#known.get(name)?.held?.release();
    this.#known.delete(name);
  }

  /** Holds nothing any more; whatever is asked for next is read anew. */
  drop(): void {
    for (const name of [...this.#known.keys()]) this.#forget(name);
  }
}
