import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { R2ObjectStore } from "../../../src/api/r2-object-store.ts";
import type { Env } from "../../../src/env.ts";

const { BUCKET } = env as unknown as Env;
const store = new R2ObjectStore(BUCKET);
const KEY = "datasets/x";

const hex = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = async (bytes: Uint8Array): Promise<string> => hex(await crypto.subtle.digest("SHA-256", bytes));

/** A body of unknown length, as a chunked request has it. */
function streamed(bytes: Uint8Array, chunk = 64 * 1024): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunk));
      at += chunk;
    },
  });
}
async function textOf(body: ReadableStream<Uint8Array> | null): Promise<string | null> {
  return body === null ? null : new Response(body).text();
}

afterEach(() => reset());

describe("an upload", () => {
  it("is stored as it streams, and read back whole or in part", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000));
    const large = new Uint8Array(300_000).map((_, index) => bytes[index % bytes.length] ?? 0);
    expect(await store.create(KEY, { body: streamed(large), bytes: large.byteLength, sha256: await sha256(large) })).toEqual({ ok: true, value: "created" });
    expect(await store.size(KEY)).toBe(300_000);
    const part = await new Response(await store.read(KEY, { offset: 100, length: 50 })).bytes();
    expect([...part]).toEqual([...large.slice(100, 150)]);
  });

  it("of nothing is stored too", async () => {
    const empty = new Uint8Array();
    expect(await store.create(KEY, { body: streamed(empty), bytes: 0, sha256: await sha256(empty) })).toEqual({ ok: true, value: "created" });
    expect(await store.size(KEY)).toBe(0);
  });

  it("never replaces what is there", async () => {
    const bytes = new Uint8Array(3_000_000).fill(65);
    const upload = async () => ({ body: streamed(bytes), bytes: bytes.byteLength, sha256: await sha256(bytes) });
    await store.create(KEY, await upload());
    const uploaded = (await BUCKET.head(KEY))?.uploaded;
    expect(await store.create(KEY, await upload())).toEqual({ ok: true, value: "exists" });
    expect((await BUCKET.head(KEY))?.uploaded).toEqual(uploaded);
  });

  it("with another digest is refused and leaves nothing", async () => {
    const bytes = new TextEncoder().encode("content");
    const upload = { body: streamed(bytes), bytes: bytes.byteLength, sha256: "0".repeat(64) };
    expect(await store.create(KEY, upload)).toMatchObject({ ok: false, error: { code: "digest_mismatch" } });
    expect(await store.size(KEY)).toBeNull();
  });

  it.each([3, 20])("that is not as long as announced (%i for 7) is refused and leaves nothing", async (announced) => {
    const bytes = new TextEncoder().encode("content");
    const upload = { body: streamed(bytes, 4), bytes: announced, sha256: await sha256(bytes) };
    expect(await store.create(KEY, upload)).toMatchObject({ ok: false, error: { code: "invalid_request" } });
    expect(await store.size(KEY)).toBeNull();
  });
});

describe("small objects", () => {
  it("are put, replaced and removed", async () => {
    await store.putText(KEY, "one");
    await store.putText(KEY, "two");
    expect(await textOf(await store.read(KEY))).toBe("two");
    await store.remove(KEY);
    expect([await store.size(KEY), await store.read(KEY)]).toEqual([null, null]);
  });
});
