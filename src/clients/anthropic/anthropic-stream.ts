import { parseShallow } from "../../config/json-depth.ts";
import { sizeOf } from "../kept-size.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { type Fields, record, text } from "../openai/reply-fields.ts";

/** Fields of a block that come in pieces, by the type of the piece. */
const PIECES: Readonly<Record<string, { readonly from: string; readonly to: string }>> = {
  text_delta: { from: "text", to: "text" },
  thinking_delta: { from: "thinking", to: "thinking" },
  signature_delta: { from: "signature", to: "signature" },
  input_json_delta: { from: "partial_json", to: "partial_json" },
};

/** Events of `POST /v1/messages` with `stream: true`, put together into the message they would have been. */
export class AnthropicStream implements StreamFold {
  readonly #errorOf: (error: Fields) => Error;
  #message: Fields | null = null;
  readonly #blocks = new Map<number, Fields>();
  #size = 0;
  #stopped = false;

  /** `errorOf`: what an error inside the stream stands for. */
  constructor(errorOf: (error: Fields) => Error) {
    this.#errorOf = errorOf;
  }

  get size(): number {
    return this.#size;
  }

  add(event: Fields): void {
    const index = typeof event.index === "number" ? event.index : 0;
    switch (event.type) {
      case "error":
        throw this.#errorOf(record(event.error) ?? {});
      case "message_start":
        this.#message = record(event.message);
        this.#size += sizeOf(event.message);
        return;
      case "content_block_start":
        this.#blocks.set(index, { ...record(event.content_block) });
        this.#size += sizeOf(event.content_block);
        return;
      case "content_block_delta":
        return this.#extend(this.#blocks.get(index), record(event.delta) ?? {});
      case "message_delta":
        this.#size += sizeOf(event.delta) + sizeOf(event.usage);
        this.#message = { ...this.#message, ...record(event.delta), usage: { ...record(this.#message?.usage), ...known(record(event.usage)) } };
        return;
      case "message_stop":
        this.#stopped = true;
    }
  }

  #extend(block: Fields | undefined, delta: Fields): void {
    const piece = PIECES[text(delta.type)];
    if (block === undefined || piece === undefined) return;
    const more = text(delta[piece.from]);
    block[piece.to] = text(block[piece.to]) + more;
    this.#size += more.length;
  }

  result(): unknown {
    if (!this.#stopped || this.#message === null) return null;
    return { ...this.#message, content: [...this.#blocks].sort(([a], [b]) => a - b).map(([, block]) => finished(block)) };
  }
}

/** What is told a second time: the tokens written, and others only where they have changed. */
const known = (usage: Fields | null): Fields => Object.fromEntries(Object.entries(usage ?? {}).filter(([, value]) => value !== null));

/** The input of a tool comes as pieces of JSON; what a cut-off answer leaves of it is no object. */
function finished({ partial_json, ...block }: Fields): Fields {
  if (block.type !== "tool_use" || text(partial_json) === "") return block;
  try {
    return { ...block, input: parseShallow(text(partial_json)) };
  } catch {
    return { ...block, input: {} };
  }
}
