import { sha256Hex } from "../../config/sha256.ts";

const BLOCK_ROWS = 256;

/**
 * Digest of pinned inputs that can be asked for at any row, in constant memory: blocks of 256 lines are chained,
 * `chain = sha256(chain + lines)`, and the digest is that of the chain with the lines of the open block. So a run that grows can
 * check that its first n rows are still the ones it pinned.
 */
export class InputDigest {
  #chain = "";
  #open: string[] = [];

  async add(line: string): Promise<void> {
    this.#open.push(line);
    if (this.#open.length < BLOCK_ROWS) return;
    this.#chain = await this.value();
    this.#open = [];
  }

  value(): Promise<string> {
    return sha256Hex(this.#chain + this.#open.map((line) => `${line}\n`).join(""));
  }
}
