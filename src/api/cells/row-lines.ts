import type { ExamplePlace } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { ObjectStore } from "../app-ports.ts";

const LINE_FEED = 0x0a;

/** Number of the line that a rollout has among the rows of its example; null where its row is missing. */
export function lineOf({ missing }: Pick<ExamplePlace, "missing">, rollout: number): number | null {
  return missing.includes(rollout) ? null : rollout - missing.filter((each) => each < rollout).length;
}

/** One line of the rows at a place, without its line feed: those before it pass by, and none behind it is read. Null where there are fewer. */
export async function readLine(
  store: ObjectStore,
  key: string,
  { offset, length }: Pick<ExamplePlace, "offset" | "length">,
  line: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const body = await store.read(key, { offset, length });
  if (body === null) throw new EdgewiseError("storage_unavailable", `${key} is missing in storage.`);
  const found: Uint8Array[] = [];
  let before = line;
  for await (const chunk of body) {
    let start = 0;
    for (; before > 0; before--) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end < 0) break;
      start = end + 1;
    }
    if (before > 0) continue;
    const end = chunk.indexOf(LINE_FEED, start);
    found.push(chunk.slice(start, end < 0 ? undefined : end));
    if (end >= 0) return joined(found);
  }
  return null;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
