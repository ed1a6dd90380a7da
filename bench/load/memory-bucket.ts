interface Put {
  readonly onlyIf?: unknown;
}
interface Upload {
  readonly key: string;
  readonly parts: Map<number, Uint8Array>;
}

const bytesOf = (value: unknown): Uint8Array => {
  if (typeof value === "string") return new TextEncoder().encode(value);
  if (value instanceof Uint8Array) return value.slice();
  throw new TypeError("this bucket takes text and bytes");
};

/** The part of R2 that a run uses, in memory: what is measured is how often it is asked, which its callers count. */
export class MemoryBucket {
  readonly #objects = new Map<string, Uint8Array>();
  readonly #uploads = new Map<string, Upload>();

  has(suffix: string): boolean {
    return [...this.#objects.keys()].some((key) => key.endsWith(suffix));
  }

  async put(key: string, value: unknown, options: Put = {}): Promise<object | null> {
    if (options.onlyIf !== undefined && this.#objects.has(key)) return null;
    this.#objects.set(key, bytesOf(value));
    return {};
  }

  async get(key: string, { range }: { range?: { offset: number; length: number } } = {}): Promise<object | null> {
    const whole = this.#objects.get(key);
    if (whole === undefined) return null;
    const bytes = range === undefined ? whole : whole.subarray(range.offset, range.offset + range.length);
    return { arrayBuffer: async () => bytes.slice().buffer, text: async () => new TextDecoder().decode(bytes), size: whole.byteLength, checksums: {} };
  }

  async head(key: string): Promise<object | null> {
    const there = this.#objects.get(key);
    return there === undefined ? null : { size: there.byteLength, checksums: {} };
  }

  async delete(keys: string | readonly string[]): Promise<void> {
    for (const key of [keys].flat()) this.#objects.delete(key);
  }

  async list({ prefix = "" }: { prefix?: string } = {}): Promise<object> {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    return { objects: keys.map((key) => ({ key })), truncated: false };
  }

  async createMultipartUpload(key: string): Promise<object> {
    const uploadId = `upload-${this.#uploads.size}`;
    this.#uploads.set(uploadId, { key, parts: new Map() });
    return { uploadId };
  }

  resumeMultipartUpload(_key: string, uploadId: string): object {
    const upload = this.#uploads.get(uploadId);
    return {
      uploadPart: async (part: number, bytes: Uint8Array) => {
        upload?.parts.set(part, bytes.slice());
        return { etag: `part-${part}` };
      },
      complete: async () => {
        const parts = [...(upload?.parts ?? [])].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
        if (upload !== undefined) this.#objects.set(upload.key, new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer()));
        return {};
      },
    };
  }
}
