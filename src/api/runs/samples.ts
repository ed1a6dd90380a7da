import { Hono } from "hono";
import type { SamplePage } from "../../../durable-objects/run/control.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MIB } from "../../limits.ts";
import type { AppContext } from "../app-context.ts";
import type { ObjectStore } from "../app-ports.ts";
import { check } from "../body.ts";
import { invalid } from "../errors.ts";
import { openRows } from "./open-rows.ts";
import { JsonRows } from "./json-rows.ts";
import { rowParts } from "./row-parts.ts";
import { found, readRun, runIdOf } from "./run-of.ts";
import { samplesQuery } from "../schemas.ts";
import { streamOf } from "../../stream-of.ts";

/** Rows of a run page by page, as the `prime` client asks for them: sorted, of a running run too. */
export const samples = new Hono<AppContext>();

/** Bytes of one answer. A page of the client's default of 100 rows fits whatever the rows are, since none is above 1.5 MiB. */
const MAX_PAGE_BYTES = 192 * MIB;
/** Rows held at once while a page is sent. */
const PART_BYTES = 2 * MIB;

samples.get("/:id/samples", async (c) => {
  const { page, limit, open } = check(samplesQuery, c.req.query(), "query");
  const offset = (page - 1) * limit;
  const rows = found(await readRun(c, (run) => run.samples(offset, limit, open === "true")));
  const bytes = estimatedBytes(rows);
  if (bytes > MAX_PAGE_BYTES) {
    const fitting = Math.max(1, Math.floor((limit * MAX_PAGE_BYTES) / bytes));
    throw invalid(["query", "limit"], `must be at most ${fitting} here: the page has about ${Math.ceil(bytes / MIB)} MiB of ${MAX_PAGE_BYTES / MIB}`);
  }
  const opened = rows.open?.pieces.reduce((sum, piece) => sum + piece.rollouts.length, 0) ?? 0;
  const total = rows.total + (rows.open?.total ?? 0);
  const tail = JSON.stringify({ total, page, limit, has_more: offset + rows.count + opened < total, ...(rows.open ? { open: rows.open.total } : {}) });
  const body = answer(rowsAndOpen(c.var.ports.store, runIdOf(c), rows), tail);
  // The first rows are read before the status is sent: storage that does not answer is then an error, not half an answer.
  const first = await body.next();
  return c.body(streamOf(startingWith(first, body)), 200, { "content-type": "application/json", "cache-control": "no-store" });
});

/** Of the rows of the page, as far as the places tell: the rows of a unit are taken to be alike, and a kept state to be as large as its row. */
function estimatedBytes({ places, skip, count, open }: SamplePage): number {
  let bytes = open?.pieces.reduce((sum, { length }) => sum + length, 0) ?? 0;
  let [passed, left] = [skip, count];
  for (const { length, rows } of places) {
    const taken = Math.min(rows - passed, left);
    bytes += (length * taken) / rows;
    left -= taken;
    passed = 0;
  }
  return bytes;
}

/** `{"samples":[…], …}` with what `tail` has behind the rows. */
async function* answer(rows: AsyncGenerator<Uint8Array | string>, tail: string): AsyncGenerator<Uint8Array | string> {
  const { done, value: first } = await rows.next();
  yield '{"samples":[';
  if (done !== true) yield first;
  yield* rows;
  yield `],${tail.slice(1)}`;
}

async function* startingWith<T>(first: IteratorResult<T, void>, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** The rows of a page, and behind them the rollouts of unfinished examples. */
async function* rowsAndOpen(store: ObjectStore, runId: string, page: SamplePage): AsyncGenerator<Uint8Array | string> {
  yield* rowBytes(store, runId, page);
  if (page.open === undefined) return;
  let isFirst = page.count === 0;
  for await (const row of openRows(store, runId, page.open)) {
    yield isFirst ? row : `,${row}`;
    isFirst = false;
  }
}

/** The rows of a page as elements of an array, part by part: memory does not grow with the page. */
async function* rowBytes(store: ObjectStore, runId: string, { places, skip, count, object }: SamplePage): AsyncGenerator<Uint8Array> {
  const rows = new JsonRows(skip, count);
  if (rows.isComplete) return;
  if (places.every(({ length }) => length === 0)) throw new EdgewiseError("internal", `Run ${runId} has fewer rows than it counts.`);
  for await (const bytes of rowParts(store, (segment) => object ?? segmentKey(runId, segment), places, PART_BYTES)) {
    yield rows.push(bytes);
    if (rows.isComplete) return;
  }
}
