/** One event of a `text/event-stream` (WHATWG HTML, section 9.2). */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** As last sent on this stream; null before the first. */
  readonly id: string | null;
}

/** Splits a stream of text into events; a chunk may end anywhere, also between `\r` and `\n`. */
export class SseParser {
  /** Milliseconds the server asked to wait before the next connection; null when it did not say. */
  retryMs: number | null = null;
  private buffer = "";
  private event = "";
  private data: string[] = [];
  private id: string | null = null;

  push(chunk: string): readonly ServerEvent[] {
    this.buffer += chunk;
    const events: ServerEvent[] = [];
    for (;;) {
      const end = this.buffer.search(/[\r\n]/);
      // A `\r` at the very end may be the first half of `\r\n`.
      if (end < 0 || (this.buffer[end] === "\r" && end === this.buffer.length - 1)) return events;
      const line = this.buffer.slice(0, end);
      this.buffer = this.buffer.slice(end + (this.buffer.startsWith("\r\n", end) ? 2 : 1));
      const event = this.line(line);
      if (event !== null) events.push(event);
    }
  }

  private line(line: string): ServerEvent | null {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
    return null;
  }

  private dispatch(): ServerEvent | null {
    const { data, event } = this;
    this.data = [];
    this.event = "";
    return data.length === 0 ? null : { event: event === "" ? "message" : event, data: data.join("\n"), id: this.id };
  }
}

/** Events of a response body as they arrive; ends with the body. `onRetry` hears the server's wish for the next connection. */
export async function* readEvents(body: AsyncIterable<Uint8Array>, onRetry: (ms: number) => void): AsyncGenerator<ServerEvent> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const events = parser.push(decoder.decode(chunk, { stream: true }));
    if (parser.retryMs !== null) onRetry(parser.retryMs);
    yield* events;
  }
}
