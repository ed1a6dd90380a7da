import { planWindow, type Window } from "../../../r2-layout/results-window.ts";
import { PART_BYTES } from "../../../src/limits.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import { failAttempt } from "./finalise-attempts.ts";
import { restUnwritten, settle } from "./lifecycle.ts";
import type { Ack, FailRequest, FinalisedRequest, PartRequest, SortedRequest, TicketId, UploadRequest, WindowAnswer } from "../protocol.ts";
import type { WindowPointer } from "../../../r2-layout/place.ts";
import { nextToSort, pointersFrom } from "./sorting.ts";
import { endTicket, liveTicket } from "../grants/tickets.ts";

function finalising(ledger: Ledger, head: RunHead, request: TicketId): Ticket | null {
  const ticket = liveTicket(ledger, request);
  return ticket !== null && ticket.task.kind === "finalise" && head.phase === "finalising" ? ticket : null;
}

/** The next part, from the position that is stored; pointers are read lazily, no further than the part goes. */
const nextPart = (ledger: Ledger, head: RunHead): Window => planWindow(pointersFrom(ledger, head, head.finalise.unit), head.finalise.skip, PART_BYTES);

const pointerOf = ({ unit, segment, offset, length }: WindowPointer): WindowPointer => ({ unit, segment, offset, length });

/** The next window to write. Asking again without reporting the part gives the same answer. */
export function window(ledger: Ledger, head: RunHead, request: TicketId): WindowAnswer {
  if (finalising(ledger, head, request) === null) return { kind: "lost" };
  const toSort = head.finalise.parts.length > 0 ? null : nextToSort(ledger, head);
  if (toSort !== null) return { kind: "sort", ...toSort };
  const { upload_id, parts, digest } = head.finalise;
  const so_far = digest === undefined ? {} : { digest };
  const { pointers, skip, bytes, last } = nextPart(ledger, head);
  if (pointers.length === 0 && parts.length > 0) {
    return { kind: "complete", upload_id, parts: parts.map((etag, index) => ({ part: index + 1, etag })), ...so_far };
  }
  return { kind: "part", part: parts.length + 1, upload_id, pointers: pointers.map(pointerOf), skip, bytes, last, ...so_far };
}

/** Rows that were to be put into order are so, in `segment`. Told again it changes nothing. */
export function sorted(ledger: Ledger, head: RunHead, { lo, hi, segment, ...request }: SortedRequest): Ack {
  if (finalising(ledger, head, request) === null) return { kind: "lost" };
  const known = head.finalise.sorted ?? [];
  if (known.some((rows) => rows.segment === segment)) return { kind: "ok" };
  const next = nextToSort(ledger, head);
  if (next?.lo !== lo || next.hi !== hi) return { kind: "lost" };
  const { failed: _, ...rest } = head.finalise;
  head.finalise = { ...rest, sorted: [...known, { lo, hi, segment }] };
  return { kind: "ok" };
}

/** Remembers the multipart upload; the first one reported stays, so that parts of two uploads never mix. */
export function upload(ledger: Ledger, head: RunHead, request: UploadRequest): Ack {
  if (finalising(ledger, head, request) === null) return { kind: "lost" };
  head.finalise.upload_id ??= request.upload_id;
  return head.finalise.upload_id === request.upload_id ? { kind: "ok" } : { kind: "lost" };
}

/** A part is written: the position moves on. A repeat of an earlier part changes nothing. */
export function part(ledger: Ledger, head: RunHead, request: PartRequest): Ack {
  if (finalising(ledger, head, request) === null) return { kind: "lost" };
  if (request.part <= head.finalise.parts.length) return { kind: "ok" };
  const { next } = nextPart(ledger, head);
  const { failed: _, digest: __, ...rest } = head.finalise;
  const { etag, digest } = request;
  head.finalise = { ...rest, parts: [...rest.parts, etag], unit: next.unit, skip: next.skip, ...(digest === undefined ? {} : { digest }) };
  return { kind: "ok" };
}

/** All final files are in place. */
export function finalised(ledger: Ledger, head: RunHead, request: FinalisedRequest, context: RunContext): Ack {
  const ticket = finalising(ledger, head, request);
  if (ticket === null) return { kind: "lost" };
  if (request.scores !== undefined) head.scores = request.scores;
  if (request.rows_digest !== undefined) head.finalise = { ...head.finalise, rows_digest: request.rows_digest };
  delete head.finalise.sorted;
  endTicket(ledger, head, ticket);
  settle(ledger, head, context);
  return { kind: "ok" };
}

/** The final files could not be written: never, or not now. */
export function failFinalising(ledger: Ledger, head: RunHead, ticket: Ticket, { failure, passing }: FailRequest, context: RunContext): void {
  endTicket(ledger, head, ticket);
  if (passing !== true) return restUnwritten(ledger, head, failure, context);
  failAttempt(head, failure, context);
  // The first attempts are told, and then ever fewer.
  const { count = 0 } = head.finalise.failed ?? {};
  if (Number.isInteger(Math.log2(count))) logEvent(ledger, head, context, "WARNING", `Writing the results failed and is tried again: ${failure.message}`);
}
