import { BATCH_WINDOW_BYTES, BATCH_WINDOWS_BYTES } from "../../limits.ts";
import type { ExecutorBytes, HeldBytes } from "../isolate-bytes.ts";
import type { ExecutorStore } from "../ports.ts";
import type { Slice } from "../slice.ts";

export interface WindowsHost {
  readonly store: Pick<ExecutorStore, "read">;
  readonly bytes: ExecutorBytes;
  readonly slice: Pick<Slice, "spend">;
}

/** Some bytes of an object, of which all are `size`. */
export interface ObjectPlace {
  readonly key: string;
  readonly size: number;
  readonly offset: number;
  readonly length: number;
}

interface Window {
  readonly read: Promise<Uint8Array>;
  readonly held: HeldBytes;
}

/** Reads short pieces of objects in larger ones, and keeps the last of these: at most BATCH_WINDOWS_BYTES. What does not lie in one is read by itself. */
export class AnswerWindows {
  readonly #host: WindowsHost;
  readonly #windows = new Map<string, Window>();

  constructor(host: WindowsHost) {
    this.#host = host;
  }

  /** Rejects as storage does. */
  async read({ key, size, offset, length }: ObjectPlace): Promise<Uint8Array> {
    const from = offset - (offset % BATCH_WINDOW_BYTES);
    const to = Math.min(size, from + BATCH_WINDOW_BYTES);
    if (offset + length > to) return await this.#stored(key, offset, length);
    const window = await this.#window(key, from, to - from);
    return window.subarray(offset - from, offset - from + length);
  }

  #stored(key: string, offset: number, length: number): Promise<Uint8Array> {
    this.#host.slice.spend();
    return this.#host.store.read(key, offset, length);
  }

  #window(key: string, from: number, length: number): Promise<Uint8Array> {
    const name = `${key} ${from}`;
    const known = this.#windows.get(name);
    if (known !== undefined) {
      this.#windows.delete(name);
      this.#windows.set(name, known);
      return known.read;
    }
    const held = this.#host.bytes.add(length);
    const read = this.#stored(key, from, length).catch((thrown: unknown) => {
      this.#forget(name);
      throw thrown;
    });
    this.#windows.set(name, { read, held });
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size * BATCH_WINDOW_BYTES <= BATCH_WINDOWS_BYTES) break;
      this.#forget(oldest);
    }
    return read;
  }

  #forget(name: string): void {
    this.#windows.get(name)?.held.release();
    this.#windows.delete(name);
  }

  /** Holds nothing any more. */
  drop(): void {
    for (const name of [...this.#windows.keys()]) this.#forget(name);
  }
}
