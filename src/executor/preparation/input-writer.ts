import type { InputChunk, UnitRange } from "../../../durable-objects/run/protocol.ts";

/** What was written since it was last asked for: all of it is stored. */
export interface WrittenInputs {
  readonly chunks: readonly InputChunk[];
  /** Of the examples in those chunks, the parts that stand in an order of their own. */
  readonly permuted: readonly UnitRange[];
}

/** Takes the lines of examples in the order of the data set. */
export interface InputWriter {
  /** True when what was written before this line is a part, which the run can begin or go on with. */
  add(line: string): Promise<boolean>;
  taken(): Promise<WrittenInputs>;
  /** With what is left. */
  close(): Promise<WrittenInputs>;
}

const ENCODER = new TextEncoder();

/** Bytes of UTF-8. Most lines are ASCII, and need not be encoded for that. */
export function sizeOf(line: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what this looks for
  return /^[\u0000-\u007f]*$/.test(line) ? line.length : ENCODER.encode(line).byteLength;
}
