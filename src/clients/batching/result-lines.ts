import { onAbort } from "../transport/on-abort.ts";

/** A line of results that is not blank. `beginning`: of one that was longer than it may be, its first characters. */
export type ResultLine = { readonly text: string } | { readonly beginning: string; readonly bytes: number };

const LF = 0x0a;
/** Of a line that is too long; its `custom_id` stands there. */
const BEGINNING_BYTES = 1_024;

/** The lines of a body; at most `limit` bytes of one are held. Throws what the network says when the body breaks off, and the signal's reason. */
export async function* resultLines(body: ReadableStream<Uint8Array>, limit: number, signal: AbortSignal): AsyncGenerator<ResultLine> {
  const reader = body.getReader();
  const letGo = onAbort(signal, () => void reader.cancel(signal.reason).catch(() => undefined));
  const line = new OpenLine(limit);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      let from = 0;
      for (let end = value.indexOf(LF); end >= 0; end = value.indexOf(LF, from)) {
        line.take(value.subarray(from, end));
        yield* line.end();
        from = end + 1;
      }
      if (from < value.length) line.take(value.subarray(from));
    }
    yield* line.end();
  } finally {
    letGo();
    await reader.cancel().catch(() => undefined);
  }
}

class OpenLine {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #held = 0;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  take(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength;
    if (this.#bytes <= this.#limit) return this.#hold(bytes);
    if (this.#held > BEGINNING_BYTES) this.#parts = [this.#joined().slice(0, BEGINNING_BYTES)];
    this.#held = Math.min(this.#held, BEGINNING_BYTES);
    if (this.#held < BEGINNING_BYTES) this.#hold(bytes.slice(0, BEGINNING_BYTES - this.#held));
  }

  *end(): Generator<ResultLine> {
    const [text, bytes] = [new TextDecoder().decode(this.#joined()), this.#bytes];
    this.#parts = [];
    this.#held = 0;
    this.#bytes = 0;
    if (bytes > this.#limit) yield { beginning: text, bytes };
    else if (text.trim() !== "") yield { text };
  }

  #hold(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#held += bytes.byteLength;
  }

  #joined(): Uint8Array {
    const [only] = this.#parts;
    if (only !== undefined && this.#parts.length === 1) return only;
    const whole = new Uint8Array(this.#held);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.byteLength;
    }
    return whole;
  }
}
