import { createHash } from "node:crypto";
import type { ObjectStore } from "../../../src/api/app-ports.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";

/** Bytes of one piece of an object's body, as the platform hands them to a script. */
const PIECE = 4096;

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at + PIECE));
      at += PIECE;
    },
  });
}

export class MemoryStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();
  readonly reads: string[] = [];
  failPuts = false;

  async size(key: string): Promise<number | null> {
    return this.objects.get(key)?.byteLength ?? null;
  }
  async read(key: string, range?: { offset: number; length: number }): Promise<ReadableStream<Uint8Array> | null> {
    this.reads.push(`${key} ${range?.offset}+${range?.length}`);
    const bytes = this.objects.get(key);
    if (bytes === undefined) return null;
    return inPieces(range === undefined ? bytes.slice() : bytes.slice(range.offset, range.offset + range.length));
  }
  async putText(key: string, text: string): Promise<void> {
    if (this.failPuts) throw new Error("R2 is away");
    this.objects.set(key, new TextEncoder().encode(text));
  }
  async remove(key: string): Promise<void> {
    this.objects.delete(key);
  }
  async putStream(key: string, body: ReadableStream<Uint8Array>): Promise<void> {
    this.objects.set(key, new Uint8Array(await new Response(body).arrayBuffer()));
  }
  async putPieces(key: string, pieces: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
    const bytes = Buffer.concat(await Array.fromAsync(pieces));
    this.objects.set(key, bytes);
    return { bytes: bytes.byteLength, sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  async digestOf(pieces: AsyncIterable<Uint8Array>): Promise<{ bytes: number; sha256: string }> {
    const bytes = Buffer.concat(await Array.fromAsync(pieces));
    return { bytes: bytes.byteLength, sha256: createHash("sha256").update(bytes).digest("hex") };
  }
  async create(key: string, upload: { body: ReadableStream<Uint8Array>; bytes: number; sha256: string }): Promise<Result<"created" | "exists">> {
    const bytes = new Uint8Array(await new Response(upload.body).arrayBuffer());
    if (createHash("sha256").update(bytes).digest("hex") !== upload.sha256) return fail("digest_mismatch", "Other digest.");
    if (this.objects.has(key)) return ok("exists");
    this.objects.set(key, bytes);
    return ok("created");
  }
}
