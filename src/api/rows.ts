import { Hono } from "hono";
import type { CommittedRows } from "../../durable-objects/run/control.ts";
import type { Place } from "../../r2-layout/place.ts";
import { segmentKey } from "../../r2-layout/keys.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { AppContext } from "./app-context.ts";
import type { ObjectStore } from "./app-ports.ts";
import { check } from "./body.ts";
import { found, readRun, runIdOf } from "./run-of.ts";
import { rowsQuery } from "./schemas.ts";
import { streamOf } from "../stream-of.ts";

/** Rows as they are committed, long before `results.jsonl` exists: a follower writes them to its folder. */
export const rows = new Hono<AppContext>();

rows.get("/:id/rows", async (c) => {
  const { after, limit_bytes } = check(rowsQuery, c.req.query(), "query");
  const answer = found(await readRun(c, (run) => run.committed(after, limit_bytes)));
  const chunks = rowsAt(c.var.ports.store, runIdOf(c), answer.commits.flatMap(readsOf));
  return c.body(streamOf(chunks), 200, {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store",
    "x-edgewise-next": String(answer.next),
    "x-edgewise-more": answer.more ? "1" : "0",
  });
});

/**
 * Range reads of one commit. An executor appends units as they finish, so that sorted by offset the rows of a commit lie side by
 * side: one read for all of them, unless some no longer count. Order within a commit is therefore that of the segment.
 */
export function readsOf({ places }: CommittedRows): Place[] {
  const reads: { segment: string; offset: number; length: number }[] = [];
  const sorted = places.toSorted((a, b) => (a.segment === b.segment ? a.offset - b.offset : a.segment < b.segment ? -1 : 1));
  for (const { segment, offset, length } of sorted) {
    const open = reads.at(-1);
    if (open !== undefined && open.segment === segment && open.offset + open.length === offset) open.length += length;
    else reads.push({ segment, offset, length });
  }
  return reads;
}

/** Bytes of the reads, one after the other, as they come: nothing is held. A missing segment breaks the stream off. */
async function* rowsAt(store: ObjectStore, runId: string, reads: readonly Place[]): AsyncGenerator<Uint8Array> {
  for (const { segment, offset, length } of reads) {
    const body = await store.read(segmentKey(runId, segment), { offset, length });
    if (body === null) throw new EdgewiseError("storage_unavailable", `Segment ${segment} of run ${runId} is missing.`);
    yield* body as unknown as AsyncIterable<Uint8Array>;
  }
}
