import { Hono } from "hono";
import { segmentKey } from "../../../r2-layout/keys.ts";
import type { CommittedRows } from "../../../durable-objects/run/control.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { MIB } from "../../limits.ts";
import { rowParts } from "./row-parts.ts";
import { found, readRun, runIdOf } from "./run-of.ts";
import { rowsQuery } from "../schemas.ts";
import { streamOf } from "../../stream-of.ts";

/** Rows as they are committed, long before `results.jsonl` exists: a follower writes them to its folder. */
export const rows = new Hono<AppContext>();

/** Rows held at once while an answer is sent. */
const PART_BYTES = MIB;

rows.get("/:id/rows", async (c) => {
  const { after, limit_bytes } = check(rowsQuery, c.req.query(), "query");
  const answer = found(await readRun(c, (run) => run.committed(after, limit_bytes)));
  // A unit may come twice, once repaired; here they are numbered as they come.
  const pointers = answer.commits.flatMap(inSegment).map((place, unit) => ({ ...place, unit }));
  return c.body(streamOf(rowParts(c.var.ports.store, (segment) => segmentKey(runIdOf(c), segment), pointers, PART_BYTES)), 200, {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store",
    "x-edgewise-next": String(answer.next),
    "x-edgewise-more": answer.more ? "1" : "0",
    ...markOf("after", answer.after_mark),
    ...markOf("next", answer.next_mark),
  });
});

const markOf = (place: "after" | "next", mark: string | null = null): Record<string, string> => (mark === null ? {} : { [`x-edgewise-${place}-mark`]: mark });

/**
 * An executor appends units as they finish, so that sorted by offset the rows of a commit lie side by side, and few reads bring them.
 * Order within a commit is therefore that of the segment.
 */
const inSegment = ({ places }: CommittedRows): CommittedRows["places"] =>
  places.toSorted((a, b) => (a.segment === b.segment ? a.offset - b.offset : a.segment < b.segment ? -1 : 1));
