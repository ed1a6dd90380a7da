import { count } from "../../operations.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { ExecutorStore } from "../ports.ts";

/** R2 lists what was put at once and for good: what is not there was taken away. */
const missing = (key: string): EdgewiseError => new EdgewiseError("storage_damaged", `${key} is missing in storage`);
const cut = (key: string): EdgewiseError => new EdgewiseError("storage_damaged", `${key} is shorter in storage than it was when it was written`);

/** What a local bucket says of an object whose file was cut: in the middle of its body, or of a range that is not there any more. */
const CUT = /did not see all expected bytes|Unspecified error \(0\)/;

/** All bytes of an object, or of a range of it; null where there is none. */
async function bytesOf(key: string, get: () => Promise<R2ObjectBody | null>): Promise<Uint8Array | null> {
  count("r2_class_b");
  try {
    const object = await get();
    return object === null ? null : new Uint8Array(await object.arrayBuffer());
  } catch (thrown) {
    throw CUT.test(String(thrown)) ? cut(key) : thrown;
  }
}

/** The executor's part of R2 over a bucket binding; operations are counted by what the platform bills. */
export function bucketStore(bucket: R2Bucket): ExecutorStore {
  return {
    async create(key, bytes) {
      const sha256 = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
      count("r2_class_a");
      const put = await bucket.put(key, bytes, { onlyIf: new Headers({ "if-none-match": "*" }), sha256 });
      if (put !== null) return "stored";
      count("r2_class_b");
      const there = (await bucket.head(key))?.checksums.sha256;
      return there !== undefined && sameBytes(there, sha256) ? "stored" : "other";
    },
    async put(key, bytes, contentType) {
      count("r2_class_a");
      await bucket.put(key, bytes, { httpMetadata: { contentType } });
    },
    async read(key, offset, length) {
      const bytes = await bytesOf(key, () => bucket.get(key, { range: { offset, length } }));
      if (bytes === null) throw missing(key);
      if (bytes.byteLength !== length) throw cut(key);
      return bytes;
    },
    readAll: (key) => bytesOf(key, () => bucket.get(key)),
    async stream(key) {
      count("r2_class_b");
      return (await bucket.get(key))?.body ?? null;
    },
    async size(key) {
      count("r2_class_b");
      return (await bucket.head(key))?.size ?? null;
    },
    async startUpload(key, contentType, mark) {
      count("r2_class_a");
      return (await bucket.createMultipartUpload(key, { httpMetadata: { contentType }, customMetadata: { mark } })).uploadId;
    },
    async uploadPart(key, uploadId, part, bytes) {
      count("r2_class_a");
      return (await bucket.resumeMultipartUpload(key, uploadId).uploadPart(part, bytes)).etag;
    },
    async completeUpload(key, uploadId, parts, mark) {
      count("r2_class_a");
      try {
        await bucket.resumeMultipartUpload(key, uploadId).complete(parts.map(({ part, etag }) => ({ partNumber: part, etag })));
      } catch (thrown) {
        // The answer to an earlier completion may have been lost.
        count("r2_class_b");
        if ((await bucket.head(key))?.customMetadata?.mark !== mark) throw thrown;
      }
    },
  };
}

function sameBytes(a: ArrayBuffer, b: ArrayBuffer): boolean {
  const [left, right] = [new Uint8Array(a), new Uint8Array(b)];
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
