import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WindowPointer } from "../../../r2-layout/place.ts";
import { planReads, planWindow, READ_GAP_BYTES, type SegmentRead } from "../../../r2-layout/results-window.ts";
import { MAX_PARTS, MIN_PART_BYTES, PART_BYTES, SEGMENT_BYTES, SEGMENT_ROWS } from "../../../src/limits.ts";

interface Ledger {
  readonly pointers: readonly WindowPointer[];
  readonly segments: ReadonlyMap<string, Uint8Array>;
}

/** Units of the given sizes in unit order, written to segments of `perSegment` units in the order `written`. */
function ledgerOf(sizes: readonly number[], written: readonly number[], perSegment: number): Ledger {
  const segments = new Map<string, Uint8Array>();
  const pointers: WindowPointer[] = [];
  for (let start = 0, byte = 0; start < written.length; start += perSegment) {
    const units = written.slice(start, start + perSegment);
    const segment = `1-1-${start / perSegment}`;
    const bytes = new Uint8Array(units.reduce((sum, unit) => sum + (sizes[unit] ?? 0), 0));
    // Consecutive numbers modulo a prime: a byte that went to the wrong place shows.
    for (let i = 0; i < bytes.length; i++) bytes[i] = byte++ % 251;
    segments.set(segment, bytes);
    let offset = 0;
    for (const unit of units) {
      const length = sizes[unit] ?? 0;
      pointers.push({ unit, segment, offset, length });
      offset += length;
    }
  }
  return { pointers: pointers.sort((a, b) => a.unit - b.unit), segments };
}

const bytesOf = (ledger: Ledger, place: { segment: string; offset: number; length: number }): Uint8Array => {
  const bytes = ledger.segments.get(place.segment)?.subarray(place.offset, place.offset + place.length);
  if (bytes?.length !== place.length) throw new Error(`no ${place.offset}+${place.length} in ${place.segment}`);
  return bytes;
};

const concatenated = (ledger: Ledger): Buffer => Buffer.concat(ledger.pointers.map((pointer) => bytesOf(ledger, pointer)));

/** Writes the whole file part by part as the finaliser does, resuming each time from nothing but the position. */
function assemble(ledger: Ledger, partBytes: number, maxGapBytes: number): { parts: Buffer[]; reads: SegmentRead[] } {
  const parts: Buffer[] = [];
  const reads: SegmentRead[] = [];
  for (let position = { unit: 0, skip: 0 }, last = false; !last; ) {
    const { unit, skip } = position;
    const window = planWindow(
      ledger.pointers.filter((pointer) => pointer.unit >= unit),
      skip,
      partBytes,
    );
    const part = Buffer.alloc(window.bytes);
    for (const read of planReads(window.pointers, window.skip, window.bytes, maxGapBytes)) {
      const buffer = bytesOf(ledger, read);
      for (const { from, to, length } of read.copies) {
        expect(from + length).toBeLessThanOrEqual(buffer.length);
        part.set(buffer.subarray(from, from + length), to);
      }
      reads.push(read);
    }
    parts.push(part);
    ({ next: position, last } = window);
  }
  return { parts, reads };
}

const order = (count: number): fc.Arbitrary<number[]> =>
  fc
    .array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: count, maxLength: count })
    .map((keys) => keys.map((_, i) => i).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0)));

describe("parts of results.jsonl", () => {
  it("put together, are the rows in unit order, whatever the segments, their order and the sizes", () => {
    const ledgers = fc
      .array(fc.integer({ min: 1, max: 60 }), { maxLength: 80 })
      .chain((sizes) => fc.record({ sizes: fc.constant(sizes), written: order(sizes.length), perSegment: fc.integer({ min: 1, max: 20 }) }));
    fc.assert(
      fc.property(ledgers, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 100 }), ({ sizes, written, perSegment }, partBytes, gap) => {
        const ledger = ledgerOf(sizes, written, perSegment);
        const { parts } = assemble(ledger, partBytes, gap);
        expect(Buffer.concat(parts).equals(concatenated(ledger))).toBe(true);
        expect(parts.slice(0, -1).every((part) => part.length === partBytes)).toBe(true);
        expect(parts.at(-1)?.length).toBeGreaterThanOrEqual(sizes.length === 0 ? 0 : 1);
        expect(parts.at(-1)?.length).toBeLessThanOrEqual(partBytes);
      }),
      { numRuns: 300 },
    );
  });

  it("cut a row in the middle and go on there", () => {
    const pointers = [0, 1, 2].map((unit) => ({ unit, segment: "1-1-1", offset: unit * 10, length: 10 }));
    expect(planWindow(pointers, 0, 16)).toEqual({ pointers: pointers.slice(0, 2), skip: 0, bytes: 16, last: false, next: { unit: 1, skip: 6 } });
    expect(planWindow(pointers.slice(1), 6, 4)).toEqual({ pointers: pointers.slice(1, 2), skip: 6, bytes: 4, last: false, next: { unit: 2, skip: 0 } });
    expect(planWindow(pointers.slice(2), 0, 16)).toEqual({ pointers: pointers.slice(2), skip: 0, bytes: 10, last: true, next: { unit: 3, skip: 0 } });
  });

  it("end exactly where the rows end: no empty part follows", () => {
    const pointers = [0, 1].map((unit) => ({ unit, segment: "1-1-1", offset: unit * 8, length: 8 }));
    expect(planWindow(pointers, 0, 16)).toMatchObject({ bytes: 16, last: true });
    expect(planWindow([], 0, 16)).toMatchObject({ pointers: [], bytes: 0, last: true });
  });

  it("cut one unit that is longer than several parts", () => {
    const unit = { unit: 4, segment: "1-1-1", offset: 100, length: 50 };
    expect(planWindow([unit], 40, 20)).toMatchObject({ bytes: 10, last: true });
    expect(planWindow([unit], 20, 20)).toMatchObject({ bytes: 20, last: false, next: { unit: 4, skip: 40 } });
  });

  it("ask for one row more than they need, and no further", () => {
    let asked = 0;
    const endless = (function* () {
      for (let unit = 0; ; unit++) {
        asked++;
        yield { unit, segment: "1-1-1", offset: unit * 10, length: 10 };
      }
    })();
    expect(planWindow(endless, 0, 100).pointers).toHaveLength(10);
    expect(asked).toBe(11);
  });

  it.each([
    [10, [{ unit: 0, segment: "1-1-1", offset: 0, length: 10 }]],
    [-1, [{ unit: 0, segment: "1-1-1", offset: 0, length: 10 }]],
    [1, []],
  ])("do not begin at byte %d of %j", (skip, pointers) => {
    expect(() => planWindow(pointers, skip, 100)).toThrow(RangeError);
  });

  it("are parts that R2 takes, for any run of up to 78 GB", () => {
    expect(PART_BYTES).toBeGreaterThanOrEqual(MIN_PART_BYTES);
    expect(PART_BYTES * MAX_PARTS).toBeGreaterThan(78e9);
  });
});

describe("reads of a part", () => {
  const at = (unit: number, offset: number, length: number, segment = "1-1-1"): WindowPointer => ({ unit, segment, offset, length });

  it("are one per segment for rows side by side, with one copy where the order is the same", () => {
    expect(planReads([at(0, 0, 10), at(1, 10, 10), at(2, 20, 10)], 5, 20, 0)).toEqual([
      { segment: "1-1-1", offset: 5, length: 20, copies: [{ from: 0, to: 0, length: 20 }] },
    ]);
  });

  it("bridge a gap up to the given size, and no wider one", () => {
    const pointers = [at(0, 0, 10), at(1, 14, 10)];
    expect(planReads(pointers, 0, 20, 4)).toEqual([
      {
        segment: "1-1-1",
        offset: 0,
        length: 24,
        copies: [
          { from: 0, to: 0, length: 10 },
          { from: 14, to: 10, length: 10 },
        ],
      },
    ]);
    expect(planReads(pointers, 0, 20, 3)).toHaveLength(2);
  });

  it("never exceed a segment's budget, even for a unit that does", () => {
    const length = 2 * SEGMENT_BYTES + 5;
    const reads = planReads([at(0, 0, length)], 0, length);
    expect(reads.map((read) => read.length)).toEqual([SEGMENT_BYTES, SEGMENT_BYTES, 5]);
    expect(reads.map((read) => read.copies)).toEqual([
      [{ from: 0, to: 0, length: SEGMENT_BYTES }],
      [{ from: 0, to: SEGMENT_BYTES, length: SEGMENT_BYTES }],
      [{ from: 0, to: 2 * SEGMENT_BYTES, length: 5 }],
    ]);
  });

  it("refuse pointers that do not hold the part", () => {
    expect(() => planReads([at(0, 0, 10)], 0, 11)).toThrow(RangeError);
  });

  // Rows of 300 bytes up to as many as a full segment holds; completion order differs from unit order by up to 256 lanes.
  it.each([300, 2_000, 16_000, SEGMENT_BYTES / SEGMENT_ROWS])("are fewer than 1,000 for 50,000 rows of %d bytes, and hold one part and one segment", (size) => {
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const units = Array.from({ length: 50_000 }, (_, unit) => ({ unit, done: unit + 256 * random() }));
    const pointers = units
      .sort((a, b) => a.done - b.done)
      .map(({ unit }, i) => ({ unit, segment: `1-1-${Math.floor(i / SEGMENT_ROWS)}`, offset: (i % SEGMENT_ROWS) * size, length: size }))
      .sort((a, b) => a.unit - b.unit);
    let reads = 0;
    let bytes = 0;
    for (let position = { unit: 0, skip: 0 }, last = false; !last; ) {
      const window = planWindow(pointers.slice(position.unit), position.skip, PART_BYTES);
      const planned = planReads(window.pointers, window.skip, window.bytes, READ_GAP_BYTES);
      for (const read of planned) expect(window.bytes + read.length).toBeLessThanOrEqual(PART_BYTES + SEGMENT_BYTES);
      reads += planned.length;
      bytes += window.bytes;
      ({ next: position, last } = window);
    }
    expect(bytes).toBe(50_000 * size);
    expect(reads).toBeLessThan(1_000);
    expect(reads).toBeGreaterThanOrEqual(Math.ceil(50_000 / SEGMENT_ROWS));
  });
});
