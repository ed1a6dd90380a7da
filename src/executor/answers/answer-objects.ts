import { answerKey } from "../../../r2-layout/keys.ts";
import { keptAnswerText, readKeptAnswer } from "../../../r2-layout/kept-answer.ts";
import type { Permits } from "../../clients/client.ts";
import type { Json } from "../../config/plan/run-config.ts";
import { failureOf } from "../../errors/result.ts";
import { MAX_CACHED_ANSWER_BYTES } from "../../limits.ts";
import type { ExecutorPorts, ExecutorStore } from "../ports.ts";

/** Storage that does not answer in so many milliseconds is gone on without. */
const STORAGE_MS = 5_000;
/** And is not asked again for so many. */
const SILENT_MS = 10_000;

export interface ObjectPorts extends Pick<ExecutorPorts, "now" | "sleep"> {
  /** Of the team. */
  readonly store: Pick<ExecutorStore, "readAll" | "put">;
  /** Where the platform counts them: R2 takes one as a model does. */
  readonly connections: Permits | null;
  readonly spend: () => void;
  readonly onTrouble: (message: string) => void;
}

/** What R2 says of an answer: itself, that there is none (any more, or none that can be read), or nothing in time. */
export type ReadAnswer = { readonly answer: Json } | "none" | "silent";

/** Answers in R2, for one team. Nothing here rejects. */
export class AnswerObjects {
  readonly #ports: ObjectPorts;
  #silentUntil = Number.NEGATIVE_INFINITY;

  constructor(ports: ObjectPorts) {
    this.#ports = ports;
  }

  get isSilent(): boolean {
    return this.#ports.now() < this.#silentUntil;
  }

  async read(digest: string): Promise<ReadAnswer> {
    if (this.isSilent) return "silent";
    const bytes = await this.#inTime("read", () => this.#ports.store.readAll(answerKey(digest)));
    if (bytes === "silent") return bytes;
    const kept = bytes === null ? null : readKeptAnswer(new TextDecoder().decode(bytes));
    return kept === null || kept.expires_at <= this.#ports.now() ? "none" : { answer: kept.answer as Json };
  }

  /** `text`: the answer as JSON. Its bytes as they are stored; null where it is not. */
  async put(digest: string, text: string, stored_at: number, expires_at: number): Promise<number | null> {
    if (this.isSilent) return null;
    const bytes = new TextEncoder().encode(keptAnswerText({ stored_at, expires_at }, text));
    if (bytes.byteLength > MAX_CACHED_ANSWER_BYTES) return null;
    const put = await this.#inTime("stored", async () => {
      await this.#ports.store.put(answerKey(digest), bytes, "application/json");
      return bytes.byteLength;
    });
    return put === "silent" ? null : put;
  }

  async #inTime<T>(done: string, work: () => Promise<T>): Promise<T | "silent"> {
    const { sleep, onTrouble, now } = this.#ports;
    const off = new AbortController();
    const late = sleep(STORAGE_MS, off.signal).then(
      () => Promise.reject(new Error(`storage did not answer in ${STORAGE_MS / 1_000} s`)),
      () => new Promise<never>(() => undefined),
    );
    try {
      return await Promise.race([this.#connected(work), late]);
    } catch (thrown) {
      this.#silentUntil = now() + SILENT_MS;
      onTrouble(`answers cannot be ${done}: ${failureOf(thrown).message}`);
      return "silent";
    } finally {
      off.abort();
    }
  }

  async #connected<T>(work: () => Promise<T>): Promise<T> {
    const { connections, spend } = this.#ports;
    if (connections !== null) await connections.enter();
    spend();
    try {
      return await work();
    } finally {
      connections?.leave();
    }
  }
}
