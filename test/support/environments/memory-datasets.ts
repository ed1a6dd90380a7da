import type { ByteSource, DatasetHost } from "../../../src/datasets/host.ts";
import { webDatasetHost } from "../../../src/datasets/web-host.ts";

/** Bytes of a test as a file; counts what is read. */
export function memorySource(content: string | Uint8Array, chunkBytes = 64 * 1024): ByteSource & { reads: number; bytesRead: number } {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return {
    name: "the file",
    reads: 0,
    bytesRead: 0,
    size: async () => bytes.byteLength,
    async open() {
      let at = 0;
      return new ReadableStream({
        pull(controller) {
          if (at >= bytes.byteLength) return controller.close();
          controller.enqueue(bytes.slice(at, at + chunkBytes));
          at += chunkBytes;
        },
      });
    },
    async read(start, end) {
      this.reads++;
      this.bytesRead += end - start;
      return bytes.slice(start, end).buffer;
    },
  };
}

/** A host without a network: every upload has this content. */
export function memoryDatasets(content: string | Uint8Array | null = null): DatasetHost {
  return webDatasetHost({
    fetch: () => Promise.reject(new Error("no network here")),
    sleep: async () => undefined,
    upload: async () => (content === null ? null : memorySource(content)),
  });
}
