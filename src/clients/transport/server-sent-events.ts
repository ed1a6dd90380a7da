import { BodyTooLarge } from "./response-body.ts";

/** One event of a `text/event-stream`; `event` is empty where it has no name. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

const BLANK_LINE = /\r\n\r\n|\n\n|\r\r/;

/**
 * The events of a body as they arrive, without those that carry nothing. Throws `BodyTooLarge` for an event of more than `limit`
 * characters, or whatever the network says when the body breaks off. Lets go of the body when its reader stops early.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, limit: number): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  /** The block that has not ended, put together only when its end is there: a long one in small pieces is looked at once. */
  let held: string[] = [];
  let length = 0;
  /** The last characters of it: a blank line may come in pieces. */
  let seam = "";
  let ended = false;
  try {
    while (!ended) {
      const { done, value } = await reader.read();
      ended = done;
      // A last event without its blank line is still whole where the body has ended as it should.
      const piece = done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
      if (piece === "") continue;
      held.push(piece);
      length += piece.length;
      const near = seam + piece;
      let blocks: string[] = [];
      if (BLANK_LINE.test(near)) {
        blocks = held.join("").split(BLANK_LINE);
        const rest = blocks.pop() ?? "";
        held = [rest];
        length = rest.length;
        seam = rest.slice(-3);
      } else seam = near.slice(-3);
      if (length > limit) throw new BodyTooLarge(`an event of more than ${limit} characters`);
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    if (!ended) await reader.cancel().catch(() => undefined);
  }
}

function parseBlock(block: string): ServerSentEvent | null {
  let event = "";
  const data: string[] = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line.startsWith(": ", colon) ? colon + 2 : colon + 1);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { event, data: data.join("\n") };
}
