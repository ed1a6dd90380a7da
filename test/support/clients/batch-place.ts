import type { ClientPorts } from "../../../src/clients/client.ts";
import type { BatchFile, BatchLine, BatchRoute, SeenBatch } from "../../../src/clients/batching/batch-route.ts";
import { createBatchRoute } from "../../../src/clients/batching/create-batch-route.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { BATCH_CREATE_MS } from "../../../src/limits.ts";
import type { ClientType, JsonObject } from "../../../src/config/plan/run-config.ts";
import type { BatchLedger, EndBatch } from "../model-server/batches/batch-ledger.ts";
import type { ScriptInput } from "../model-server/model-script.ts";
import { startModelServer } from "../model-server/model-server.ts";

export const KEY = "sk-test-1234567890abcdef";

export interface BatchPlace extends AsyncDisposable {
  readonly route: BatchRoute;
  readonly signal: AbortSignal;
  /** Waits between attempts, none of which was waited for. */
  readonly slept: readonly number[];
  readonly warnings: readonly string[];
  readonly ledger: () => BatchLedger;
  readonly script: (script: ScriptInput) => void;
  readonly tell: (end: EndBatch) => Promise<void>;
  /** Lets go of the calls that a rule holds. */
  readonly release: () => Promise<void>;
  /** Uploads, where the provider has files, and creates. */
  readonly submit: (file: BatchFile, job?: number) => Promise<SeenBatch>;
  readonly results: (batch_id: string) => Promise<BatchLine[]>;
}

export const TAG = { run_id: "run-1", job: 1 };

/** A provider's batches on a scripted server, and the route to them. `ended`: settling time of lists. */
export async function batchPlace(
  type: ClientType,
  script: ScriptInput = {},
  { ports = {}, settleMs = 0, below = "/v1" }: { readonly ports?: Partial<ClientPorts>; readonly settleMs?: number; readonly below?: string } = {},
): Promise<BatchPlace> {
  const server = await startModelServer({ api_key: KEY, ...script });
  const [slept, warnings]: [number[], string[]] = [[], []];
  // Waits between attempts are over at once, and limits of time are never reached.
  const waited = async (ms: number, ended?: AbortSignal | null): Promise<void> => {
    if (ms < BATCH_CREATE_MS) slept.push(ms);
    else await sleep(10 * ms, ended);
  };
  const route = createBatchRoute(
    type,
    { base_url: `${server.controlUrl}${below}`, api_key: KEY, api_key_var: "TEST_KEY", headers: {} },
    { random: () => 0, sleep: (ms, ended) => waited(ms, ended), onWarning: (_kind, message) => void warnings.push(message), ...ports },
    { settleMs },
  );
  if (route === null) throw new TypeError(`${type} has no batches`);
  const { signal } = new AbortController();
  return {
    route,
    signal,
    slept,
    warnings,
    ledger: server.batches,
    script: (next) => server.setScript({ api_key: KEY, ...next }),
    tell: async (end) => void (await fetch(`${server.controlUrl}/batches`, { method: "POST", body: JSON.stringify(end) })),
    release: async () => void (await fetch(`${server.controlUrl}/batches/release`, { method: "POST" })),
    submit: async (file, job = 1) => await route.create(file, await route.upload(file, signal), { ...TAG, job }, signal),
    results: async (batch_id) => await Array.fromAsync(route.results(batch_id, signal)),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

export const requestOf = (type: ClientType, prompt: string): JsonObject =>
  type === "openai_responses"
    ? { model: "m-1", input: [{ role: "user", content: prompt }] }
    : type === "openai_completions"
      ? { model: "m-1", prompt }
      : { model: "m-1", ...(type === "anthropic_messages" ? { max_tokens: 64 } : {}), messages: [{ role: "user", content: prompt }] };

/** A file of one request for each prompt, `u0-r0-q`, `u1-r0-q` and so on. `end`: whether its last line has one. */
export function fileOf(route: BatchRoute, type: ClientType, prompts: readonly string[], end = "\n"): BatchFile {
  const lines = prompts.map((prompt, unit) => route.line(`u${unit}-r0-q`, requestOf(type, prompt)));
  const bytes = new TextEncoder().encode(lines.length === 0 ? "" : lines.join("\n") + end);
  // In small pieces, so that what is found in them is split anywhere.
  const open = async (): Promise<ReadableStream<Uint8Array>> => {
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        if (at >= bytes.byteLength) return controller.close();
        controller.enqueue(bytes.slice(at, at + 7));
        at += 7;
      },
    });
  };
  return { name: "job-1.jsonl", bytes: bytes.byteLength, requests: prompts.length, open };
}
