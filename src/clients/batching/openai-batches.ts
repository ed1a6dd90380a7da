import type { JsonObject } from "../../config/plan/run-config.ts";
import { BATCH_CLOCK_MS, OPENAI_BATCH_BYTES, OPENAI_BATCH_REQUESTS } from "../../limits.ts";
import type { ClientPorts, Endpoint } from "../client.ts";
import { openAiError, OpenAiSdk } from "../openai/openai-sdk.ts";
import { type Fields, record, records, text } from "../openai/reply-fields.ts";
import { badAnswer } from "../transport/request-failure.ts";
import { BatchCalls } from "./batch-calls.ts";
import { batchesSince } from "./batch-list.ts";
import type { BatchFile, BatchLine, BatchRoute, BatchTag, SeenBatch } from "./batch-route.ts";
import { checkSize } from "./check-size.ts";
import { KnownBatches } from "./known-batches.ts";
import { readResults } from "./read-results.ts";
import { type SizedBody, sizedBody } from "./sized-body.ts";

/** Routes that a batch may be of, as its lines name them whatever the base URL. */
export type OpenAiBatchEndpoint = "/v1/chat/completions" | "/v1/completions" | "/v1/responses";

/** As long as the provider takes at most, and the only one that there is. */
const COMPLETION_WINDOW = "24h";

const STATES: Readonly<Record<string, SeenBatch["state"]>> = {
  cancelling: "cancelling",
  completed: "ended",
  expired: "ended",
  cancelled: "ended",
  failed: "failed",
};

/** What the provider says of a batch for which its queue of that model has no room. */
const FULL = "token_limit_exceeded";

/** OpenAI's Batch API: a file of requests, a batch that names it, and files of answers and of errors. */
export class OpenAiBatches implements BatchRoute {
  readonly limits = { requests: OPENAI_BATCH_REQUESTS, bytes: OPENAI_BATCH_BYTES };
  readonly #calls: BatchCalls;
  readonly #known: KnownBatches;
  readonly #endpoint: OpenAiBatchEndpoint;
  readonly #settleMs: number;

  constructor(route: OpenAiBatchEndpoint, endpoint: Endpoint, ports: ClientPorts, settleMs: number) {
    this.#calls = new BatchCalls(new OpenAiSdk(endpoint), endpoint, ports, openAiError);
    this.#known = new KnownBatches(this.#calls, "/batches", seen);
    this.#endpoint = route;
    this.#settleMs = settleMs;
  }

  line(custom_id: string, body: JsonObject): string {
    return JSON.stringify({ custom_id, method: "POST", url: this.#endpoint, body });
  }

  async upload(file: BatchFile, signal: AbortSignal): Promise<string> {
    checkSize(file, this.limits);
    const { id } = await this.#calls.fields({ method: "POST", path: "/files", body: () => formOf(file) }, signal);
    if (typeof id !== "string") throw badAnswer("invalid_response", "the provider took the file of requests and gave no id for it");
    return id;
  }

  async create(file: BatchFile, file_id: string | null, { run_id, job }: BatchTag, signal: AbortSignal): Promise<SeenBatch> {
    if (file_id === null) throw new TypeError(`a batch of ${this.#endpoint} is created from an uploaded file, and ${file.name} is none`);
    const json = {
      input_file_id: file_id,
      endpoint: this.#endpoint,
      completion_window: COMPLETION_WINDOW,
      metadata: { edgewise_run: run_id, edgewise_job: String(job) },
    };
    return seen(await this.#calls.fields({ method: "POST", path: "/batches", json, once: true }, signal));
  }

  async find({ tag, file_id, since, taken }: Parameters<BatchRoute["find"]>[0], signal: AbortSignal): Promise<SeenBatch | "undecided" | null> {
    const begun = this.#calls.now();
    const list = { path: "/batches", cursor: "after", createdAt: ({ created_at }: Fields) => Number(created_at) * 1_000 };
    for await (const batch of batchesSince(this.#calls, list, since - BATCH_CLOCK_MS, signal)) {
      const told = record(batch.metadata);
      const isOurs = (told?.edgewise_run === tag.run_id && told.edgewise_job === String(tag.job)) || (file_id !== null && batch.input_file_id === file_id);
      // One that failed as a whole is none: it answers nothing, and its job is created again.
      if (isOurs && batch.status !== "failed" && !taken.includes(text(batch.id))) return seen(batch);
    }
    return begun < since + this.#settleMs ? "undecided" : null;
  }

  look(batch_id: string, signal: AbortSignal): Promise<SeenBatch> {
    return this.#known.look(batch_id, signal);
  }

  cancel(batch_id: string, signal: AbortSignal): Promise<SeenBatch> {
    return this.#known.cancel(batch_id, signal);
  }

  async *results(batch_id: string, signal: AbortSignal): AsyncGenerator<BatchLine> {
    const { output_file_id, error_file_id } = await this.#known.fields(batch_id, signal);
    for (const file of [output_file_id, error_file_id]) {
      if (typeof file !== "string") continue;
      yield* readResults(this.#calls, { method: "GET", path: `/files/${encodeURIComponent(file)}/content`, named: true }, signal, lineOf);
    }
  }
}

function seen(batch: Fields): SeenBatch {
  const { id, status } = batch;
  if (typeof id !== "string" || typeof status !== "string") throw badAnswer("invalid_response", "the answer is no batch: it has no id or no status");
  const counts = record(batch.request_counts);
  const errors = records(record(batch.errors)?.data);
  return {
    batch_id: id,
    // A state that is new to us is not the end of it.
    state: STATES[status] ?? "submitted",
    answered: countOf(counts?.completed),
    failed: countOf(counts?.failed),
    expires_at: typeof batch.expires_at === "number" ? batch.expires_at * 1_000 : null,
    problem: status === "failed" ? problemOf(errors) : null,
    full: status === "failed" && errors.some(({ code }) => code === FULL),
  };
}

const countOf = (value: unknown): number => (typeof value === "number" && value >= 0 ? value : 0);

/** What is said of the file as a whole, or of its first bad lines. */
function problemOf(errors: readonly Fields[]): string {
  const told = errors.slice(0, 3).map(({ code, message, line }) => `${text(code)}${typeof line === "number" ? ` (line ${line})` : ""}: ${text(message)}`);
  const more = errors.length > told.length ? ` (and ${errors.length - told.length} more)` : "";
  return told.length === 0 ? "the provider does not say why" : `${told.join("; ")}${more}`.slice(0, 500);
}

/** A line of the file of answers, or of errors: in both there may be an answer, of whatever status. */
function lineOf(custom_id: string, fields: Fields): BatchLine | null {
  const response = record(fields.response);
  if (response !== null && typeof response.status_code === "number") {
    const { status_code: status, body } = response;
    return { kind: "answer", custom_id, status, text: typeof body === "string" ? body : JSON.stringify(body ?? null) };
  }
  const error = record(fields.error);
  if (error === null) return null;
  // `batch_expired`, `batch_cancelled`, `request_timeout`.
  const code = text(error.code);
  return { kind: "lost", custom_id, why: /expired/.test(code) ? "expired" : /cancel/.test(code) ? "cancelled" : "error", message: text(error.message) || code };
}

async function formOf({ name, bytes, open }: BatchFile): Promise<SizedBody> {
  const boundary = `edgewise-${crypto.randomUUID()}`;
  const filename = `${name.replace(/[^\w-]+/g, "_").replace(/_jsonl$/, "")}.jsonl`;
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`;
  return await sizedBody({
    before: `${part('name="purpose"')}\r\nbatch\r\n${part(`name="file"; filename="${filename}"`)}Content-Type: application/jsonl\r\n\r\n`,
    open,
    bytes,
    after: `\r\n--${boundary}--\r\n`,
    contentType: `multipart/form-data; boundary=${boundary}`,
  });
}
