import type { Script } from "../model-script.ts";
import type { BatchRouteName } from "./batch-plan.ts";
import { found, notFound, type Reply, refused, type RouteCall } from "./batch-replies.ts";
import { type BatchRequest, type BatchStore, isOver, type StoredBatch } from "./batch-store.ts";
import type { LineResult } from "./line-answers.ts";

const PATH = "/v1/messages/batches";
const iso = (ms: number): string => new Date(ms).toISOString();

/** Which of Anthropic's calls a path is; null = none. */
export function anthropicRoute(method: string, path: string): { readonly route: BatchRouteName; readonly id: string | null } | null {
  if (path === PATH) return { route: method === "POST" ? "create" : "list", id: null };
  const [, id = "", rest] = /^\/v1\/messages\/batches\/([^/]+)(?:\/(results|cancel))?$/.exec(path) ?? [];
  if (id === "") return null;
  if (method === "GET") return { route: rest === "results" ? "results" : "look", id };
  return rest === "cancel" ? { route: "cancel", id } : null;
}

export async function anthropicReply(store: BatchStore, script: Script, { route, id, request, query, fault, origin }: RouteCall): Promise<Reply> {
  switch (route) {
    case "upload":
      return notFound("anthropic", "Not found");
    case "create": {
      const { requests } = JSON.parse((await request.body()).toString("utf8")) as { requests: { custom_id: string; params: BatchRequest["body"] }[] };
      const wrong = wrongIn(requests, script);
      if (wrong !== null) return refused("anthropic", 400, wrong);
      const { enqueued } = script.batches;
      if (enqueued !== null && store.enqueued("anthropic") + requests.length > enqueued)
        return refused("anthropic", 429, "This request would exceed the limit of requests in your batch processing queue.");
      const facts = { endpoint: "/v1/messages", input_file_id: null, metadata: null, errors: [] };
      const kept = requests.map(({ custom_id, params }) => ({ custom_id, body: params }));
      const batch = store.addBatch({ provider: "anthropic", ...facts, requests: kept }, fault?.kind === "unlisted" ? fault.ms : 0);
      return found(shown(store, batch, origin), batch.id);
    }
    case "list": {
      const listed = store.batches.filter(({ provider, listed_ms }) => provider === "anthropic" && listed_ms <= Date.now()).reverse();
      const from = query.has("after_id") ? listed.findIndex((batch) => batch.id === query.get("after_id")) + 1 : 0;
      const page = listed.slice(from, from + Math.min(script.batches.page, Number(query.get("limit") ?? 20)));
      const data = page.map((batch) => shown(store, batch, origin));
      return found({ data, has_more: from + page.length < listed.length, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }, null);
    }
    default: {
      const batch = store.batches.find((known) => known.id === id && known.provider === "anthropic");
      if (batch === undefined) return notFound("anthropic", `No message batch with id ${id}`);
      const phase = store.phase(batch);
      if (route === "look") return found(shown(store, batch, origin), batch.id);
      if (route === "cancel") {
        if (isOver(phase)) return refused("anthropic", 400, `Message batch ${id} has ended and cannot be canceled.`);
        batch.cancelled_ms ??= Date.now();
        return found(shown(store, batch, origin), batch.id);
      }
      if (!isOver(phase)) return notFound("anthropic", `Message batch ${id} has no available results.`);
      return { status: 200, text: (batch.results ?? []).flatMap(lines).join(""), headers: { "content-type": "application/x-jsonl" }, what: batch.id };
    }
  }
}

/** A batch as the provider shows it. */
function shown(store: BatchStore, batch: StoredBatch, origin: string): { readonly id: string } & Readonly<Record<string, unknown>> {
  const phase = store.phase(batch);
  const { id, created_ms, cancelled_ms, ended_ms, requests, results } = batch;
  const count = (holds: (result: LineResult) => boolean): number => results?.filter(holds).length ?? 0;
  return {
    id,
    type: "message_batch",
    processing_status: isOver(phase) ? "ended" : phase === "cancelling" ? "canceling" : "in_progress",
    request_counts: {
      processing: results === null ? requests.length : 0,
      succeeded: count((result) => result.kind === "answer" && result.status === 200),
      errored: count((result) => result.kind === "answer" && result.status !== 200),
      canceled: count((result) => result.kind === "lost" && result.why === "cancelled"),
      expired: count((result) => result.kind === "lost" && result.why === "expired"),
    },
    ended_at: ended_ms === null ? null : iso(ended_ms),
    created_at: iso(created_ms),
    expires_at: iso(created_ms + store.plan.expires_ms),
    archived_at: null,
    cancel_initiated_at: cancelled_ms === null ? null : iso(cancelled_ms),
    results_url: isOver(phase) ? `${origin}${PATH}/${id}/results` : null,
  };
}

function lines(result: LineResult): string[] {
  const { custom_id, fault } = result;
  const line = (id: string, value: object): string => `${JSON.stringify({ custom_id: id, result: value })}\n`;
  if (fault?.kind === "lost") return [];
  if (result.kind === "lost") return [line(custom_id, { type: result.why === "expired" ? "expired" : "canceled" })];
  const { status, body } = result;
  const value = status === 200 ? { type: "succeeded", message: body } : { type: "errored", error: body };
  const whole = line(custom_id, value);
  if (fault?.kind === "broken") return [`${whole.slice(0, whole.length / 2)}\n`];
  if (fault?.kind === "twice") return [whole, whole];
  return fault?.kind === "stranger" ? [line("stranger", value), whole] : [whole];
}

/** What the provider refuses a whole batch for; what is wrong with the parameters of one request is found when it is processed. */
function wrongIn(requests: unknown, { batches }: Script): string | null {
  if (!Array.isArray(requests) || requests.length === 0) return "requests: Field required";
  if (requests.length > batches.max_requests) return "requests: List has too many items";
  const ids = new Set<string>();
  for (const [at, { custom_id }] of (requests as { custom_id: unknown }[]).entries()) {
    if (typeof custom_id !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(custom_id))
      return `requests.${at}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'`;
    if (ids.has(custom_id)) return `requests.${at}.custom_id: custom_id must be unique`;
    ids.add(custom_id);
  }
  return null;
}
