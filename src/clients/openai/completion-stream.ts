import { StreamHead, sizeOf } from "../kept-size.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { type Fields, record, records, text } from "./reply-fields.ts";

/** Lists of a choice's log-probabilities, one entry per token. */
const LISTS = ["tokens", "token_logprobs"] as const;

/** Chunks of `POST /completions` with `stream: true`, put together into the completion they would have been. */
export class CompletionStream implements StreamFold {
  readonly #errorOf: (error: Fields) => Error;
  readonly #head = new StreamHead();
  #size = 0;
  #text = "";
  #began = false;
  #finish: unknown = null;
  readonly #ids: unknown[] = [];
  readonly #logprobs: Record<(typeof LISTS)[number], unknown[]> = { tokens: [], token_logprobs: [] };

  /** `errorOf`: what an error inside the stream stands for. */
  constructor(errorOf: (error: Fields) => Error) {
    this.#errorOf = errorOf;
  }

  get size(): number {
    return this.#text.length + this.#size + this.#head.size;
  }

  add({ choices, error, ...head }: Fields): void {
    const failed = record(error);
    if (failed !== null) throw this.#errorOf(failed);
    this.#head.addAll(head);
    for (const choice of records(choices)) {
      this.#began = true;
      this.#text += text(choice.text);
      if (choice.finish_reason !== null && choice.finish_reason !== undefined) {
        this.#finish = choice.finish_reason;
        this.#size += sizeOf(choice.finish_reason);
      }
      const logprobs = record(choice.logprobs) ?? {};
      for (const name of LISTS) this.#keep(this.#logprobs[name], logprobs[name]);
      this.#keep(this.#ids, choice.token_ids);
      if (Array.isArray(choice.prompt_token_ids)) this.#head.set("prompt_token_ids", choice.prompt_token_ids);
    }
  }

  #keep(into: unknown[], list: unknown): void {
    if (!Array.isArray(list)) return;
    for (const value of list as readonly unknown[]) {
      into.push(value);
      this.#size += sizeOf(value);
    }
  }

  result(done: boolean): unknown {
    if (!this.#began || (!done && this.#finish === null)) return null;
    const choice = {
      text: this.#text,
      finish_reason: this.#finish,
      ...(this.#logprobs.tokens.length > 0 ? { logprobs: this.#logprobs } : {}),
      ...(this.#ids.length > 0 ? { token_ids: this.#ids } : {}),
    };
    return { ...this.#head.fields, choices: [choice] };
  }
}
