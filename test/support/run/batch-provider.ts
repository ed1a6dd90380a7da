/** Requests of a batch by unit and rollout: `3/0`. */
export type Asked = string;

export interface ScriptedBatch {
  readonly id: string;
  readonly job: number;
  readonly requests: readonly Asked[];
  state: "submitted" | "cancelling" | "ended" | "failed";
  /** It changes its state then. */
  at: number;
  readonly answered: Set<Asked>;
}

/** What a provider does is drawn: how long it takes, what it loses, when it is full. */
export class BatchProvider {
  readonly batches: ScriptedBatch[] = [];
  readonly #random: () => number;
  readonly #now: () => number;
  /** Parts of 1. */
  readonly lost: number;
  readonly room: number;
  #ids = 0;

  constructor(random: () => number, now: () => number, { lost, room }: { readonly lost: number; readonly room: number }) {
    this.#random = random;
    this.#now = now;
    this.lost = lost;
    this.room = room;
  }

  /** Null: it takes no more. */
  create(job: number, requests: readonly Asked[]): ScriptedBatch | null {
    const queued = this.batches.filter(({ state }) => state === "submitted" || state === "cancelling").reduce((sum, each) => sum + each.requests.length, 0);
    const full = queued + requests.length > this.room;
    // Some say so when it is created, others fail it afterwards.
    if (full && this.#random() < 0.5) return null;
    const at = this.#now() + Math.floor(this.#random() * 120_000);
    const batch: ScriptedBatch = { id: `batch-${++this.#ids}`, job, requests, state: full ? "failed" : "submitted", at, answered: new Set() };
    this.batches.push(batch);
    return batch;
  }

  find(job: number, taken: readonly string[]): ScriptedBatch | null {
    return this.batches.find((batch) => batch.job === job && batch.state !== "failed" && !taken.includes(batch.id)) ?? null;
  }

  look(id: string): ScriptedBatch {
    const batch = this.batches.find((each) => each.id === id);
    if (batch === undefined) throw new Error(`there is no batch ${id}`);
    if (batch.state !== "submitted" && batch.state !== "cancelling") return batch;
    for (const request of batch.requests) {
      const share = batch.state === "cancelling" ? 0.1 : 1;
      if (this.#now() >= batch.at && this.#random() >= this.lost && this.#random() < share) batch.answered.add(request);
    }
    if (this.#now() >= batch.at) batch.state = "ended";
    return batch;
  }

  cancel(id: string): ScriptedBatch {
    const batch = this.look(id);
    if (batch.state === "submitted") Object.assign(batch, { state: "cancelling", at: this.#now() + Math.floor(this.#random() * 20_000) });
    return batch;
  }
}
