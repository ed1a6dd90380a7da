import { describe, expect, it } from "vitest";
import { readAtOnce } from "../../../r2-layout/read-part.ts";
import type { ExecutorStore } from "../../../src/executor/ports.ts";
import { writeText } from "../../../src/executor/write-text.ts";
import { MAX_CONNECTIONS, PART_BYTES, SEGMENT_BYTES } from "../../../src/limits.ts";

/** Most reads, and most bytes, that were under way at once; each read takes a turn of the event loop. */
async function peaks(lengths: readonly number[]): Promise<{ readonly reads: number; readonly bytes: number; readonly done: number }> {
  let [open, openBytes, reads, bytes, done] = [0, 0, 0, 0, 0];
  await readAtOnce(
    lengths.map((length) => ({ length })),
    async ({ length }) => {
      open++;
      openBytes += length;
      [reads, bytes] = [Math.max(reads, open), Math.max(bytes, openBytes)];
      await new Promise((resolve) => setTimeout(resolve, 0));
      open--;
      openBytes -= length;
      done++;
    },
  );
  return { reads, bytes, done };
}

describe("the reads of a part", () => {
  it("are as many at once as an invocation has connections, but for the one of the beat", async () => {
    expect(await peaks(Array.from({ length: 100 }, () => 1_000))).toEqual({ reads: MAX_CONNECTIONS - 1, bytes: (MAX_CONNECTIONS - 1) * 1_000, done: 100 });
  });

  it("hold no more than two segments at once, and a single read of any size", async () => {
    const large = await peaks(Array.from({ length: 20 }, () => SEGMENT_BYTES));
    expect(large).toEqual({ reads: 2, bytes: 2 * SEGMENT_BYTES, done: 20 });
    expect(await peaks([3 * SEGMENT_BYTES, 10])).toMatchObject({ reads: 1, done: 2 });
  });

  it("end with the first failure, once none is under way any more", async () => {
    let open = 0;
    const reading = readAtOnce(
      Array.from({ length: 20 }, (_, index) => ({ length: 1, index })),
      async ({ index }) => {
        open++;
        await new Promise((resolve) => setTimeout(resolve, index));
        open--;
        if (index === 1) throw new Error("gone");
      },
    );
    await expect(reading).rejects.toThrow("gone");
    expect(open).toBe(0);
  });
});

/** A bucket that keeps what is put, and how. */
function bucket(): { readonly store: ExecutorStore; readonly objects: Map<string, Uint8Array>; readonly parts: number[] } {
  const objects = new Map<string, Uint8Array>();
  const parts: number[] = [];
  const sent: Uint8Array[] = [];
  const store = {
    put: async (key: string, bytes: Uint8Array) => void objects.set(key, bytes.slice()),
    startUpload: async () => "u",
    uploadPart: async (_key: string, _id: string, part: number, bytes: Uint8Array) => {
      sent[part - 1] = bytes.slice();
      parts.push(bytes.byteLength);
      return `etag ${part}`;
    },
    completeUpload: async (key: string) => void objects.set(key, Buffer.concat(sent)),
  };
  return { store: store as unknown as ExecutorStore, objects, parts };
}

async function* repeated(piece: string, times: number): AsyncGenerator<string> {
  for (let n = 0; n < times; n++) yield piece;
}

describe("the log of a settled run", () => {
  it("is one put where it fits into a part, also when it fills it", async () => {
    for (const times of [0, 1, PART_BYTES / 1024]) {
      const { store, objects, parts } = bucket();
      let spent = 0;
      await writeText(store, "eval.log", "m", repeated(`${"x".repeat(1023)}\n`, times), () => spent++);
      expect([objects.get("eval.log")?.byteLength, parts, spent]).toEqual([times * 1024, [], 1]);
    }
  });

  it("is written in equal parts where it is longer, and holds one of them at a time", async () => {
    const { store, objects, parts } = bucket();
    let spent = 0;
    const line = `${"é".repeat(500_000)}\n`;
    await writeText(store, "eval.log", "m", repeated(line, 20), () => spent++);
    expect(Buffer.from(objects.get("eval.log") ?? []).toString()).toBe(line.repeat(20));
    expect([parts, spent]).toEqual([[PART_BYTES, PART_BYTES, 20 * 1_000_001 - 2 * PART_BYTES], 5]);
  });
});
