import { gunzipSync } from "node:zlib";
import type { ScriptInput } from "../../test/support/model-server/model-script.ts";

/** What a client sent and what it was answered, as `test/fixtures/prime-client` keeps it. */
export interface Exchange {
  readonly method: string;
  /** With the query; run ids are `{run_0}`, `{run_1}` … in the order of their creation. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As sent, with the address of the model server as `{model}`; null = none. */
  readonly body: string | null;
  /** In place of the body of an upload of traces, its parts: what they are named by and compressed to is made anew. */
  readonly traces?: { readonly metadata: string; readonly lines: string };
  readonly status: number;
  /** Runs that the answer created. */
  readonly created: number;
  /** Status of the evaluation in the answer; a replay asks again until it is the same. Null where the answer has none. */
  readonly evaluation_status: string | null;
}

/** One check of the client. */
export interface Recording {
  readonly client: string;
  readonly check: string;
  /** How the model server behaved. */
  readonly script: ScriptInput;
  readonly exchanges: readonly Exchange[];
}

/** Headers that say something about the client; the others are its transport's. */
const KEPT = ["accept", "accept-encoding", "authorization", "content-length", "content-type", "user-agent", "x-prime-line-format"];

export interface RawExchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly status: number;
  readonly answer: string;
}

/** What must not be kept, and what is different each time: the texts and what stands for them. */
export type Replacements = readonly (readonly [text: string, placeholder: string])[];

/** Turns what went over the wire into something that can be sent again to another service. */
export class Scrubber {
  private readonly replacements: Replacements;
  private readonly runs: string[] = [];

  constructor(replacements: Replacements) {
    this.replacements = replacements;
  }

  async scrub({ method, path, headers, body, status, answer }: RawExchange): Promise<Exchange> {
    const json = parsed(answer);
    const created = method === "POST" && status < 300 ? createdIn(path, json) : [];
    this.runs.push(...created);
    const kept = KEPT.flatMap((name) => (typeof headers[name] === "string" ? [[name, this.clean(headers[name])] as const] : []));
    const parts = await partsOf(String(headers["content-type"] ?? ""), body);
    return {
      method,
      path: this.clean(path),
      headers: Object.fromEntries(kept),
      body: parts !== null || body.length === 0 ? null : this.clean(body.toString("utf8")),
      ...(parts === null ? {} : { traces: { metadata: this.clean(parts.metadata), lines: this.clean(parts.lines) } }),
      status,
      created: created.length,
      evaluation_status: typeof json.evaluation_id === "string" && typeof json.status === "string" ? json.status : null,
    };
  }

  private clean(text: string): string {
    let clean = text.replace(/python\/[\d.]+/, "python/3");
    for (const [secret, placeholder] of this.replacements) clean = clean.replaceAll(secret, placeholder);
    this.runs.forEach((id, index) => {
      clean = clean.replaceAll(id, `{run_${index}}`);
    });
    return clean;
  }
}

/** The parts of an upload of traces, unpacked; null for any other body. */
async function partsOf(contentType: string, body: Buffer): Promise<{ readonly metadata: string; readonly lines: string } | null> {
  if (!contentType.startsWith("multipart/form-data")) return null;
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const [metadata, traces] = [form.get("metadata"), form.get("traces")];
  if (typeof metadata !== "string" || !(traces instanceof File)) throw new Error("an upload of traces without its parts");
  return { metadata, lines: gunzipSync(Buffer.from(await traces.arrayBuffer())).toString("utf8") };
}

/** Ids of what an answer to a POST says it has created: runs, or an evaluation that samples will be pushed to. */
export function createdIn(path: string, json: { readonly evaluation_ids?: unknown; readonly evaluation_id?: unknown }): readonly string[] {
  if (path.endsWith("/evaluations/")) return [String(json.evaluation_id)];
  return Array.isArray(json.evaluation_ids) ? json.evaluation_ids.map(String) : [];
}

/** Of a client that polls, the rounds in which nothing changed say nothing. */
export function withoutRepeats(exchanges: readonly Exchange[]): readonly Exchange[] {
  const kept: Exchange[] = [];
  const seen = new Set<string>();
  for (const exchange of exchanges) {
    const key = JSON.stringify([exchange.method, exchange.path, exchange.status, exchange.evaluation_status]);
    if (exchange.method !== "GET" || !seen.has(key)) kept.push(exchange);
    seen.add(key);
  }
  return kept;
}

function parsed(text: string): { readonly evaluation_ids?: unknown; readonly evaluation_id?: unknown; readonly status?: unknown } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
