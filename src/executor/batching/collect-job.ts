import type { BatchOutcome, BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { Grant } from "../../../durable-objects/run/protocol.ts";
import { runsOf } from "../../../durable-objects/run/state/runs-of.ts";
import { GrowingBytes } from "../../../r2-layout/growing-bytes.ts";
import { answerIndexKey, answersKey } from "../../../r2-layout/keys.ts";
import type { BatchLine, BatchRoute } from "../../clients/batching/batch-route.ts";
import { maskJson } from "../../errors/masking.ts";
import { BATCH_COLLECT_BYTES, BATCH_PART_BYTES, MAX_ANSWER_BYTES } from "../../limits.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import type { JobBill } from "../spending/job-bill.ts";
import { type IndexedAnswer, indexText } from "./answer-index.ts";
import { askedIn } from "./asked-in.ts";

type Collect = Extract<BatchPlan, { kind: "collect" }>;
export type Collected = Extract<BatchOutcome, { kind: "collected" }>;

export interface CollectingHost {
  readonly ports: ExecutorPorts;
  readonly slice: Pick<Slice, "spend">;
  readonly route: Pick<BatchRoute, "results">;
  /** What the objects of its answers are to be called. */
  readonly object: string;
  /** Told of every answer that counts; absent = nobody pays. */
  readonly bill?: Pick<JobBill, "add">;
  /** Blots out the secrets of the place. */
  readonly blot: (text: string) => string;
}

/**
 * Puts the answers of a job that has ended into storage, as they come: parts of at most BATCH_PART_BYTES, and where each of them is. Requests that have none are named with their reason.
 * Rejects as the route's results do, with the signal's reason, and where storage does not answer.
 */
export async function collectJob(host: CollectingHost, { config }: Grant, plan: Collect, signal: AbortSignal): Promise<Collected> {
  const { ports, route, object, slice } = host;
  const { run_id } = config;
  const held = await ports.bytes.hold(BATCH_COLLECT_BYTES, signal);
  try {
    slice.spend();
    const asked = await askedIn(ports.store, run_id, plan.object, signal);
    const parts = new AnswerParts(host, run_id);
    const answers = new Map<string, IndexedAnswer>();
    for await (const line of route.results(plan.batch_id, signal)) {
      signal.throwIfAborted();
      const { custom_id } = line;
      // Of two lines for one request the first answer counts, as whoever is paid may say.
      if (!asked.has(custom_id) || answers.get(custom_id)?.kind === "answer") continue;
      answers.set(custom_id, await answerOf(line, parts));
      host.bill?.add(line);
    }
    await parts.end();
    const missing: IndexedAnswer = { kind: "lost", why: "missing", message: "the results of its batch say nothing of it" };
    const entries = [...asked].map(([id, request]) => ({ ...request, answer: answers.get(id) ?? missing }));
    signal.throwIfAborted();
    slice.spend();
    await ports.store.create(answerIndexKey(run_id, object), new TextEncoder().encode(indexText(entries, parts.sizes)));
    return { kind: "collected", job: plan.job, index: object, ...endsOf(entries) };
  } finally {
    held.release();
  }
}

function endsOf(entries: readonly { readonly unit: number; readonly answer: IndexedAnswer }[]): Pick<Collected, "counts" | "lost" | "ready" | "again"> {
  const counts = { answered: 0, failed: 0 };
  const lost: Record<string, number> = {};
  const again = new Set<number>();
  for (const { unit, answer } of entries) {
    if (answer.kind === "lost") {
      lost[answer.why] = (lost[answer.why] ?? 0) + 1;
      again.add(unit);
    } else if (answer.status < 400) counts.answered++;
    else counts.failed++;
  }
  const ready = new Set(entries.map(({ unit }) => unit).filter((unit) => !again.has(unit)));
  return { counts, lost, ready: runsOf([...ready], 0), again: runsOf([...again], 0) };
}

/** Statuses that are about the moment: whoever asks again may be answered. */
const isPassing = (status: number): boolean => status === 429 || status >= 500;
/** Of answers that have a body. */
const isAnswer = (status: number): boolean => Number.isInteger(status) && status >= 200 && status < 600 && ![204, 205, 304].includes(status);

async function answerOf(line: BatchLine, parts: AnswerParts): Promise<IndexedAnswer> {
  if (line.kind === "lost") return { kind: "lost", why: line.why, message: parts.clean(line.message) };
  // One that is larger than an answer may be is kept nowhere.
  if (line.kind === "large") return { kind: "answer", status: 200, part: null, offset: 0, length: line.bytes };
  const { status, text } = line;
  if (!isAnswer(status)) return { kind: "lost", why: "error", message: `its answer has the status ${status}` };
  if (isPassing(status)) return { kind: "lost", why: `HTTP ${status}`, message: parts.clean(text) };
  return { kind: "answer", status, ...(await parts.add(text)) };
}

/** Answers on their way into the objects of a job. Holds one part. */
class AnswerParts {
  readonly #host: CollectingHost;
  readonly #runId: string;
  readonly #encoder = new TextEncoder();
  readonly #bytes = new GrowingBytes(BATCH_PART_BYTES);
  /** Bytes of the parts that are in storage. */
  readonly sizes: number[] = [];

  constructor(host: CollectingHost, runId: string) {
    this.#host = host;
    this.#runId = runId;
  }

  /** `text` without secrets. */
  clean(text: string): string {
    return maskJson(this.#host.blot(text));
  }

  /** Where the answer is; one that is larger than an answer may be is nowhere. */
  async add(text: string): Promise<{ readonly part: number | null; readonly offset: number; readonly length: number }> {
    const bytes = this.#encoder.encode(this.clean(text));
    const length = bytes.byteLength;
    if (length > MAX_ANSWER_BYTES) return { part: null, offset: 0, length };
    if (!this.#bytes.fits(length)) await this.end();
    const offset = this.#bytes.length;
    this.#bytes.append(bytes);
    return { part: this.sizes.length, offset, length };
  }

  async end(): Promise<void> {
    if (this.#bytes.length === 0) return;
    const { ports, object, slice } = this.#host;
    slice.spend();
    const size = this.#bytes.length;
    await ports.store.create(answersKey(this.#runId, object, this.sizes.length), this.#bytes.take());
    this.sizes.push(size);
  }
}
