import { SandboxError } from "../../errors/rollout-errors.ts";
import { MIB } from "../../limits.ts";

/** The Connect protocol's streams (connectrpc.com/docs/protocol): each message has a byte of flags and its length, big-endian, before it. */
const HEAD = 5;
const COMPRESSED = 1;
const END = 2;
const MAX_MESSAGE_BYTES = 8 * MIB;

/** A stream ended with an error of the protocol; `code` is one of its words (`not_found`, `deadline_exceeded`, …). */
export class ConnectFailure extends SandboxError {
  override readonly name: string = "SandboxError";
  readonly connectCode: string;

  constructor(code: string, message: string) {
    super(message);
    this.connectCode = code;
  }
}

/** One message as the body of a streaming request. */
export function envelope(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const framed = new Uint8Array(HEAD + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, HEAD);
  return framed;
}

/** The messages of a streaming answer, until it ends well. Throws a `ConnectFailure` where it ends with an error, and a `SandboxError` where it breaks off. */
export async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let waiting = new Uint8Array(0);
  try {
    for (;;) {
      while (waiting.length >= HEAD) {
        const length = new DataView(waiting.buffer, waiting.byteOffset).getUint32(1);
        if (length > MAX_MESSAGE_BYTES) throw new SandboxError(`a message of ${length} bytes came where ${MAX_MESSAGE_BYTES} are taken`);
        if (waiting.length < HEAD + length) break;
        const flags = waiting[0] ?? 0;
        const message = waiting.subarray(HEAD, HEAD + length);
        waiting = waiting.subarray(HEAD + length);
        if ((flags & COMPRESSED) !== 0) throw new SandboxError("a compressed message came, which nobody asked for");
        if ((flags & END) !== 0) return endOf(message);
        yield message;
      }
      const { done, value } = await reader.read();
      if (done) throw new SandboxError("the stream of a command broke off");
      waiting = joined(waiting, value);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(before.length + after.length);
  both.set(before);
  both.set(after, before.length);
  return both;
}

/** The last message of every stream: JSON, with an error where there was one. */
function endOf(message: Uint8Array): void {
  const text = new TextDecoder().decode(message);
  let end: { readonly error?: { readonly code?: unknown; readonly message?: unknown } };
  try {
    end = text === "" ? {} : JSON.parse(text);
  } catch (cause) {
    throw new SandboxError("the end of a command's stream cannot be read", { cause });
  }
  if (end.error === undefined) return;
  const { code = "unknown", message: said = "" } = end.error;
  throw new ConnectFailure(String(code), `${String(said).slice(0, 500)} (${String(code)})`);
}
