import type { CommittedPage, CommittedRows } from "../control.ts";
import type { CommitEvent, Ledger } from "../state/ledger.ts";
import { PLACES_A_TURN } from "../course/turns.ts";
import { relocated } from "../state/relocated.ts";
import { runsOf } from "../state/runs-of.ts";

/** Rows of a commit that still count: not superseded by a repair, and not waiting for one. */
function rowsOf(ledger: Ledger, event: CommitEvent): CommittedRows {
  const accepted = new Set(event.units);
  const places = runsOf(event.units).flatMap((range) =>
    ledger.placesIn(range).filter((done) => accepted.has(done.unit) && !done.owed && done.segment === event.segment),
  );
  return { seq: event.seq, places: relocated(ledger, places) };
}

/** Commit events looked at for one page of rows. */
const EVENT_PAGE = 200;

/** Rows that were committed after event `after`, some `bytes` of them, with the marks of the events at either end. */
export function committedSince(ledger: Ledger & { markOf(seq: number): string | null }, after: number, bytes: number): CommittedPage {
  const events = ledger.commitsAfter(after, EVENT_PAGE);
  const page = committedPage(ledger, events, after, bytes, events.length < EVENT_PAGE);
  return { ...page, after_mark: ledger.markOf(after), next_mark: ledger.markOf(page.next) };
}

/** Commits among `events` (oldest first, all that follow `after`) until `bytes` are named; `drained` = there are no later ones. */
export function committedPage(ledger: Ledger, events: readonly CommitEvent[], after: number, bytes: number, drained: boolean): CommittedPage {
  const commits: CommittedRows[] = [];
  let named = 0;
  let next = after;
  let looked = 0;
  for (const event of events) {
    // Rows that were replaced since name no bytes, and are looked up all the same.
    if (named >= bytes || looked >= PLACES_A_TURN) return { commits, next, more: true };
    const rows = rowsOf(ledger, event);
    if (rows.places.length > 0) commits.push(rows);
    named += rows.places.reduce((sum, place) => sum + place.length, 0);
    looked += event.units.length;
    next = event.seq;
  }
  return { commits, next, more: !drained };
}
