/** `eval.log` of a results folder: fetched whole once, then grown by what the run has logged since, so that neither traffic nor memory grow with the run. */
import { rmSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { chunksOf, type ServiceClient } from "../connection/http-client.ts";
import { appendWhole, draftOf, isStillAt } from "../disk/files.ts";

export class LogCopy {
  readonly #path: string;
  readonly #runId: string;
  /** Null: nothing is written yet, or it is to be written anew. */
  #file: FileHandle | null = null;
  /** Lines of all events up to this one are in the first `#bytes` bytes. */
  #seq = 0;
  #bytes = 0;

  constructor(folder: string, runId: string) {
    this.#path = join(folder, "eval.log");
    this.#runId = runId;
  }

  /** Brings the file up to date. What fails changes nothing that is in it, and may be tried again. */
  async pull(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    if (this.#file !== null && (await isStillAt(this.#file, this.#path))) await this.#append(this.#file, client, signal);
    else await this.rewrite(client, signal);
  }

  /** Puts the whole log in place of whatever is there. */
  async rewrite(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    await this.close();
    [this.#seq, this.#bytes] = [0, 0];
    const draft = draftOf(this.#path);
    const file = await open(draft, "w");
    try {
      const grows = await this.#append(file, client, signal);
      await rename(draft, this.#path);
      if (grows) this.#file = file;
    } finally {
      if (this.#file !== file) {
        await file.close();
        rmSync(draft, { force: true });
      }
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  /** Page by page, each written when it is there whole. False: a service of before sends the whole log, whatever is asked for. */
  async #append(file: FileHandle, client: ServiceClient, signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      const response = await client.log(this.#runId, this.#seq, signal);
      const next = response.headers.get("x-edgewise-next");
      const chunks: Uint8Array[] = [];
      for await (const chunk of chunksOf(response, signal)) chunks.push(chunk);
      this.#bytes += await appendWhole(file, Buffer.concat(chunks), this.#bytes);
      if (next === null) return false;
      if (!Number.isSafeInteger(Number(next))) throw new Error("the service did not say where its log ends (X-Edgewise-Next)");
      this.#seq = Number(next);
      if (response.headers.get("x-edgewise-more") !== "1") return true;
    }
  }
}
