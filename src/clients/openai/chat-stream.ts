import { StreamHead, sizeOf } from "../kept-size.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { type Fields, record, records, text } from "./reply-fields.ts";

interface Call {
  id: string;
  name: string;
  arguments: string;
}

interface Choice {
  readonly texts: Map<string, string>;
  readonly calls: Map<number, Call>;
  readonly logprobs: Fields[];
  readonly ids: number[];
  finish: unknown;
}

/** What a choice or a call costs before anything is in it, in characters. */
const PART = 256;

const lengthOf = ({ id, name, arguments: given }: Call): number => id.length + name.length + given.length;

/** Fields of a chat delta that come in pieces. */
const TEXTS = ["content", "refusal", "reasoning", "reasoning_content", "reasoning_details"] as const;

/** Chunks of `POST /chat/completions` with `stream: true`, put together into the completion they would have been. */
export class ChatStream implements StreamFold {
  readonly #errorOf: (error: Fields) => Error;
  readonly #choices = new Map<number, Choice>();
  readonly #head = new StreamHead();
  #size = 0;

  /** `errorOf`: what an error inside the stream stands for. */
  constructor(errorOf: (error: Fields) => Error) {
    this.#errorOf = errorOf;
  }

  get size(): number {
    return this.#size + this.#head.size;
  }

  add({ choices, error, ...head }: Fields): void {
    const failed = record(error);
    if (failed !== null) throw this.#errorOf(failed);
    this.#head.addAll(head);
    for (const raw of records(choices)) this.#take(this.#choice(typeof raw.index === "number" ? raw.index : 0), raw);
  }

  #choice(index: number): Choice {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const begun: Choice = { texts: new Map(), calls: new Map(), logprobs: [], ids: [], finish: null };
    this.#choices.set(index, begun);
    this.#size += PART;
    return begun;
  }

  #take(choice: Choice, raw: Fields): void {
    const delta = record(raw.delta) ?? {};
    for (const name of TEXTS) {
      const piece = text(delta[name]);
      if (piece === "") continue;
      choice.texts.set(name, (choice.texts.get(name) ?? "") + piece);
      this.#size += piece.length;
    }
    for (const [at, call] of records(delta.tool_calls).entries()) this.#takeCall(choice, indexOf(choice, call, at), call);
    const logprobs = records(record(raw.logprobs)?.content);
    for (const { token, logprob } of logprobs) {
      choice.logprobs.push({ token, logprob });
      this.#size += sizeOf(token) + sizeOf(logprob);
    }
    const ids = Array.isArray(raw.token_ids) ? raw.token_ids.filter((id) => typeof id === "number") : [];
    for (const id of ids) choice.ids.push(id);
    this.#size += 16 * ids.length;
    if (raw.finish_reason === null || raw.finish_reason === undefined) return;
    choice.finish = raw.finish_reason;
    this.#size += sizeOf(raw.finish_reason);
  }

  #takeCall({ calls }: Choice, index: number, raw: Fields): void {
    const known = calls.get(index);
    const call = known ?? { id: "", name: "", arguments: "" };
    const before = lengthOf(call);
    if (known === undefined) {
      calls.set(index, call);
      this.#size += PART;
    }
    const called = record(raw.function) ?? {};
    if (call.id === "") call.id = text(raw.id);
    if (call.name === "") call.name = text(called.name);
    call.arguments += text(called.arguments);
    this.#size += lengthOf(call) - before;
  }

  result(done: boolean): unknown {
    const choices = [...this.#choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    if (!done && (choices.length === 0 || choices.some(({ finish }) => finish === null))) return null;
    return { ...this.#head.fields, choices: choices.map(completed) };
  }
}

/** Some servers number nothing: a piece with another id than the call at its place begins a call of its own. */
function indexOf({ calls }: Choice, call: Fields, at: number): number {
  if (typeof call.index === "number") return call.index;
  const known = calls.get(at);
  return known !== undefined && text(call.id) !== "" && call.id !== known.id ? calls.size : at;
}

function completed({ texts, calls, logprobs, ids, finish }: Choice): Fields {
  const tool_calls = [...calls]
    .sort(([a], [b]) => a - b)
    .map(([, { id, name, arguments: given }]) => ({
      ...(id === "" ? {} : { id }),
      function: { name, arguments: given },
    }));
  return {
    message: { content: null, ...Object.fromEntries(texts), ...(tool_calls.length > 0 ? { tool_calls } : {}) },
    finish_reason: finish,
    ...(logprobs.length > 0 ? { logprobs: { content: logprobs } } : {}),
    ...(ids.length > 0 ? { token_ids: ids } : {}),
  };
}
