import { fail, ok, type Result } from "../errors/result.ts";
import { ByteDigest } from "../exporting/byte-digest.ts";
import { FileUpload } from "../exporting/file-upload.ts";
import { count } from "../operations.ts";
import type { ObjectStore } from "./app-ports.ts";

/** R2's own number for a body whose digest is not the one announced. */
const CHECKSUM_MISMATCH = "(10037)";

/** A part of the bucket: `prefix` stands before each of its keys. */
export class R2ObjectStore implements ObjectStore {
  readonly #bucket: R2Bucket;
  readonly #prefix: string;
  constructor(bucket: R2Bucket, prefix = "") {
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  async size(key: string): Promise<number | null> {
    count("r2_class_b");
    return (await this.#bucket.head(this.#prefix + key))?.size ?? null;
  }

  async read(key: string, range?: { readonly offset: number; readonly length: number }): Promise<ReadableStream<Uint8Array> | null> {
    count("r2_class_b");
    return (await this.#bucket.get(this.#prefix + key, range === undefined ? {} : { range }))?.body ?? null;
  }

  async putText(key: string, text: string): Promise<void> {
    count("r2_class_a");
    await this.#bucket.put(this.#prefix + key, text);
  }

  async remove(key: string): Promise<void> {
    await this.#bucket.delete(this.#prefix + key);
  }

  async putStream(key: string, body: ReadableStream<Uint8Array>, bytes: number): Promise<void> {
    count("r2_class_a");
    const { readable, writable } = new FixedLengthStream(bytes);
    body.pipeTo(writable).catch(() => undefined);
    await this.#bucket.put(this.#prefix + key, readable, { httpMetadata: { contentType: "application/json" } });
  }

  async putPieces(key: string, pieces: AsyncIterable<Uint8Array>): Promise<{ readonly bytes: number; readonly sha256: string }> {
    const upload = new FileUpload(
      {
        put: async (file, bytes) => {
          count("r2_class_a");
          await this.#bucket.put(file, bytes);
        },
        startUpload: async (file) => {
          count("r2_class_a");
          return await this.#bucket.createMultipartUpload(file);
        },
      },
      this.#prefix + key,
    );
    try {
      for await (const piece of pieces) await upload.write(piece);
      return await upload.finish();
    } catch (thrown) {
      await upload.abort();
      throw thrown;
    }
  }

  async digestOf(pieces: AsyncIterable<Uint8Array>): Promise<{ readonly bytes: number; readonly sha256: string }> {
    const digest = new ByteDigest();
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      await digest.add(piece);
    }
    return { bytes, sha256: await digest.result() };
  }

  async create(
    key: string,
    upload: { readonly body: ReadableStream<Uint8Array>; readonly bytes: number; readonly sha256: string },
  ): Promise<Result<"created" | "exists">> {
    count("r2_class_a");
    // R2 takes streams of known length only; this one breaks when the body has another.
    const { readable, writable } = new FixedLengthStream(upload.bytes);
    // Whatever goes wrong in the pipe breaks the stream that R2 reads, and is heard of there.
    upload.body.pipeTo(writable).catch(() => undefined);
    try {
      const object = await this.#bucket.put(this.#prefix + key, readable, { sha256: upload.sha256, onlyIf: new Headers({ "if-none-match": "*" }) });
      return ok(object === null ? "exists" : "created");
    } catch (error) {
      if (String(error).includes(CHECKSUM_MISMATCH)) return fail("digest_mismatch", "The body does not have the sha256 digest in the path.");
      // Streams break with TypeErrors, R2's own errors are none.
      if (error instanceof TypeError) return fail("invalid_request", "The body ended early, or is longer than its Content-Length.", "Upload it again.");
      throw error;
    }
  }
}
