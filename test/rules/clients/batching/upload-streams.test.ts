import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, vi } from "vitest";
import type { BatchFile } from "../../../../src/clients/batching/batch-route.ts";
import { createBatchRoute } from "../../../../src/clients/batching/create-batch-route.ts";
import { KIB, MIB } from "../../../../src/limits.ts";

async function serving(listener: RequestListener): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A file of 150 MiB that is made as it is read, and how much of it was. */
function hugeFile(): { readonly file: BatchFile; readonly read: { bytes: number; letGo: boolean } } {
  const piece = new Uint8Array(64 * KIB).fill(0x20);
  const bytes = 150 * MIB;
  const read = { bytes: 0, letGo: false };
  const open = async (): Promise<ReadableStream<Uint8Array>> =>
    new ReadableStream({
      pull(controller) {
        if (read.bytes >= bytes) return controller.close();
        read.bytes += piece.byteLength;
        controller.enqueue(piece.slice());
      },
      cancel() {
        read.letGo = true;
      },
    });
  return { file: { name: "huge", bytes, requests: 1, open }, read };
}

const ROUTES = ["openai_chat_completions", "anthropic_messages"] as const;

it.each(ROUTES)("a file for %s is read no faster than it is taken, and let go of when whoever sends it has gone", async (type) => {
  let taken = false;
  // Takes what the machine holds for it, and reads none of it.
  await using server = await serving((request) => {
    request.pause();
    taken = true;
  });
  const route = createBatchRoute(type, { base_url: server.url, api_key: "k", api_key_var: "K", headers: {} }, { maxRequestRetries: 0 });
  const { file, read } = hugeFile();
  const gone = new AbortController();
  const sent = route?.upload(file, gone.signal).then((id) => route.create(file, id, { run_id: "r", job: 1 }, gone.signal));
  await vi.waitFor(() => expect(taken).toBe(true), { timeout: 10_000 });
  // It stands still once the buffers between are full.
  let before = -1;
  await vi.waitFor(
    () => {
      const now = read.bytes;
      const stands = now === before;
      before = now;
      expect(stands).toBe(true);
    },
    { timeout: 15_000, interval: 200 },
  );
  expect(read.bytes).toBeLessThan(32 * MIB);
  gone.abort(new Error("gone"));
  await expect(sent).rejects.toThrow("gone");
  await vi.waitFor(() => expect(read.letGo).toBe(true), { timeout: 10_000 });
});
