import { createReadStream } from "node:fs";

/** Non-blank lines of a file or any stream of bytes, one at a time, whatever its size. */
export async function* readLines(source: string | AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  const chunks: AsyncIterable<Uint8Array> = typeof source === "string" ? createReadStream(source) : source;
  for await (const chunk of chunks) {
    const [first = "", ...lines] = decoder.decode(chunk, { stream: true }).split("\n");
    rest.push(first);
    for (const line of lines) {
      const whole = rest.join("");
      rest = [line];
      if (whole.trim() !== "") yield whole;
    }
  }
  const last = rest.join("") + decoder.decode();
  if (last.trim() !== "") yield last;
}
