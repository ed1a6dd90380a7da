import type { PageHeader, SchemaTree } from "hyparquet";
import { deltaBinaryUnpack } from "hyparquet/src/delta.js";
import { readRleBitPackedHybrid } from "hyparquet/src/encoding.js";
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from "hyparquet/src/schema.js";
import { readVarInt } from "hyparquet/src/thrift.js";
import { MAX_COLUMN_VALUES, MAX_PAGE_BYTES } from "../../limits.ts";

interface Reader {
  readonly view: DataView;
  offset: number;
}

/** Widest number that is packed by bits. */
const MAX_BITS = 32;

/**
 * Looks through the runs of a page, which say how often a value comes without being as long: hyparquet writes as many as they say, whatever the
 * page has room for. `unpack`: what is compressed. Throws `RangeError`.
 */
export function checkRuns(header: PageHeader, bytes: Uint8Array, path: readonly SchemaTree[], unpack: (bytes: Uint8Array, length: number) => Uint8Array): void {
  const { data_page_header: first, data_page_header_v2: second } = header;
  if (first !== undefined) {
    const page = readerOf(unpack(bytes, header.uncompressed_page_size));
    if (path.length > 1) levels(page, getMaxRepetitionLevel([...path]), first.num_values, null);
    const defined = levels(page, getMaxDefinitionLevel([...path]), first.num_values, null);
    values(page, first.encoding, defined, header.uncompressed_page_size - page.offset);
  } else if (second !== undefined) {
    const before = second.repetition_levels_byte_length + second.definition_levels_byte_length;
    const page = readerOf(bytes);
    levels(page, getMaxRepetitionLevel([...path]), second.num_values, second.repetition_levels_byte_length);
    levels(
      { ...page, offset: second.repetition_levels_byte_length },
      getMaxDefinitionLevel([...path]),
      second.num_values,
      second.definition_levels_byte_length,
    );
    const packed = bytes.subarray(before);
    const rest = second.is_compressed === false ? packed : unpack(packed, header.uncompressed_page_size - before);
    values(readerOf(rest), second.encoding, second.num_values - second.num_nulls, rest.byteLength);
  }
}

const readerOf = (bytes: Uint8Array): Reader => ({ view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 });

/** Passes over the levels of a page; how many of its values are there. */
function levels(page: Reader, most: number, count: number, length: number | null): number {
  if (most === 0) return count;
  const width = 32 - Math.clz32(most);
  const found: number[] = new Array(count);
  const bytes = length ?? page.view.getUint32(page.offset, true);
  if (length === null) page.offset += 4;
  runs({ ...page }, width, count, page.offset + bytes);
  readRleBitPackedHybrid(page, width, found, bytes);
  return found.reduce((sum, level) => (level === most ? sum + 1 : sum), 0);
}

function values(page: Reader, encoding: string, count: number, length: number): void {
  if (count < 0) throw new RangeError("a page with less than no values");
  if (encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY") {
    if (count === 0) return;
    const width = page.view.getUint8(page.offset++);
    if (width > MAX_BITS) throw new RangeError(`numbers of ${width} bits`);
    runs(page, width, count, page.offset + length);
  } else if (encoding === "RLE") {
    page.offset += 4;
    runs(page, 1, count, page.offset + length);
  } else if (encoding === "DELTA_BYTE_ARRAY") {
    const lengths = [new Int32Array(count), new Int32Array(count)];
    for (const each of lengths) deltaBinaryUnpack(page, count, each);
    // Each value repeats the beginning of the one before it, so that a page becomes far longer than it is.
    const whole = lengths.reduce((sum, each) => each.reduce((inner, bytes) => inner + (bytes < 0 ? Number.POSITIVE_INFINITY : bytes), sum), 0);
    if (whole > MAX_PAGE_BYTES) throw new RangeError(`a page of ${whole} bytes`);
  }
}

/** Goes through runs up to `count` values or the end. */
function runs(page: Reader, width: number, count: number, end: number): void {
  let left = count;
  while (left > 0 && page.offset < Math.min(end, page.view.byteLength)) {
    const header = readVarInt(page);
    const times = header >>> 1;
    if (header < 0 || times > MAX_COLUMN_VALUES) throw new RangeError(`a run of ${times} values`);
    if ((header & 1) === 1) {
      left -= 8 * times;
      page.offset += times * width;
    } else if (times > left) throw new RangeError(`a run of ${times} values where there are ${left}`);
    else {
      left -= times;
      page.offset += (width + 7) >> 3;
    }
  }
}

/** Looks at the lengths in a compressed page before hyparquet goes by them: a negative one leads it back, for ever. Throws `RangeError`. */
export function checkSnappy(bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length && (bytes[at++] ?? 0) >= 0x80);
  while (at < bytes.length) {
    const tag = bytes[at++] ?? 0;
    const kind = tag & 3;
    if (kind !== 0) {
      at += kind === 3 ? 4 : kind;
      continue;
    }
    let length = (tag >>> 2) + 1;
    if (length > 60) {
      const size = length - 60;
      length = 1;
      for (let byte = 0; byte < size; byte++) length += (bytes[at + byte] ?? 0) * 2 ** (8 * byte);
      at += size;
    }
    if (length > bytes.length - at) throw new RangeError(`a text of ${length} bytes where there are ${bytes.length - at}`);
    at += length;
  }
}
