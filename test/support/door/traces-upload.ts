/** `POST /traces` as `prime-traces` 0.0.10 sends it: what stands between the parts too. */
export interface SentTraces {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface SentAs {
  readonly metadata?: unknown;
  readonly gzip?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the bytes that the lines are compressed to. */
  readonly packed?: Uint8Array;
}

const BOUNDARY = "0123456789abcdef0123456789abcdef";
const METADATA = { schema_version: 1, context: { source: "prime-runs", run_type: "eval", framework: "verifiers", model: "scripted" } };
const bytesOf = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

export const gzipped = async (bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());

export async function sentTraces(lines: string, { metadata = METADATA, gzip = true, headers = {}, packed }: SentAs = {}): Promise<SentTraces> {
  const raw = bytesOf(lines);
  const digest = Buffer.from(await crypto.subtle.digest("SHA-256", raw)).toString("hex");
  const traces = packed ?? (gzip ? await gzipped(raw) : raw);
  const parts = [
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(metadata)}\r\n`,
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="traces"; filename="traces.jsonl"\r\n`,
    gzip ? "Content-Encoding: gzip\r\n" : "",
    "Content-Type: application/x-ndjson\r\n\r\n",
  ];
  const body = new Uint8Array(await new Blob([...parts.map(bytesOf), traces as Uint8Array<ArrayBuffer>, bytesOf(`\r\n--${BOUNDARY}--\r\n`)]).arrayBuffer());
  return {
    headers: {
      "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
      "content-length": String(body.byteLength),
      "idempotency-key": `sha256:${digest}`,
      "x-prime-line-format": "episode",
      ...headers,
    },
    body,
  };
}
