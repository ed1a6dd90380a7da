import { describe, expect, it } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { Inputs } from "../../../src/executor/units/inputs.ts";
import type { ExecutorStore } from "../../../src/executor/ports.ts";
import { INPUT_CACHE_BYTES, MIB, SEGMENT_BYTES, SEGMENT_ROWS } from "../../../src/limits.ts";
import { unboundedBytes } from "../../support/run/unbounded-bytes.ts";
import { ticketOnRuleRun } from "../../support/run/rule-ticket.ts";

/** One segment being filled and two on their way (session.ts), beside the inputs. */
const BOUND = 3 * SEGMENT_BYTES + INPUT_CACHE_BYTES;
const LANES = 8;

interface Load {
  readonly units: number;
  /** Length of each answer. */
  readonly bytes: number;
  /** Milliseconds of each put; null = none is ever answered. */
  readonly putMs: number | null;
}

/** Units with large rows, before a storage that is slow; what the ticket holds is looked at whenever something moves. */
function heavyTicket({ units, bytes, putMs }: Load) {
  const seen = { peak: 0, calls: 0, stored: 0, outstanding: 0, mostOutstanding: 0 };
  const text = "x".repeat(bytes);
  const look = (): void => {
    seen.peak = Math.max(seen.peak, ticket.bufferedBytes);
    seen.mostOutstanding = Math.max(seen.mostOutstanding, seen.outstanding);
  };
  const { run, ticket } = ticketOnRuleRun({
    units,
    lanes: LANES,
    async answer() {
      seen.calls++;
      await sleep(1);
      seen.outstanding += bytes;
      look();
      return text;
    },
    async onPut(segment) {
      look();
      if (putMs === null) await new Promise(() => undefined);
      await sleep(putMs ?? 0);
      seen.stored += segment.byteLength;
      seen.outstanding -= Math.floor(segment.byteLength / bytes) * bytes;
    },
  });
  return { run, ticket, seen };
}

describe("what an executor holds", () => {
  it.each([20, 60])("is bounded by a constant, with large rows and a slow storage, whether it runs %i units or more", async (units) => {
    const { run, ticket, seen } = heavyTicket({ units, bytes: 1.3 * MIB, putMs: 25 });
    await ticket.run();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: units });
    expect(seen.stored).toBeGreaterThan(units * MIB);
    // It was pressed: more than one segment at a time.
    expect(seen.peak).toBeGreaterThan(SEGMENT_BYTES);
    expect(seen.peak).toBeLessThanOrEqual(BOUND);
    expect(BOUND).toBeLessThanOrEqual(16 * MIB);
    // Beside it, each lane holds the unit it has just finished, until there is room.
    expect(seen.mostOutstanding).toBeLessThanOrEqual(3 * SEGMENT_BYTES + LANES * 1.3 * MIB);
  });

  it.each([
    ["large", 1.3 * MIB, 3 * Math.floor(SEGMENT_BYTES / (1.3 * MIB)) + LANES],
    ["small", 200, 3 * SEGMENT_ROWS + LANES],
  ])("stays there when storage never answers: no further unit is begun, with %s rows", async (_, bytes, most) => {
    const { ticket, seen } = heavyTicket({ units: 4_000, bytes, putMs: null });
    const over = ticket.run();
    let calls = -1;
    while (calls < seen.calls) {
      ({ calls } = seen);
      await sleep(300);
    }
    expect(calls).toBeLessThanOrEqual(most);
    expect(seen.peak).toBeLessThanOrEqual(BOUND);
    ticket.stop("abort");
    void over;
  });

  it("of small rows is little, since they leave by number", async () => {
    const { run, ticket, seen } = heavyTicket({ units: 3_000, bytes: 200, putMs: 5 });
    await ticket.run();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 3_000 });
    expect(seen.peak).toBeLessThanOrEqual(4 * MIB);
  });
});

describe("cached inputs", () => {
  const chunkOf = (index: number, bytes: number) => ({ lo: 2 * index, hi: 2 * index + 2, digest: index.toString(16).padStart(64, "0"), bytes });
  function inputsOf(fail: (reads: number) => boolean = () => false) {
    let reads = 0;
    const readAll = async (): Promise<Uint8Array> => {
      if (fail(++reads)) throw new Error("R2 is busy");
      return new TextEncoder().encode('{"example_id":0}\n{"example_id":1}\n');
    };
    return { inputs: new Inputs({ readAll } as Partial<ExecutorStore> as ExecutorStore, "0000abcd", unboundedBytes()), reads: () => reads };
  }

  it("are at most as many bytes as the budget says, the least recently used leave first", async () => {
    const { inputs, reads } = inputsOf();
    const chunks = Array.from({ length: 10 }, (_, index) => chunkOf(index, MIB));
    for (const { lo } of chunks) {
      await inputs.of(lo, chunks);
      await inputs.of(lo + 1, chunks);
      expect(inputs.bytes).toBeLessThanOrEqual(INPUT_CACHE_BYTES);
    }
    expect(reads()).toBe(10);
    await inputs.of(18, chunks);
    expect(reads()).toBe(10);
    await inputs.of(0, chunks);
    expect(reads()).toBe(11);
  });

  it("hold one chunk, however large it is", async () => {
    const { inputs } = inputsOf();
    const chunks = [chunkOf(0, 3 * INPUT_CACHE_BYTES), chunkOf(1, MIB)];
    await inputs.of(0, chunks);
    await inputs.of(2, chunks);
    expect(inputs.bytes).toBe(MIB);
  });

  it("forget a chunk that could not be read, so that it is read again", async () => {
    const { inputs, reads } = inputsOf((n) => n === 1);
    const chunks = [chunkOf(0, MIB)];
    await expect(inputs.of(0, chunks)).rejects.toThrow("R2 is busy");
    expect(inputs.bytes).toBe(0);
    expect(await inputs.of(1, chunks)).toEqual({ example_id: 1 });
    expect(reads()).toBe(2);
  });
});
