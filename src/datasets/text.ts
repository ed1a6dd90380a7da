import { EdgewiseError } from "../errors/result.ts";
import { STEP_CHARS } from "../limits.ts";
import { Pace } from "./pace.ts";

/**
 * UTF-8 text of a stream, in pieces of bounded length; others go first between them. Cancels the stream when the reader has enough. Throws `dataset_unreadable`; `where` says at
 * which place the reader is.
 */
export async function* decodedText(stream: ReadableStream<Uint8Array>, where: () => string): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const pace = new Pace();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      let text: string;
      try {
        text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      } catch {
        throw new EdgewiseError("dataset_unreadable", `${where()}: not UTF-8 text (here or in the lines after it)`);
      }
      for (let at = 0; at < text.length; at += STEP_CHARS) {
        const piece = at === 0 && text.length <= STEP_CHARS ? text : text.slice(at, at + STEP_CHARS);
        yield piece;
        await pace.spend(piece.length);
      }
      if (done) return;
    }
  } finally {
    // Also when the reader stops early: whoever sends the rest may stop too.
    await reader.cancel().catch(() => undefined);
  }
}
