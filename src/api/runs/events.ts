import { Hono } from "hono";
import type { RunControl, RunView } from "../../../durable-objects/run/control.ts";
import type { AppContext } from "../app-context.ts";
import { whileAllowed } from "../access/while-allowed.ts";
import { check } from "../body.ts";
import { logUnexpected } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { runIdOf, viewOf } from "./run-of.ts";
import { EVENT_PAGE, frameOf, type Pace, type RunWatch, stateFrame, stateOf } from "./run-watch.ts";
import { eventsQuery } from "../schemas.ts";
import { streamOf } from "../../stream-of.ts";

/** Server-sent events of a run: what is stored has an id and is never lost, `progress` in between is the state of the moment. */
export const events = new Hono<AppContext>();

/** A stream ends after this long, before anything on the way ends it; the viewer comes back with the last id it saw. */
const STREAM_MS = 25_000;
/** Milliseconds until a viewer comes back. */
const RETRY_MS = 100;
const PROGRESS_MS = 250;
/** A viewer that has left is noticed when something is written to it, so a silent stream writes a comment now and then. */
const SILENCE_MS = 1_000;
const COMMENT = ":\n\n";

events.get("/:id/events", async (c) => {
  const { ports, watches } = c.var;
  const opened = await viewOf(c);
  const runId = runIdOf(c);
  const query = check(
    eventsQuery,
    { ...c.req.query(), ...(c.req.header("last-event-id") === undefined ? {} : { after: c.req.header("last-event-id") }) },
    "query",
  );
  const pace = { pollMs: ports.facts.pollMs, now: ports.now, sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) };
  const frames = eventFrames(() => ports.run(runId), opened, query.after, watches.of(`${ports.team}/${runId}`, pace), pace);
  return c.body(streamOf(whileAllowed(c, frames)), 200, { "content-type": "text/event-stream", "cache-control": "no-store" });
});

/**
 * Frames of one stream: stored events after `after` in order, `progress` whenever the state changed (at most every 250 ms), `end`
 * once the run is settled and everything before it was sent. Ends early when the Run cannot be reached or is gone: the viewer
 * comes back and hears why as an HTTP status.
 *
 * What `opened` counts is caught up with first, where need be by reading from the Run alone; from then on all streams share what
 * one of them sees.
 */
export async function* eventFrames(
  run: () => RunControl,
  opened: RunView,
  after: number,
  watch: RunWatch,
  { now, sleep }: Pace,
): AsyncGenerator<Uint8Array | string> {
  const follower = {};
  const until = now() + STREAM_MS;
  yield `retry: ${RETRY_MS}\n\n`;
  let seen = after;
  while (seen < opened.seq) {
    const page = await lookedAt(() => readTwice(run, (stub) => stub.events(seen, EVENT_PAGE)));
    if (page === null) return;
    if (page.length > 0) yield page.map(frameOf).join("");
    seen = page.at(-1)?.seq ?? opened.seq;
  }
  let shown = stateOf(opened);
  yield stateFrame(isOver(opened) ? "end" : "progress", shown);
  if (isOver(opened)) return;
  let shownAt = now();
  let wroteAt = now();
  let behind = false;
  for (let newest = opened; now() < until; ) {
    if (!behind) await sleep(watch.interval);
    behind = false;
    if ((await lookedAt(() => watch.step(follower, run))) !== "ok") return;
    const known = watch.since(newest);
    if (known === null) continue;
    newest = known.view;
    if (!watch.reaches(seen)) {
      const earlier = await lookedAt(() => readTwice(run, (stub) => stub.events(seen, EVENT_PAGE)));
      if (earlier === null) return;
      if (earlier.length > 0) yield earlier.map(frameOf).join("");
      seen = earlier.at(-1)?.seq ?? newest.seq;
      wroteAt = now();
      behind = true;
      continue;
    }
    // The state is shown when everything it counts has been told, which the frames beside it do.
    const ended = isOver(newest);
    const progressed = known.state !== shown && now() - shownAt >= PROGRESS_MS;
    const bytes = watch.bytes(seen, ended ? "end" : progressed ? "progress" : null);
    seen = Math.max(seen, newest.seq);
    if (progressed) [shown, shownAt] = [known.state, now()];
    if (bytes !== null || now() - wroteAt >= SILENCE_MS) {
      yield bytes ?? COMMENT;
      wroteAt = now();
    }
    if (ended) return;
  }
}

const isOver = ({ phase }: RunView): boolean => phase === "settled";

/** Null when the Run cannot be reached, which the log says. */
async function lookedAt<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    logUnexpected("events", error);
    return null;
  }
}
