import { EdgewiseError } from "../errors/result.ts";

/**
 * UTF-8 text of a stream, chunk by chunk. Cancels the stream when the reader has enough. Throws `dataset_unreadable`; `where` says at
 * which place the reader is.
 */
export async function* decodedText(stream: ReadableStream<Uint8Array>, where: () => string): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      let text: string;
      try {
        text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      } catch {
        throw new EdgewiseError("dataset_unreadable", `${where()}: not UTF-8 text (here or in the lines after it)`);
      }
      if (text !== "") yield text;
      if (done) return;
    }
  } finally {
    // Also when the reader stops early: whoever sends the rest may stop too.
    await reader.cancel().catch(() => undefined);
  }
}
