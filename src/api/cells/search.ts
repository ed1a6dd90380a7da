import { type Context, Hono } from "hono";
import type { z } from "zod";
import type { ScanPage } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { type RowSearch, RowSearcher } from "../../cells/search-row.ts";
import { SEGMENT_BYTES } from "../../limits.ts";
import { storedRow } from "../../rollouts/rows/stored-row.ts";
import { streamOf } from "../../stream-of.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { invalid } from "../errors.ts";
import { found, runIdOf } from "../runs/run-of.ts";
import { askRun } from "./ask-run.ts";
import { MOST_FIELDS, type searchLine, searchQuery } from "./cell-schemas.ts";
import { readLines } from "./row-lines.ts";

/** `/evaluations/{id}/search`: which rollouts have a text, or a value in a field of their rows. Reads rows, some megabytes at a time, and tells what it finds at once. */
export const search = new Hono<AppContext>();

/** An answer looks no longer than that; who asks goes on with its `next`. */
const SEARCH_MS = 20_000;
/** Rows named by one answer, those that cannot be read among them, but for the rest of the example that is being looked at. */
const MOST_NAMED = 1_000;
/** Bytes of rows that are looked at between two words on how far it is. */
const PAGE_BYTES = 2 * SEGMENT_BYTES;

type SearchLine = z.infer<typeof searchLine>;

search.get("/:id/search", async (c) => {
  const query = check(searchQuery, c.req.query(), "query");
  const wanted = searchOf(query);
  const first = found(await askRun(c, (run) => run.scan(query.after ?? 0, PAGE_BYTES)));
  return c.body(streamOf(textOf(linesOf(c, wanted, first))), 200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
});

function searchOf({ text, in: fields, field, value }: z.infer<typeof searchQuery>): RowSearch {
  if ((field === undefined) !== (value === undefined))
    throw invalid(["query", field === undefined ? "field" : "value"], "must be given: field and value go together");
  if (text === undefined && field === undefined) throw invalid(["query", "text"], "must be given, or field and value");
  const names = fields.split(",").filter((name) => name !== "");
  if (names.length === 0 || names.length > MOST_FIELDS) throw invalid(["query", "in"], `must be 1 to ${MOST_FIELDS} fields`);
  return { text: text ?? null, in: names, where: field === undefined || value === undefined ? null : { field, value } };
}

async function* textOf(lines: AsyncGenerator<SearchLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

async function* linesOf(c: Context<AppContext>, wanted: RowSearch, first: ScanPage): AsyncGenerator<SearchLine> {
  const { store, now } = c.var.ports;
  const searcher = new RowSearcher(wanted);
  const until = now() + SEARCH_MS;
  const decoder = new TextDecoder();
  let scanned = 0;
  let named = 0;
  for (let page: ScanPage | null = first; page !== null; ) {
    const rolloutsOf = new Map(page.places.map((place) => [place.example, presentOf(place.missing, page?.rollouts ?? 0)]));
    const lines = new Map([...rolloutsOf].map(([example, rollouts]) => [example, [...rollouts.keys()]]));
    for await (const { example, line, bytes } of readLines(store, (segment) => segmentKey(runIdOf(c), segment), page.places, lines)) {
      scanned++;
      const text = decoder.decode(bytes);
      if (!searcher.mayMatch(text)) continue;
      const { row, unreadable } = storedRow(text);
      const match = unreadable === undefined ? searcher.match(row) : null;
      const place = { example, rollout: rolloutsOf.get(example)?.[line] ?? 0 };
      if (match !== null) yield { kind: "match", ...place, ...match };
      if (unreadable !== undefined) yield { kind: "unreadable", ...place, ...unreadable };
      if (match !== null || unreadable !== undefined) named++;
    }
    const { next }: ScanPage = page;
    if (next === null || named >= MOST_NAMED || now() >= until) return yield { kind: "end", scanned, next };
    yield { kind: "progress", scanned };
    page = await askRun(c, (run) => run.scan(next, PAGE_BYTES));
  }
}

const presentOf = (missing: readonly number[], rollouts: number): readonly number[] =>
  Array.from({ length: rollouts }, (_, rollout) => rollout).filter((rollout) => !missing.includes(rollout));
