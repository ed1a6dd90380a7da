import type { ExecutorStore } from "../../../src/executor/ports.ts";

const PIECE = 1_000;

/** The part of storage that jobs need, in memory. */
export class MemoryObjects implements Pick<ExecutorStore, "create" | "read" | "readAll" | "stream"> {
  readonly objects = new Map<string, Uint8Array>();

  /** Names of the objects, without their folders. */
  get names(): string[] {
    return [...this.objects.keys()].map((key) => key.split("/").at(-1) ?? "").sort();
  }

  text(key: string): string {
    return new TextDecoder().decode(this.objects.get(key));
  }

  async create(key: string, bytes: Uint8Array): Promise<"stored" | "other"> {
    if (this.objects.has(key)) return "other";
    this.objects.set(key, bytes.slice());
    return "stored";
  }

  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    const bytes = this.objects.get(key)?.subarray(offset, offset + length);
    if (bytes?.byteLength !== length) throw new Error(`${key} has not so many bytes`);
    return bytes;
  }

  async readAll(key: string): Promise<Uint8Array | null> {
    return this.objects.get(key) ?? null;
  }

  async stream(key: string): Promise<ReadableStream<Uint8Array> | null> {
    const bytes = this.objects.get(key);
    if (bytes === undefined) return null;
    const pieces = Array.from({ length: Math.ceil(bytes.byteLength / PIECE) }, (_, at) => bytes.subarray(at * PIECE, (at + 1) * PIECE));
    return ReadableStream.from(pieces);
  }
}
