import { BodyTooLarge } from "./response-body.ts";

/** One event of a `text/event-stream`; `event` is empty where it has no name. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * The events of a body as they arrive, without those that carry nothing. Throws `BodyTooLarge` for an event of more than `limit`
 * characters, or whatever the network says when the body breaks off. Lets go of the body when its reader stops early.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, limit: number): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let held = "";
  let ended = false;
  try {
    while (!ended) {
      const { done, value } = await reader.read();
      ended = done;
      // A last event without its blank line is still whole where the body has ended as it should.
      held += done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
      const blocks = held.split(/\r\n\r\n|\n\n|\r\r/);
      held = blocks.pop() ?? "";
      if (held.length > limit) throw new BodyTooLarge(`an event of more than ${limit} characters`);
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
