import { open } from "node:fs/promises";

const STEP = 4 * 1024 * 1024;

/** Bytes of a file in pieces of some megabytes. */
export async function* fileBytes(path: string, { offset, length }: { readonly offset: number; readonly length: number }): AsyncGenerator<Buffer> {
  const file = await open(path, "r");
  try {
    for (let at = offset; at < offset + length; ) {
      const wanted = Math.min(STEP, offset + length - at);
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}
