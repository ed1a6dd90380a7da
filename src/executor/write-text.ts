import { PART_BYTES } from "../limits.ts";
import type { ExecutorStore, MultipartPart } from "./ports.ts";

const TYPE = "text/plain; charset=utf-8";

/**
 * Writes text of any length without ever holding more than a part and a piece: as one put where it fits into a part, else as a multipart
 * upload, begun anew by whoever is asked again. `spend` is called for each operation. `mark`: of the object, to know it by when the answer
 * to its completion is lost.
 */
export async function writeText(store: ExecutorStore, key: string, mark: string, pieces: AsyncIterable<string>, spend: () => void): Promise<void> {
  const encoder = new TextEncoder();
  const room = new Uint8Array(PART_BYTES);
  let length = 0;
  let upload: string | null = null;
  const parts: MultipartPart[] = [];
  const flush = async (): Promise<void> => {
    if (upload === null) {
      spend();
      upload = await store.startUpload(key, TYPE, mark);
    }
    spend();
    const part = parts.length + 1;
    parts.push({ part, etag: await store.uploadPart(key, upload, part, room.subarray(0, length)) });
    length = 0;
  };
  for await (const piece of pieces) {
    for (let rest = encoder.encode(piece); rest.byteLength > 0; ) {
      // A part is sent when something follows it: the last one may be smaller, and a text of one part is a single put.
      if (length === PART_BYTES) await flush();
      const taken = Math.min(rest.byteLength, PART_BYTES - length);
      room.set(rest.subarray(0, taken), length);
      length += taken;
      rest = rest.subarray(taken);
    }
  }
  spend();
  if (upload === null) return store.put(key, room.subarray(0, length), TYPE);
  await flush();
  await store.completeUpload(key, upload, parts, mark);
}
