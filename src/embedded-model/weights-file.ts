import { z } from "zod";

/**
 * The weights file: one binary file that carries a model and says where it comes from.
 *
 * | bytes | content |
 * | --- | --- |
 * | 0–7 | `EDGEWISE` |
 * | 8–11 | format version, u32 little endian |
 * | 12–15 | bytes of the header, u32 little endian |
 * | 16–47 | sha256 of everything that follows |
 * | 48– | the header: JSON in UTF-8, padded with spaces to a multiple of 8 bytes |
 * | then | the tensors in the order of the header: float16, little endian, row by row |
 */
const MAGIC = "EDGEWISE";
export const WEIGHTS_VERSION = 1;
const PREFIX_BYTES = 48;

const count = z.int().min(1);
const share = z.number().min(0).max(1);

const HEADER = z.object({
  name: z.string(),
  shape: z.object({ layers: count, heads: count, width: count.multipleOf(4), hidden: count.multipleOf(4), context: count }),
  /** Token texts by id. The first is the unknown token, the second ends a text; every other is one character. */
  vocabulary: z.array(z.string()).min(3),
  tensors: z.array(z.object({ name: z.string(), rows: count, columns: count })),
  /** How the weights were made, and the share of held-out problems answered rightly at temperature 0. */
  training: z.object({
    command: z.string(),
    seed: z.int(),
    steps: count,
    examples: count,
    date: z.string(),
    torch: z.string(),
    final_loss: z.number(),
    /** By difficulty, then by operation; `all` is the mean over the operations. */
    accuracy: z.record(z.string(), z.record(z.string(), share)),
  }),
});

export type WeightsHeader = z.infer<typeof HEADER>;
export type ModelShape = WeightsHeader["shape"];

/** Row-major matrices by name, widened to float64: what JavaScript computes in, and so what is fastest to read. */
export type Tensors = ReadonlyMap<string, Float64Array>;

export interface Weights {
  readonly header: WeightsHeader;
  readonly tensors: Tensors;
  /** Hex sha256 of header and tensors, as the file states it and as it was checked. */
  readonly digest: string;
}

/** Thrown for bytes that are no weights file of this version; the message says what is wrong with them. */
export class WeightsError extends Error {
  override readonly name = "WeightsError";
  constructor(reason: string) {
    super(`the weights file cannot be used: ${reason}`);
  }
}

/** Reads and checks a weights file. Throws `WeightsError`. */
export async function readWeights(bytes: Uint8Array<ArrayBuffer>): Promise<Weights> {
  if (bytes.length < PREFIX_BYTES) throw new WeightsError(`it is truncated: ${bytes.length} bytes, its first part alone has ${PREFIX_BYTES}`);
  if (latin1(bytes.subarray(0, 8)) !== MAGIC) throw new WeightsError(`it does not begin with ${MAGIC}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(8, true);
  if (version !== WEIGHTS_VERSION) throw new WeightsError(`it has format version ${version}, this code reads version ${WEIGHTS_VERSION}`);
  const tensorsAt = PREFIX_BYTES + view.getUint32(12, true);
  if (bytes.length < tensorsAt) throw new WeightsError(`it is truncated: ${bytes.length} bytes, its header ends at ${tensorsAt}`);

  // The digest would find a truncated file too; its length says how much is missing.
  const stated = hex(bytes.subarray(16, PREFIX_BYTES));
  const actual = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.subarray(PREFIX_BYTES))));
  const header = parseHeader(bytes.subarray(PREFIX_BYTES, tensorsAt), stated === actual);
  const expected = tensorsAt + 2 * header.tensors.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
  if (bytes.length !== expected) {
    const kind = bytes.length < expected ? "it is truncated" : "it goes on after its last tensor";
    throw new WeightsError(`${kind}: ${bytes.length} bytes, its header describes ${expected}`);
  }
  if (stated !== actual) throw new WeightsError(`its content does not match its digest (stated ${stated}, computed ${actual})`);

  const tensors = new Map<string, Float64Array>();
  let at = tensorsAt;
  for (const { name, rows, columns } of header.tensors) {
    const values = new Float64Array(rows * columns);
    for (let i = 0; i < values.length; i++, at += 2) values[i] = float16(view.getUint16(at, true));
    tensors.set(name, values);
  }
  return { header, tensors, digest: stated };
}

function parseHeader(bytes: Uint8Array, digestMatches: boolean): WeightsHeader {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new WeightsError(digestMatches ? "its header is not JSON" : "its header is not JSON and its content does not match its digest");
  }
  const parsed = HEADER.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new WeightsError(`its header is wrong: ${parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ")}`);
}

/** The value of an IEEE 754 half-precision number, by its bits. */
function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const latin1 = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
