import { hexOf } from "../config/sha256.ts";

/** The sha256 of bytes as they pass. */
export class ByteDigest {
  readonly #digest = new crypto.DigestStream("SHA-256");
  readonly #writer = this.#digest.getWriter();

  async add(bytes: Uint8Array): Promise<void> {
    await this.#writer.write(bytes);
  }

  /** Hex. */
  async result(): Promise<string> {
    await this.#writer.close();
    return hexOf(await this.#digest.digest);
  }
}
