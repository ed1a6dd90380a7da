import type { StreamFold } from "./read-answer.ts";
import { type Fields, record, records, text } from "./reply-fields.ts";

/** Lists of a choice's log-probabilities, one entry per token. */
const LISTS = ["tokens", "token_logprobs"] as const;

/** Chunks of `POST /completions` with `stream: true`, put together into the completion they would have been. */
export class CompletionStream implements StreamFold {
  readonly #errorOf: (error: Fields) => Error;
  #head: Fields = {};
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
    return this.#text.length + 16 * (this.#logprobs.tokens.length + this.#ids.length);
  }

  add({ choices, error, ...head }: Fields): void {
    const failed = record(error);
    if (failed !== null) throw this.#errorOf(failed);
    for (const [name, value] of Object.entries(head)) if (value !== null) this.#head[name] = value;
    for (const choice of records(choices)) {
      this.#began = true;
      this.#text += text(choice.text);
      this.#finish = choice.finish_reason ?? this.#finish;
      const logprobs = record(choice.logprobs) ?? {};
      for (const name of LISTS) if (Array.isArray(logprobs[name])) this.#logprobs[name].push(...logprobs[name]);
      if (Array.isArray(choice.token_ids)) this.#ids.push(...choice.token_ids);
      if (Array.isArray(choice.prompt_token_ids)) this.#head.prompt_token_ids = choice.prompt_token_ids;
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
    return { ...this.#head, choices: [choice] };
  }
}
