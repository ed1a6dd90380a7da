import type { Script } from "../model-script.ts";
import { BatchFaults, type BatchPlan, type BatchRouteName } from "./batch-plan.ts";
import { answerRequest, type LineResult, promptIn } from "./line-answers.ts";

export type Provider = "openai" | "anthropic";

export interface StoredFile {
  readonly id: string;
  readonly filename: string;
  readonly purpose: string;
  readonly created_ms: number;
  readonly text: string;
}

export interface BatchRequest {
  readonly custom_id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface BatchFailure {
  readonly code: string;
  readonly message: string;
  readonly line: number | null;
}

/** How a batch was told to end, rather than by its clock. */
export type ToldEnd = "completed" | "expired" | "failed";

export interface StoredBatch {
  readonly id: string;
  readonly n: number;
  readonly provider: Provider;
  readonly endpoint: string;
  readonly input_file_id: string | null;
  readonly metadata: unknown;
  readonly created_ms: number;
  readonly listed_ms: number;
  readonly requests: readonly BatchRequest[];
  errors: readonly BatchFailure[];
  cancelled_ms: number | null;
  told: ToldEnd | null;
  /** Share of its requests that are done, as it was told; null = by the clock. */
  done: number | null;
  /** How and when it ended. */
  ended: Phase | null;
  ended_ms: number | null;
  results: readonly LineResult[] | null;
}

export type Phase = "validating" | "in_progress" | "cancelling" | "completed" | "expired" | "cancelled" | "failed";

const ENDED: readonly Phase[] = ["completed", "expired", "cancelled", "failed"];
export const isOver = (phase: Phase): boolean => ENDED.includes(phase);

/** Files and batches of one scripted server, whichever provider's routes they came by. */
export class BatchStore {
  readonly files = new Map<string, StoredFile>();
  readonly batches: StoredBatch[] = [];
  /** Every call, in its order. */
  readonly calls: { readonly n: number; readonly route: BatchRouteName; readonly provider: Provider; readonly at_ms: number; readonly what: string | null }[] =
    [];
  readonly #script: () => Script;
  #faults: BatchFaults;
  #ids = 0;
  #sinceScript = 0;
  readonly #attempts = new Map<string, number>();

  constructor(script: () => Script) {
    this.#script = script;
    this.#faults = new BatchFaults(script().batches);
  }

  get plan(): BatchPlan {
    return this.#script().batches;
  }

  get faults(): BatchFaults {
    return this.#faults;
  }

  /** Rules count from here. */
  scriptChanged(): void {
    this.#faults = new BatchFaults(this.plan);
    this.#sinceScript = this.batches.length;
  }

  addFile(filename: string, purpose: string, text: string): StoredFile {
    const file = { id: `file-${++this.#ids}`, filename, purpose, created_ms: Date.now(), text };
    this.files.set(file.id, file);
    return file;
  }

  addBatch(facts: Pick<StoredBatch, "provider" | "endpoint" | "input_file_id" | "metadata" | "requests" | "errors">, unlistedMs: number): StoredBatch {
    const n = this.batches.length + 1;
    const now = Date.now();
    const id = facts.provider === "openai" ? `batch_${++this.#ids}` : `msgbatch_${++this.#ids}`;
    const batch = {
      ...facts,
      id,
      n,
      created_ms: now,
      listed_ms: now + unlistedMs,
      cancelled_ms: null,
      told: null,
      done: null,
      ended: null,
      ended_ms: null,
      results: null,
    };
    this.batches.push(batch);
    return batch;
  }

  /** Requests of batches that have not ended. */
  enqueued(provider: Provider): number {
    const live = this.batches.filter((batch) => batch.provider === provider && !isOver(this.phase(batch)));
    return live.reduce((sum, { requests }) => sum + requests.length, 0);
  }

  /** Where a batch is now. What has become of its requests is settled when it is found to have ended, and stays so whatever the script. */
  phase(batch: StoredBatch): Phase {
    if (batch.ended !== null) return batch.ended;
    const { plan } = this;
    const now = Date.now();
    const started = batch.created_ms + plan.validating_ms;
    const ends: (readonly [at: number, phase: Phase])[] = [[batch.created_ms + plan.expires_ms, "expired"]];
    if (batch.errors.length > 0) ends.push([started, "failed"]);
    else if (plan.takes_ms !== null) ends.push([started + plan.takes_ms, "completed"]);
    if (batch.cancelled_ms !== null) ends.push([batch.cancelled_ms + plan.cancelling_ms, "cancelled"]);
    if (batch.told !== null) ends.push([0, batch.told]);
    const [at, phase] = ends.reduce((first, next) => (next[0] < first[0] ? next : first));
    if (now < at) return batch.cancelled_ms !== null ? "cancelling" : now < started ? "validating" : "in_progress";
    batch.ended = phase;
    batch.ended_ms = Math.max(at, batch.told === null ? at : now);
    const done = phase === "completed" ? batch.requests.length : this.doneAt(batch, batch.ended_ms);
    batch.results = phase === "failed" ? [] : this.#settle(batch, done, phase);
    return phase;
  }

  /** Requests that are done at a time. */
  doneAt(batch: StoredBatch, at: number): number {
    const { takes_ms: takes, validating_ms: validating } = this.plan;
    const share = batch.done ?? (takes === null || takes === 0 ? 0 : (at - batch.created_ms - validating) / takes);
    return Math.floor(batch.requests.length * Math.min(1, Math.max(0, share)));
  }

  #settle(batch: StoredBatch, done: number, phase: Phase): LineResult[] {
    const script = this.#script();
    const results = batch.requests.map(({ custom_id, body }, at): LineResult => {
      const facts = { custom_id, prompt: promptIn(body) };
      if (at >= done) return { ...facts, kind: "lost", why: phase === "expired" ? "expired" : "cancelled", fault: null };
      const attempt = (this.#attempts.get(facts.prompt) ?? 0) + 1;
      this.#attempts.set(facts.prompt, attempt);
      const fault = this.#faults.ofLine({ ...facts, nth: at + 1, attempt, batch: batch.n - this.#sinceScript });
      return { ...facts, ...answerRequest(script, batch.endpoint, body, { n: `${batch.n}-${at + 1}`, attempt }, fault) };
    });
    return this.plan.order === "reversed" ? results.reverse() : results;
  }
}
