import type { JsonObject } from "../../config/plan/run-config.ts";
import { ANTHROPIC_BATCH_BYTES, ANTHROPIC_BATCH_REQUESTS, BATCH_CLOCK_MS } from "../../limits.ts";
import { anthropicError, errorEvent } from "../anthropic/anthropic-errors.ts";
import { AnthropicSdk } from "../anthropic/anthropic-sdk.ts";
import type { ClientPorts, Endpoint } from "../client.ts";
import { type Fields, record, text } from "../openai/reply-fields.ts";
import { badAnswer } from "../transport/request-failure.ts";
import { BatchCalls, isUnknownThere } from "./batch-calls.ts";
import { batchesSince } from "./batch-list.ts";
import type { BatchFile, BatchLine, BatchRoute, BatchTag, SeenBatch } from "./batch-route.ts";
import { checkSize } from "./check-size.ts";
import { KnownBatches } from "./known-batches.ts";
import { listedLines } from "./listed-lines.ts";
import { readResults } from "./read-results.ts";
import { sizedBody } from "./sized-body.ts";

const PATH = "/v1/messages/batches";
const [BEFORE, AFTER] = ['{"requests":[', "]}"] as const;

const STATES: Readonly<Record<string, SeenBatch["state"]>> = { canceling: "cancelling", ended: "ended" };

/** Requests that a batch has in all; they move from `processing` to one of the others when it has ended. */
const COUNTS = ["processing", "succeeded", "errored", "canceled", "expired"] as const;

/** Anthropic's Message Batches: created with all their requests, and one file of results. */
export class AnthropicBatches implements BatchRoute {
  readonly limits = { requests: ANTHROPIC_BATCH_REQUESTS, bytes: ANTHROPIC_BATCH_BYTES - BEFORE.length - AFTER.length };
  readonly #calls: BatchCalls;
  readonly #known: KnownBatches;
  readonly #origin: string;
  readonly #settleMs: number;

  constructor(endpoint: Endpoint, ports: ClientPorts, settleMs: number) {
    this.#calls = new BatchCalls(new AnthropicSdk(endpoint), endpoint, ports, anthropicError);
    this.#known = new KnownBatches(this.#calls, PATH, seen);
    this.#origin = originOf(endpoint.base_url);
    this.#settleMs = settleMs;
  }

  line(custom_id: string, body: JsonObject): string {
    return JSON.stringify({ custom_id, params: body });
  }

  async upload(file: BatchFile): Promise<null> {
    checkSize(file, this.limits);
    return null;
  }

  async create(file: BatchFile, _file_id: string | null, _tag: BatchTag, signal: AbortSignal): Promise<SeenBatch> {
    checkSize(file, this.limits);
    const { bytes } = file;
    const open = async (): Promise<ReadableStream<Uint8Array>> => listedLines(await file.open(), bytes);
    const body = (): ReturnType<typeof sizedBody> => sizedBody({ before: BEFORE, open, bytes, after: AFTER, contentType: "application/json" });
    return seen(await this.#calls.fields({ method: "POST", path: PATH, body, once: true }, signal));
  }

  async find({ requests, since, taken, isOurs }: Parameters<BatchRoute["find"]>[0], signal: AbortSignal): Promise<SeenBatch | "undecided" | null> {
    const begun = this.#calls.now();
    const list = { path: PATH, cursor: "after_id", createdAt: ({ created_at }: Fields) => Date.parse(text(created_at)) };
    let isOpen = begun < since + this.#settleMs;
    for await (const batch of batchesSince(this.#calls, list, since - BATCH_CLOCK_MS, signal)) {
      if (requestsIn(batch) !== requests || taken.includes(text(batch.id))) continue;
      const candidate = seen(batch);
      if (candidate.state !== "ended") isOpen = true;
      else if (await this.#isOurs(batch, isOurs, signal)) return candidate;
    }
    return isOpen ? "undecided" : null;
  }

  look(batch_id: string, signal: AbortSignal): Promise<SeenBatch> {
    return this.#known.look(batch_id, signal);
  }

  cancel(batch_id: string, signal: AbortSignal): Promise<SeenBatch> {
    return this.#known.cancel(batch_id, signal);
  }

  async *results(batch_id: string, signal: AbortSignal): AsyncGenerator<BatchLine> {
    yield* this.#lines(await this.#known.fields(batch_id, signal), signal);
  }

  /** The file is where the batch says, unless that is at another origin than the endpoint (a proxy passes on what the provider says): the key does not go there. */
  #lines(batch: Fields, signal: AbortSignal): AsyncGenerator<BatchLine> {
    const url = text(batch.results_url);
    const path = originOf(url) === this.#origin ? url : `${this.#known.pathOf(text(batch.id))}/results`;
    return readResults(this.#calls, { method: "GET", path, named: true }, signal, lineOf);
  }

  /** All requests of one batch are of one job, so that the first that is known says it. */
  async #isOurs(batch: Fields, isOurs: (custom_id: string) => boolean, signal: AbortSignal): Promise<boolean> {
    try {
      for await (const { custom_id } of this.#lines(batch, signal)) if (isOurs(custom_id)) return true;
    } catch (thrown) {
      // One whose results were deleted meanwhile is of no use to anybody.
      if (!isUnknownThere(thrown)) throw thrown;
    }
    return false;
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");

const countIn = (counts: Fields | null, name: (typeof COUNTS)[number]): number => {
  const value = counts?.[name];
  return typeof value === "number" && value >= 0 ? value : 0;
};
const requestsIn = ({ request_counts }: Fields): number => COUNTS.reduce((sum, name) => sum + countIn(record(request_counts), name), 0);

function seen(batch: Fields): SeenBatch {
  const { id, processing_status: status } = batch;
  if (typeof id !== "string" || typeof status !== "string") throw badAnswer("invalid_response", "the answer is no batch: it has no id or no processing_status");
  const counts = record(batch.request_counts);
  const expires = Date.parse(text(batch.expires_at));
  return {
    batch_id: id,
    // A state that is new to us is not the end of it.
    state: STATES[status] ?? "submitted",
    answered: countIn(counts, "succeeded"),
    failed: countIn(counts, "errored") + countIn(counts, "canceled") + countIn(counts, "expired"),
    expires_at: Number.isNaN(expires) ? null : expires,
    problem: null,
    full: false,
  };
}

function lineOf(custom_id: string, fields: Fields): BatchLine | null {
  const result = record(fields.result);
  switch (result?.type) {
    case "succeeded":
      return { kind: "answer", custom_id, status: 200, text: JSON.stringify(result.message ?? null) };
    case "errored": {
      const whole = record(result.error) ?? {};
      const inner = record(whole.error) ?? whole;
      return { kind: "answer", custom_id, status: errorEvent(inner).status, text: JSON.stringify({ type: "error", error: inner }) };
    }
    case "canceled":
      return { kind: "lost", custom_id, why: "cancelled", message: "canceled" };
    case "expired":
      return { kind: "lost", custom_id, why: "expired", message: "expired" };
    default:
      return null;
  }
}
