import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesAt, SegmentBuffer } from "../../../r2-layout/segment.ts";
import { SEGMENT_BYTES, SEGMENT_ROWS } from "../../../src/limits.ts";

const MIB = 1024 * 1024;
/** One line whose row (with its line feed) takes `bytes`. */
const line = (bytes: number): string => "x".repeat(bytes - 1);

describe("a segment buffer", () => {
  it("gives back the rows of every unit from its place", () => {
    const units = fc.array(
      fc.array(
        fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => text.replaceAll("\n", " ")),
        { minLength: 1, maxLength: 4 },
      ),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(units, (rows) => {
        const buffer = new SegmentBuffer();
        rows.forEach((lines, i) => {
          expect(buffer.add(100 + i, lines)).toBe(true);
        });
        const contents = buffer.take();
        expect(contents?.units.map(({ unit }) => unit)).toEqual(rows.map((_, i) => 100 + i));
        expect(contents?.rows).toBe(rows.flat().length);
        expect(new TextDecoder().decode(contents?.bytes)).toBe(
          rows
            .flat()
            .map((text) => `${text}\n`)
            .join(""),
        );
        expect(contents?.units.map((place) => linesAt(contents.bytes, place))).toEqual(rows.map((value) => ({ ok: true, value })));
      }),
    );
  });

  it("is full at its number of rows", () => {
    const buffer = new SegmentBuffer();
    for (let unit = 0; unit < SEGMENT_ROWS; unit++) {
      expect(buffer.isFull).toBe(false);
      buffer.add(unit, ["{}"]);
    }
    expect(buffer.isFull).toBe(true);
    expect(buffer.rows).toBe(SEGMENT_ROWS);
  });

  it("is full at its number of bytes, and refuses what would go beyond", () => {
    const buffer = new SegmentBuffer();
    expect(buffer.add(0, [line(SEGMENT_BYTES - 10)])).toBe(true);
    expect(buffer.isFull).toBe(false);
    expect(buffer.add(1, [line(11)])).toBe(false);
    expect(buffer.bytes).toBe(SEGMENT_BYTES - 10);
    expect(buffer.add(2, [line(10)])).toBe(true);
    expect(buffer.isFull).toBe(true);
    expect(buffer.take()?.units).toEqual([
      { unit: 0, offset: 0, length: SEGMENT_BYTES - 10 },
      { unit: 2, offset: SEGMENT_BYTES - 10, length: 10 },
    ]);
  });

  it("holds a unit that is larger than a segment alone", () => {
    const buffer = new SegmentBuffer();
    const large = [line(3 * MIB), line(3 * MIB)];
    buffer.add(0, ["{}"]);
    expect(buffer.add(1, large)).toBe(false);
    expect(buffer.take()?.units).toHaveLength(1);
    expect(buffer.add(1, large)).toBe(true);
    expect(buffer.isFull).toBe(true);
    expect(buffer.add(2, ["{}"])).toBe(false);
    expect(buffer.take()?.units).toEqual([{ unit: 1, offset: 0, length: 6 * MIB }]);
  });

  it("never holds more memory than a segment, however it is filled", () => {
    const buffer = new SegmentBuffer();
    for (let unit = 0; unit < 2_000; unit++) {
      const lines = [line(1 + ((unit * 7919) % 200_000))];
      if (!buffer.add(unit, lines)) {
        expect(buffer.take()?.bytes.byteLength).toBeGreaterThan(SEGMENT_BYTES - 200_001);
        expect(buffer.capacity).toBe(0);
        buffer.add(unit, lines);
      }
      expect(buffer.capacity).toBeLessThanOrEqual(SEGMENT_BYTES);
    }
  });

  it("is empty after its contents were taken, and leaves them alone", () => {
    const buffer = new SegmentBuffer();
    expect(buffer.take()).toBeNull();
    buffer.add(0, ["first"]);
    const contents = buffer.take();
    expect([buffer.isEmpty, buffer.bytes, buffer.rows, buffer.take()]).toEqual([true, 0, 0, null]);
    buffer.add(1, ["again"]);
    expect(new TextDecoder().decode(contents?.bytes)).toBe("first\n");
  });

  it("refuses rows that would shift all that follow", () => {
    const buffer = new SegmentBuffer();
    expect(() => buffer.add(0, [])).toThrow(RangeError);
    expect(() => buffer.add(0, ['{"a":\n1}'])).toThrow(RangeError);
    expect(buffer.isEmpty).toBe(true);
  });
});

describe("rows read back", () => {
  const bytes = new TextEncoder().encode('{"a":1}\n{"é":2}\n');
  it.each([
    ["beyond the end", { offset: 8, length: 20 }],
    ["cut before the line feed", { offset: 0, length: 7 }],
    ["of no length", { offset: 0, length: 0 }],
    ["cut inside a character", { offset: 11, length: 6 }],
  ])("are refused with a code when they are %s", (_, place) => {
    expect(linesAt(bytes, place)).toMatchObject({ ok: false, error: { code: "internal" } });
  });
});
