/**
 * What the `prime` client 0.18.0 and its SDK 0.2.4 read in an answer, and what breaks them (docs/prime-client.md): a stand-in for the
 * client itself where there is no Python.
 */
import { expect } from "vitest";

export interface ClientAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly ms: number;
}

/** The client stops to wait at these, and polls for ever at any other word. */
export const TERMINAL = ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"];
const STATUSES = ["PENDING", "RUNNING", ...TERMINAL];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** A log that begins so counts as empty, whatever follows. */
const SWALLOWED = [
  "Waiting for container to start...",
  "No logs available",
  "Unable to retrieve logs",
  "Failed to fetch logs from sandbox",
  "The hosted eval is still initializing",
];

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** Fails where the client would, or where it would say something else than the service means. `body`: what was sent. */
export function readAsClient(method: string, path: string, body: string | null, answer: ClientAnswer): Json {
  const { status, contentType, text, ms } = answer;
  const what = `${method} ${path} → ${status} ${text.slice(0, 500)}`;
  expect(ms, what).toBeLessThan(30_000);
  // Redirects of some requests are errors, and one 5xx ends a watch.
  expect(status < 300 || (status >= 400 && status < 500), what).toBe(true);
  expect(contentType, what).toMatch(/^application\/json/);
  const json: unknown = JSON.parse(text);
  if (!isObject(json)) throw new Error(`not an object: ${what}`);
  expect(text, what).not.toContain("sk-hidden");
  if (status >= 400) readError(status, json, what);
  else readers.find(([pattern]) => pattern.test(`${method} ${path.split("?")[0]}`))?.[1](json, body, what);
  return json;
}

function readError(status: number, { detail, code }: Json, what: string): void {
  expect(typeof code, what).toBe("string");
  if (status === 422 && Array.isArray(detail)) {
    for (const issue of detail as Json[]) expect([Array.isArray(issue.loc), typeof issue.msg], what).toEqual([true, "string"]);
    return;
  }
  if (typeof detail !== "string") throw new Error(`no text in detail: ${what}`);
  // Looked for in the whole message, whatever the status is.
  if (status !== 404) expect(detail, what).not.toMatch(/404|429|not found/i);
}

const readers: readonly (readonly [RegExp, (json: Json, body: string | null, what: string) => void])[] = [
  [
    /^GET \/api\/v1\/environmentshub\/.+\/@/,
    ({ data, id }, _, what) => expect([isObject(data) ? typeof data.id : "", typeof id], what).toEqual(["string", "string"]),
  ],
  [/^GET \/api\/v1\/user\/whoami$/, ({ data }, _, what) => expect(isObject(data) && typeof data.slug === "string" && isObject(data.scope), what).toBe(true)],
  [/^GET \/api\/v1\/user\/teams$/, ({ data }, _, what) => expect(Array.isArray(data), what).toBe(true)],
  [/^POST \/api\/v1\/hosted-evaluations$/, readCreated],
  [/^PATCH \/api\/v1\/hosted-evaluations\/[^/]+\/cancel$/, ({ message }, _, what) => expect(typeof message, what).toBe("string")],
  [/^GET \/api\/v1\/hosted-evaluations\/[^/]+\/logs$/, readLogs],
  [/^POST \/api\/v1\/evaluations\/$/, ({ evaluation_id: id }, _, what) => expect(id, what).toMatch(/^[\w-]{1,40}$/)],
  [/^POST \/api\/v1\/evaluations\/[^/]+\/finalize$/, ({ viewer_url: url }, _, what) => expect(url, what).toMatch(/^https?:\/\//)],
  [
    /^POST \/api\/v1\/environmentshub\/(resolve|lookup)$/,
    ({ data }, _, what) => expect(isObject(data) && typeof data.id === "string" && data.id !== "", what).toBe(true),
  ],
  [/^GET \/api\/v1\/evaluations\/$/, readList],
  [/^GET \/api\/v1\/evaluations\/[^/]+\/samples$/, readSamples],
  [/^GET \/api\/v1\/evaluations\/[^/]+$/, readEvaluation],
];

function readCreated({ evaluation_ids: ids }: Json, body: string | null, what: string): void {
  const { environment_ids: wanted } = JSON.parse(body ?? "{}") as { environment_ids?: string[] };
  expect(ids, what).toHaveLength(wanted?.length ?? 0);
  // Pasted into paths as they are.
  for (const id of ids as unknown[]) expect(id, what).toMatch(/^[\w-]{1,40}$/);
}

function readEvaluation(evaluation: Json, _: string | null, what: string): void {
  expect(STATUSES, what).toContain(evaluation.status);
  expect([typeof evaluation.evaluation_id, typeof evaluation.name, isObject(evaluation.metadata)], what).toEqual(["string", "string", true]);
  for (const name of ["created_at", "updated_at"]) expect(evaluation[name], what).toMatch(ISO);
  for (const name of ["error_message", "viewer_url"]) expect(evaluation[name] === null || typeof evaluation[name] === "string", what).toBe(true);
  expect(JSON.stringify(evaluation), what).not.toContain("custom_secrets");
}

function readList({ evaluations, total }: Json, _: string | null, what: string): void {
  expect(Number.isInteger(total), what).toBe(true);
  for (const row of evaluations as Json[]) {
    expect([typeof row.evaluation_id, typeof row.model_name, isObject(row.metadata), Array.isArray(row.environment_names)], what).toEqual([
      "string",
      "string",
      true,
      true,
    ]);
    expect(STATUSES, what).toContain(row.status);
  }
}

function readSamples({ samples, total, page, limit, has_more }: Json, _: string | null, what: string): void {
  expect([Array.isArray(samples), typeof total, typeof page, typeof limit, typeof has_more], what).toEqual([true, "number", "number", "number", "boolean"]);
}

/** Printed as Rich markup: a tag that is not escaped vanishes, or crashes the client. */
function readLogs({ logs }: Json, _: string | null, what: string): void {
  if (logs === null) return;
  expect(typeof logs, what).toBe("string");
  const text = String(logs);
  for (const beginning of SWALLOWED) expect(text.startsWith(beginning), what).toBe(false);
  for (const [, slashes = ""] of text.matchAll(/(\\*)\[[a-z#/@][^[\n]*?\]/g)) expect(slashes.length % 2, what).toBe(1);
  expect(text, what).not.toMatch(/:smile:/);
}
