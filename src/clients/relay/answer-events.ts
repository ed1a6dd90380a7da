import type { RelayRoute } from "../../rollouts/types.ts";
import { type Fields, record, records, text } from "../openai/reply-fields.ts";

/**
 * What is to be known of an answer in pieces that nobody here puts together: whether it came to its end, whether it reports an error, and what its
 * server says of it.
 */
export class AnswerEvents {
  readonly #route: RelayRoute;
  readonly #errorOf: (error: Fields) => Error;
  #ended = false;
  /** Choices that began, and those of them that are over. */
  readonly #begun = new Set<unknown>();
  readonly #finished = new Set<unknown>();
  #usage: Fields | null = null;
  #model: Fields = {};

  /** `errorOf`: what an error inside the answer stands for. */
  constructor(route: RelayRoute, errorOf: (error: Fields) => Error) {
    this.#route = route;
    this.#errorOf = errorOf;
  }

  /** The server said that it is all. */
  end(): void {
    this.#ended = true;
  }

  /** One event. Throws for one that reports an error. */
  add(event: Fields): void {
    if (this.#route === "messages") this.#message(event);
    else if (this.#route === "responses") this.#response(event);
    else this.#choices(event);
  }

  get isWhole(): boolean {
    return this.#ended || (this.#begun.size > 0 && this.#begun.size === this.#finished.size);
  }

  /** The answer without what the model said: the model's name, and the tokens that it took where the server says so. */
  get head(): Fields {
    return { ...this.#model, ...(this.#usage === null ? {} : { usage: this.#usage }) };
  }

  #tell({ model, system_fingerprint, usage }: Fields): void {
    const named = { ...(typeof model === "string" ? { model } : {}), ...(typeof system_fingerprint === "string" ? { system_fingerprint } : {}) };
    this.#model = { ...this.#model, ...named };
    this.#usage = record(usage) === null ? this.#usage : { ...this.#usage, ...known(record(usage) ?? {}) };
  }

  #choices(event: Fields): void {
    const failed = record(event.error);
    if (failed !== null) throw this.#errorOf(failed);
    this.#tell(event);
    for (const { index = 0, finish_reason } of records(event.choices)) {
      this.#begun.add(index);
      if (finish_reason !== null && finish_reason !== undefined) this.#finished.add(index);
    }
  }

  #message(event: Fields): void {
    if (event.type === "error") throw this.#errorOf(record(event.error) ?? {});
    if (event.type === "message_start") this.#tell(record(event.message) ?? {});
    if (event.type === "message_delta") this.#tell({ usage: event.usage });
    if (event.type === "message_stop") this.#ended = true;
  }

  #response(event: Fields): void {
    if (event.type === "error") throw this.#errorOf(record(event.error) ?? event);
    if (!/^response\.(completed|incomplete|failed)$/.test(text(event.type))) return;
    const response = record(event.response) ?? {};
    const failed = record(response.error);
    if (failed !== null) throw this.#errorOf(failed);
    this.#tell(response);
    this.#ended = true;
  }
}

const known = (usage: Fields): Fields => Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
