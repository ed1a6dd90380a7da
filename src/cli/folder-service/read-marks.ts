import { fileBytes } from "./file-bytes.ts";

/** Bytes at the beginning, and at the end of what was read. */
const MARK_BYTES = 4_096;

/** Bytes that a file had at a place. */
export interface ReadMark {
  readonly at: number;
  readonly bytes: Buffer;
}

/** What tells a file that grew from one that was written anew and is longer: a row that was put in, left out or changed in its length moves what is at the end. */
export async function readMarks(path: string, through: number): Promise<readonly ReadMark[]> {
  const length = Math.min(MARK_BYTES, through);
  return Promise.all([0, through - length].map(async (at) => ({ at, bytes: await bytesAt(path, at, length) })));
}

export async function areThere(path: string, marks: readonly ReadMark[]): Promise<boolean> {
  for (const { at, bytes } of marks) if (!bytes.equals(await bytesAt(path, at, bytes.byteLength))) return false;
  return true;
}

async function bytesAt(path: string, offset: number, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of fileBytes(path, { offset, length })) parts.push(part);
  return Buffer.concat(parts);
}
