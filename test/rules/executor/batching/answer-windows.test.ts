import { describe, expect, it } from "vitest";
import { AnswerWindows } from "../../../../src/executor/batching/answer-windows.ts";
import { Breather } from "../../../../src/executor/batching/breather.ts";
import { IsolateBytes } from "../../../../src/executor/isolate-bytes.ts";
import { BATCH_ANSWERS_A_BREATH, BATCH_WINDOW_BYTES, BATCH_WINDOWS_BYTES } from "../../../../src/limits.ts";
import { MemoryObjects } from "../../../support/batching/memory-objects.ts";

const host = async (size: number) => {
  const store = new MemoryObjects();
  const whole = Uint8Array.from({ length: size }, (_, at) => at % 251);
  await store.create("part", whole);
  const reads: number[] = [];
  const bytes = new IsolateBytes(Number.POSITIVE_INFINITY).open({ now: () => 0, sleep: async () => undefined });
  const read = (key: string, offset: number, length: number) => {
    reads.push(length);
    return store.read(key, offset, length);
  };
  return { windows: new AnswerWindows({ store: { read }, bytes, slice: { spend: () => undefined } }), reads, bytes };
};
const at = (offset: number, length: number, size: number) => ({ key: "part", size, offset, length });
const shown = (offset: number, length: number) => Array.from({ length }, (_, index) => (offset + index) % 251);

describe("answers in storage", () => {
  it("that lie together are read together, up to the end of their object", async () => {
    const size = BATCH_WINDOW_BYTES + 1_000;
    const { windows, reads } = await host(size);
    const offsets = Array.from({ length: 100 }, (_, index) => index * 100);
    const found = await Promise.all(offsets.map((offset) => windows.read(at(offset, 100, size))));
    expect(found.map((each) => [...each])).toEqual(offsets.map((offset) => shown(offset, 100)));
    expect([...(await windows.read(at(size - 10, 10, size)))]).toEqual(shown(size - 10, 10));
    expect(reads).toEqual([BATCH_WINDOW_BYTES, 1_000]);
  });

  it("that do not lie in one window are read by themselves", async () => {
    const size = 3 * BATCH_WINDOW_BYTES;
    const { windows, reads } = await host(size);
    const offset = BATCH_WINDOW_BYTES - 5;
    expect([...(await windows.read(at(offset, 10, size)))]).toEqual(shown(offset, 10));
    expect((await windows.read(at(10, 2 * BATCH_WINDOW_BYTES, size))).byteLength).toBe(2 * BATCH_WINDOW_BYTES);
    expect(reads).toEqual([10, 2 * BATCH_WINDOW_BYTES]);
  });

  it("hold no more than a few windows, and nothing when they are over", async () => {
    const size = 2 * BATCH_WINDOWS_BYTES;
    const { windows, bytes } = await host(size);
    for (let offset = 0; offset < size; offset += BATCH_WINDOW_BYTES) {
      await windows.read(at(offset, 10, size));
      expect(bytes.held).toBeLessThanOrEqual(BATCH_WINDOWS_BYTES);
    }
    expect(bytes.held).toBe(BATCH_WINDOWS_BYTES);
    windows.drop();
    expect(bytes.held).toBe(0);
  });

  it("that could not be read are read again", async () => {
    const { windows } = await host(100);
    await expect(windows.read(at(0, 10, 200))).rejects.toThrow("part");
    expect([...(await windows.read(at(0, 10, 100)))]).toEqual(shown(0, 10));
  });
});

describe("whoever is answered out of storage", () => {
  it("waits with all others at the same time, once in so many answers", async () => {
    const ends: (() => void)[] = [];
    const breather = new Breather(() => new Promise<void>((resolve) => ends.push(resolve)));
    let answered = 0;
    const waiting = Array.from({ length: BATCH_ANSWERS_A_BREATH + 10 }, () => breather.breathe().then(() => answered++));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect([answered, ends.length]).toEqual([BATCH_ANSWERS_A_BREATH - 1, 1]);
    ends[0]?.();
    await Promise.all(waiting);
    for (let count = 11; count < BATCH_ANSWERS_A_BREATH; count++) await breather.breathe();
    expect(ends).toHaveLength(1);
    void breather.breathe();
    expect(ends).toHaveLength(2);
  });
});
