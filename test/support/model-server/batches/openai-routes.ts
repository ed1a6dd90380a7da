import type { Script } from "../model-script.ts";
import type { BatchRouteName } from "./batch-plan.ts";
import { type BatchFailure, type BatchRequest, type BatchStore, isOver, type StoredBatch } from "./batch-store.ts";
import { found, notFound, type Reply, refused, type RouteCall } from "./batch-replies.ts";
import type { LineResult } from "./line-answers.ts";

const seconds = (ms: number): number => Math.floor(ms / 1_000);

/** Which of OpenAI's calls a path is; null = none. */
export function openAiRoute(method: string, path: string): { readonly route: BatchRouteName; readonly id: string | null } | null {
  if (method === "POST" && path === "/v1/files") return { route: "upload", id: null };
  if (path === "/v1/batches") return { route: method === "POST" ? "create" : "list", id: null };
  const [, kind, id = "", rest] = /^\/v1\/(files|batches)\/([^/]+)(?:\/(content|cancel))?$/.exec(path) ?? [];
  if (kind === "files" && rest === "content" && method === "GET") return { route: "results", id };
  if (kind === "batches" && method === "GET" && rest === undefined) return { route: "look", id };
  if (kind === "batches" && method === "POST" && rest === "cancel") return { route: "cancel", id };
  return null;
}

export async function openAiReply(store: BatchStore, script: Script, { route, id, request, query, fault }: RouteCall): Promise<Reply> {
  switch (route) {
    case "upload": {
      const form = await new Response(new Uint8Array(await request.body()), { headers: { "content-type": request.type } }).formData();
      const [file, purpose] = [form.get("file"), form.get("purpose")];
      if (!(file instanceof File) || purpose !== "batch") return refused("openai", 400, "'file' and a 'purpose' of 'batch' are required.");
      const text = await file.text();
      const stored = store.addFile(file.name, purpose, text);
      const { created_ms, filename } = stored;
      return found(
        { id: stored.id, object: "file", bytes: Buffer.byteLength(text), created_at: seconds(created_ms), filename, purpose, status: "processed" },
        stored.id,
      );
    }
    case "create": {
      const asked = JSON.parse((await request.body()).toString("utf8")) as Record<string, unknown>;
      const file = store.files.get(String(asked.input_file_id));
      if (file === undefined) return refused("openai", 404, `No such File object: ${String(asked.input_file_id)}`);
      if (asked.completion_window !== "24h") return refused("openai", 400, "Invalid value for 'completion_window': only '24h' is supported.");
      const endpoint = String(asked.endpoint);
      const { requests, errors } = validated(file.text, endpoint, script);
      const isFull = script.batches.enqueued !== null && store.enqueued("openai") + requests.length > script.batches.enqueued;
      const full = {
        code: "token_limit_exceeded",
        line: null,
        message: "Enqueued token limit reached. Please try again once some in_progress batches have been completed.",
      };
      const facts = { endpoint, input_file_id: file.id, metadata: asked.metadata ?? null, requests, errors: errors.length > 0 ? errors : isFull ? [full] : [] };
      const batch = store.addBatch({ provider: "openai", ...facts }, fault?.kind === "unlisted" ? fault.ms : 0);
      return found(shown(store, batch), batch.id);
    }
    case "list": {
      const listed = store.batches.filter(({ provider, listed_ms }) => provider === "openai" && listed_ms <= Date.now()).reverse();
      const from = query.has("after") ? listed.findIndex((batch) => batch.id === query.get("after")) + 1 : 0;
      const page = listed.slice(from, from + Math.min(script.batches.page, Number(query.get("limit") ?? 20)));
      const data = page.map((batch) => shown(store, batch));
      const ends = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
      return found({ object: "list", data, ...ends, has_more: from + page.length < listed.length }, null);
    }
    case "look":
    case "cancel": {
      const batch = store.batches.find((known) => known.id === id && known.provider === "openai");
      if (batch === undefined) return notFound("openai", `No batch found with id '${id}'.`);
      if (route === "look") return found(shown(store, batch), batch.id);
      const phase = store.phase(batch);
      if (isOver(phase)) return refused("openai", 409, `Cannot cancel a batch with status '${phase}'.`);
      batch.cancelled_ms ??= Date.now();
      return found(shown(store, batch), batch.id);
    }
    case "results": {
      const [, batchId, kind] = /^(batch_\d+)-(output|error)$/.exec(String(id)) ?? [];
      const batch = store.batches.find((known) => known.id === batchId);
      if (batch === undefined) return notFound("openai", `No such File object: ${id}`);
      store.phase(batch);
      return { status: 200, text: linesOf(batch, kind === "output").join(""), what: batch.id };
    }
  }
}

/** A batch as the provider shows it. */
function shown(store: BatchStore, batch: StoredBatch): { readonly id: string } & Readonly<Record<string, unknown>> {
  const phase = store.phase(batch);
  const { id, endpoint, input_file_id, metadata, created_ms, requests, results } = batch;
  const answered = results?.filter((result) => result.kind === "answer" && result.status === 200).length ?? store.doneAt(batch, Date.now());
  const failed = results?.filter((result) => result.kind === "answer" && result.status !== 200).length ?? 0;
  const hasFile = (output: boolean): boolean => results !== null && linesOf(batch, output).length > 0;
  const at = batch.ended_ms === null ? null : seconds(batch.ended_ms);
  return {
    id,
    object: "batch",
    endpoint,
    errors: phase === "failed" ? { object: "list", data: batch.errors.map((error) => ({ ...error, param: null })) } : null,
    input_file_id,
    completion_window: "24h",
    status: phase,
    output_file_id: hasFile(true) ? `${id}-output` : null,
    error_file_id: hasFile(false) ? `${id}-error` : null,
    created_at: seconds(created_ms),
    in_progress_at: phase === "validating" || phase === "failed" ? null : seconds(created_ms),
    expires_at: seconds(created_ms + store.plan.expires_ms),
    completed_at: phase === "completed" ? at : null,
    expired_at: phase === "expired" ? at : null,
    cancelling_at: batch.cancelled_ms === null ? null : seconds(batch.cancelled_ms),
    cancelled_at: phase === "cancelled" ? at : null,
    request_counts: phase === "failed" ? { total: 0, completed: 0, failed: 0 } : { total: requests.length, completed: answered, failed },
    metadata,
  };
}

/** Of a batch that has ended: its two files, which stay as they are. */
const FILES = new WeakMap<StoredBatch, { readonly output: string[]; readonly error: string[] }>();

function linesOf(batch: StoredBatch, output: boolean): string[] {
  if (batch.results === null) return [];
  let files = FILES.get(batch);
  if (files === undefined) {
    files = { output: [], error: [] };
    for (const [at, result] of batch.results.entries())
      for (const [isOutput, line] of lines(result, `batch_req_${batch.n}_${at}`)) (isOutput ? files.output : files.error).push(line);
    FILES.set(batch, files);
  }
  return output ? files.output : files.error;
}

/** What the file of errors says of a request that was never answered. */
const UNANSWERED = {
  expired: { code: "batch_expired", message: "This request could not be executed before the completion window expired." },
  cancelled: { code: "batch_cancelled", message: "The batch was cancelled before this request was executed." },
} as const;

function lines(result: LineResult, id: string): (readonly [isOutput: boolean, line: string])[] {
  const { custom_id, fault } = result;
  const line = (fields: object): string => `${JSON.stringify({ id, custom_id, response: null, error: null, ...fields })}\n`;
  if (fault?.kind === "lost") return [];
  if (result.kind === "lost") return [[false, line({ error: UNANSWERED[result.why] })]];
  if (fault?.kind === "error") return [[false, line({ error: { code: "request_timeout", message: fault.message } })]];
  const { status, body } = result;
  const whole = line({ response: { status_code: status, request_id: `req_${id}`, body } });
  if (fault?.kind === "broken") return [[status === 200, `${whole.slice(0, whole.length / 2)}\n`]];
  const stranger = line({ custom_id: "stranger", response: { status_code: 200, request_id: "req_0", body } });
  const beside = fault?.kind === "twice" ? [whole] : fault?.kind === "stranger" ? [stranger] : [];
  return [...beside, whole].map((text) => [status === 200, text]);
}

/** What the provider finds in a file before it begins. */
function validated(text: string, endpoint: string, script: Script): { readonly requests: readonly BatchRequest[]; readonly errors: readonly BatchFailure[] } {
  const requests: BatchRequest[] = [];
  const errors: BatchFailure[] = [];
  const [ids, models] = [new Set<string>(), new Set<unknown>()];
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  for (const [at, line] of lines.entries()) {
    const wrong = (code: string, message: string): void => void errors.push({ code, message, line: at + 1 });
    let fields: Record<string, unknown>;
    try {
      fields = JSON.parse(line) as Record<string, unknown>;
    } catch {
      wrong("invalid_json_line", "This line is not parseable as valid JSON.");
      continue;
    }
    const body = (fields.body ?? {}) as Record<string, unknown>;
    const custom_id = String(fields.custom_id);
    if (ids.has(custom_id)) wrong("duplicate_custom_id", `The custom_id '${custom_id}' is used more than once.`);
    if (fields.method !== "POST") wrong("invalid_method", "The method must be POST.");
    if (fields.url !== endpoint) wrong("mismatched_endpoint", `The url must be ${endpoint}.`);
    if (models.size > 0 && !models.has(body.model)) wrong("mismatched_model", "All requests of a batch must be of one model.");
    if (script.models !== null && !script.models.includes(String(body.model)))
      wrong("model_not_found", `The provided model '${String(body.model)}' is not supported by the Batch API.`);
    ids.add(custom_id);
    models.add(body.model);
    requests.push({ custom_id, body });
  }
  if (lines.length === 0) errors.push({ code: "empty_file", message: "The file has no requests.", line: null });
  if (lines.length > script.batches.max_requests) errors.push({ code: "too_many_tasks", message: "The batch has too many requests.", line: null });
  return { requests, errors };
}
