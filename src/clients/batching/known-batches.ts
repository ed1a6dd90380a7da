import { type BatchCalls, isRefusedThere, isUnknownThere } from "./batch-calls.ts";
import type { SeenBatch } from "./batch-route.ts";
import type { Fields } from "../openai/reply-fields.ts";

/** Batches of a provider that somebody was told of, by their names: both providers have them below one path, look at them and stop them in one way. */
export class KnownBatches {
  readonly #calls: BatchCalls;
  readonly #path: string;
  readonly #seen: (batch: Fields) => SeenBatch;

  /** `path`: of all of them. `seen`: what a batch says, as it comes. */
  constructor(calls: BatchCalls, path: string, seen: (batch: Fields) => SeenBatch) {
    this.#calls = calls;
    this.#path = path;
    this.#seen = seen;
  }

  pathOf(batch_id: string): string {
    return `${this.#path}/${encodeURIComponent(batch_id)}`;
  }

  /** As the provider says it. Throws `RequestFailed`. */
  async fields(batch_id: string, signal: AbortSignal): Promise<Fields> {
    return await this.#calls.fields({ method: "GET", path: this.pathOf(batch_id), named: true }, signal);
  }

  async look(batch_id: string, signal: AbortSignal): Promise<SeenBatch> {
    try {
      return this.#seen(await this.fields(batch_id, signal));
    } catch (thrown) {
      if (!isUnknownThere(thrown)) throw thrown;
      return unknown(batch_id, thrown.message);
    }
  }

  async cancel(batch_id: string, signal: AbortSignal): Promise<SeenBatch> {
    try {
      return this.#seen(await this.#calls.fields({ method: "POST", path: `${this.pathOf(batch_id)}/cancel`, json: {}, conflictIsFinal: true }, signal));
    } catch (thrown) {
      // One that has ended is refused.
      if (!isRefusedThere(thrown)) throw thrown;
      const now = await this.look(batch_id, signal);
      if (now.state === "submitted") throw thrown;
      return now;
    }
  }
}

/** The provider has no record of it, though somebody was told that it was created: it was deleted, or is of another project than the key. */
const unknown = (batch_id: string, said: string): SeenBatch => ({
  batch_id,
  state: "missing",
  answered: 0,
  failed: 0,
  expires_at: null,
  problem: `the provider does not know the batch any more: ${said}`,
  full: false,
});
