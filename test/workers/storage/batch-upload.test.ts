import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, inject, it } from "vitest";
import { createBatchRoute } from "../../../src/clients/batching/create-batch-route.ts";
import type { BatchFile, BatchRoute } from "../../../src/clients/batching/batch-route.ts";
import type { Env } from "../../../src/env.ts";
import { MIB } from "../../../src/limits.ts";
import type { BatchLedger } from "../../support/model-server/batches/batch-ledger.ts";
import "../../support/model-server/provided-context.ts";

const { BUCKET } = env as unknown as Env;
// Nobody ends these requests: one clock for the whole file would, where its tests begin late.
const { signal } = new AbortController();

/** Requests with a prompt of `chars` characters each, as they lie in the bucket. */
async function stored(route: BatchRoute, requests: number, chars: number): Promise<BatchFile> {
  const content = "é".repeat(chars);
  const lines = Array.from({ length: requests }, (_, unit) =>
    route.line(`u${unit}-r0-q`, { model: "m", max_tokens: 5, messages: [{ role: "user", content }] }),
  );
  const text = lines.map((line) => `${line}\n`).join("");
  const object = await BUCKET.put("job", text);
  const open = async (): Promise<ReadableStream<Uint8Array>> => (await BUCKET.get("job"))?.body ?? new Blob([]).stream();
  return { name: "job.jsonl", bytes: object?.size ?? 0, requests, open };
}

afterEach(() => reset());

it.each(["openai_chat_completions", "anthropic_messages"] as const)(
  "a batch of %s goes from the bucket to the provider as a stream, and its results come back",
  async (type) => {
    const url = inject("modelServerUrl");
    const before = (await (await fetch(`${url}/batches`)).json<BatchLedger>()).files.length;
    const route = createBatchRoute(type, { base_url: `${url}/v1`, api_key: "k", api_key_var: "K", headers: {} });
    if (route === null) throw new TypeError("no route");
    const file = await stored(route, 40, MIB / 8);
    expect(file.bytes).toBeGreaterThan(10 * MIB);
    const file_id = await route.upload(file, signal);
    const { batch_id } = await route.create(file, file_id, { run_id: "r", job: 1 }, signal);
    expect(await route.look(batch_id, signal)).toMatchObject({ state: "ended", answered: 40 });
    let bytes = 0;
    for await (const line of route.results(batch_id, signal)) bytes += line.kind === "answer" ? line.text.length : 0;
    expect(bytes).toBeGreaterThan(5 * MIB);
    const { files } = await (await fetch(`${url}/batches`)).json<BatchLedger>();
    expect(files.slice(before).map((known) => known.bytes)).toEqual(type === "anthropic_messages" ? [] : [file.bytes]);
  },
);

it("a batch whose file is gone from the bucket is none", async () => {
  const route = createBatchRoute(
    "anthropic_messages",
    { base_url: `${inject("modelServerUrl")}/v1`, api_key: "k", api_key_var: "K", headers: {} },
    { maxRequestRetries: 0 },
  );
  if (route === null) throw new TypeError("no route");
  const file = await stored(route, 1, 1);
  const gone = { ...file, open: async () => new Blob([]).stream() as ReadableStream<Uint8Array> };
  await expect(route.create(gone, null, { run_id: "r", job: 1 }, signal)).rejects.toMatchObject({ failure: { code: expect.stringMatching(/^connection_/) } });
});
