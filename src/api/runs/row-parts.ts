import type { WindowPointer } from "../../../r2-layout/place.ts";
import { readPart } from "../../../r2-layout/read-part.ts";
import { planWindow } from "../../../r2-layout/results-window.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { ObjectStore } from "../app-ports.ts";

/**
 * The rows at `pointers` (units ascending) in parts of `partBytes`: one part is held at a time, and each is
 * read whole. The body of an object comes to a script in pieces of 4 KiB, each in a turn of its own, which beside working executors take
 * milliseconds. A missing object throws `storage_unavailable`.
 */
export async function* rowParts(
  store: ObjectStore,
  keyOf: (segment: string) => string,
  pointers: readonly WindowPointer[],
  partBytes: number,
): AsyncGenerator<Uint8Array> {
  let [at, inside] = [0, 0];
  for (;;) {
    const window = planWindow(pointers.slice(at), inside, partBytes);
    if (window.bytes === 0) return;
    yield await readPart(window, new Uint8Array(window.bytes), async (segment, offset, length) => {
      const key = keyOf(segment);
      const body = await store.read(key, { offset, length });
      if (body === null) throw new EdgewiseError("storage_unavailable", `${key} is missing in storage.`);
      return new Uint8Array(await new Response(body).arrayBuffer());
    });
    if (window.last) return;
    at = pointers.findIndex(({ unit }) => unit >= window.next.unit);
    inside = window.next.skip;
  }
}
