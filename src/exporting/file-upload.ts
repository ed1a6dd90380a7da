import { count } from "../operations.ts";
import { PART_BYTES } from "../limits.ts";
import { ByteDigest } from "./byte-digest.ts";

/** Where files go. */
export interface UploadPlace {
  put(file: string, bytes: Uint8Array): Promise<void>;
  startUpload(file: string): Promise<R2MultipartUpload>;
}

/** A file of unknown length on its way to R2: one put where it fits into a part, else an upload of equal parts. Holds one part, and makes the digest of what passes by. */
export class FileUpload {
  readonly #place: UploadPlace;
  readonly #file: string;
  readonly #room = new Uint8Array(PART_BYTES);
  #filled = 0;
  #upload: R2MultipartUpload | null = null;
  readonly #parts: R2UploadedPart[] = [];
  readonly #digest = new ByteDigest();

  constructor(place: UploadPlace, file: string) {
    this.#place = place;
    this.#file = file;
  }

  get bytes(): number {
    return this.#parts.length * PART_BYTES + this.#filled;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#digest.add(bytes);
    for (let rest = bytes; rest.byteLength > 0; ) {
      // A part is sent when something follows it: the last one may be smaller.
      if (this.#filled === PART_BYTES) await this.#flush();
      const taken = Math.min(rest.byteLength, PART_BYTES - this.#filled);
      this.#room.set(rest.subarray(0, taken), this.#filled);
      this.#filled += taken;
      rest = rest.subarray(taken);
    }
  }

  /** Its bytes and their sha256 in hex, now that it is there. One that is never finished is dropped by R2 after a week. */
  async finish(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    const { bytes } = this;
    if (this.#upload === null) await this.#place.put(this.#file, this.#room.subarray(0, this.#filled));
    else {
      await this.#flush();
      count("r2_class_a");
      await this.#upload.complete(this.#parts);
    }
    return { bytes, sha256: await this.#digest.result() };
  }

  /** Drops what was sent of it. */
  async abort(): Promise<void> {
    await this.#upload?.abort();
  }

  async #flush(): Promise<void> {
    this.#upload ??= await this.#place.startUpload(this.#file);
    count("r2_class_a");
    this.#parts.push(await this.#upload.uploadPart(this.#parts.length + 1, this.#room.subarray(0, this.#filled)));
    this.#filled = 0;
  }
}
