import { type Fields, record, records } from "../openai/reply-fields.ts";
import type { BatchCalls } from "./batch-calls.ts";

/** How a provider's list of batches is read. */
export interface BatchList {
  readonly path: string;
  /** Of the query that asks for what follows a batch. */
  readonly cursor: string;
  /** Unix milliseconds. */
  readonly createdAt: (batch: Fields) => number;
}

const PAGE = 100;

/** Batches that were created since then, page by page. Older ones end it where the list has the newest first, as both providers have it. */
export async function* batchesSince(calls: BatchCalls, { path, cursor, createdAt }: BatchList, since: number, signal: AbortSignal): AsyncGenerator<Fields> {
  for (let after: string | null = null; ; ) {
    const page: Fields = await calls.fields(
      { method: "GET", path: `${path}?limit=${PAGE}${after === null ? "" : `&${cursor}=${encodeURIComponent(after)}`}` },
      signal,
    );
    const batches = records(page.data);
    yield* batches.filter((batch) => createdAt(batch) >= since);
    const last = record(batches.at(-1));
    const times = batches.map(createdAt);
    const isSorted = times.every((time, at) => at === 0 || time <= (times[at - 1] ?? 0));
    if (page.has_more !== true || last === null || (isSorted && createdAt(last) < since)) return;
    const next = typeof page.last_id === "string" ? page.last_id : String(last.id);
    // A server whose pages do not move on would be asked forever.
    if (next === after) return;
    after = next;
  }
}
