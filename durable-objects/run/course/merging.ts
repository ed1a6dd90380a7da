import { SMALL_SEGMENT_BYTES } from "../../../src/limits.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { CommitEvent, Ledger } from "../state/ledger.ts";
import { runsOf } from "../state/runs-of.ts";
import { liveTicket } from "../grants/tickets.ts";
import type { Ack, MergedRequest, MergePlanAnswer, MergePlanRequest, MergeSource, TicketId } from "../protocol.ts";
import { mergedAtOnce } from "./merge-need.ts";
import { PLACES_A_TURN } from "./turns.ts";

/**
 * Small segments are copied into larger ones while the run goes on, so that the final files need few reads. A done unit keeps the segment that
 * it was committed in, by which repeats of its commit and followers know it; a table of moved segments says where that segment's rows are
 * now. So a merge is a row for each segment, not for each unit, and nothing that is committed meanwhile can be in its way.
 */

const merges = (ledger: Ledger, head: RunHead, request: TicketId): boolean => head.phase === "open" && liveTicket(ledger, request)?.task.kind === "merge";

/** A segment of which rows still count, as far as they go, and the first of their units; null for one without. */
function candidate(ledger: Ledger, { segment, units }: CommitEvent): (MergeSource & { readonly first: number }) | null {
  if (segment === null) return null;
  const places = runsOf(units).flatMap((range) => ledger.placesIn(range).filter((place) => place.segment === segment));
  const [first] = places;
  return first === undefined ? null : { segment, length: Math.max(...places.map(({ offset, length }) => offset + length)), first: first.unit };
}

/** Of `events` the first ones, as far as their places are looked up in one turn: at least one. */
function inOneTurn(events: readonly CommitEvent[]): readonly CommitEvent[] {
  let units = 0;
  const beyond = events.findIndex((event, index) => {
    units += event.units.length;
    return index > 0 && units > PLACES_A_TURN;
  });
  return beyond < 0 ? events : events.slice(0, beyond);
}

/** The next segments to merge, of a batch of events that is whole; of events with many units fewer at a time. Asked again without the word that they are merged it names those that are not. */
export function mergePlan(ledger: Ledger, head: RunHead, request: MergePlanRequest, context: RunContext): MergePlanAnswer {
  if (!merges(ledger, head, request)) return { kind: "lost" };
  if (request.through !== null) head.merged_through = Math.max(head.merged_through ?? 0, request.through);
  const after = head.merged_through ?? 0;
  const end = after + mergedAtOnce(context);
  if (head.seq < end) return { kind: "none" };
  const batch = ledger.commitsAfter(after, end - after).filter(({ seq }) => seq <= end);
  const events = inOneTurn(batch);
  const through = events.length < batch.length ? (events.at(-1)?.seq ?? end) : end;
  const moved = ledger.movedOf(events.flatMap(({ segment }) => segment ?? []));
  const sources = new Map<string, MergeSource & { readonly first: number }>();
  for (const event of events) {
    if (event.segment === null || moved.has(event.segment)) continue;
    const found = candidate(ledger, event);
    if (found === null || found.length > SMALL_SEGMENT_BYTES) continue;
    // A segment that was committed in two calls has two events.
    const known = sources.get(found.segment);
    sources.set(found.segment, {
      ...found,
      length: Math.max(found.length, known?.length ?? 0),
      first: Math.min(found.first, known?.first ?? found.first),
    });
  }
  const ordered = [...sources.values()].sort((a, b) => a.first - b.first);
  return { kind: "plan", through, sources: ordered.map(({ segment, length }) => ({ segment, length })) };
}

/** Their rows are in `target` from now on. What is repeated, or was moved before, changes nothing. */
export function merged(ledger: Ledger, head: RunHead, request: MergedRequest): Ack {
  if (!merges(ledger, head, request)) return { kind: "lost" };
  let start = 0;
  const moves = request.sources.map(({ segment, length }) => {
    start += length;
    return { segment, target: request.target, start: start - length, length };
  });
  ledger.putMoved(moves);
  return { kind: "ok" };
}
