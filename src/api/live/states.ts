import { Hono } from "hono";
import type { RunControl, RunView } from "../../../durable-objects/run/control.ts";
import { projectionOf } from "../../../durable-objects/run/reading/view.ts";
import { streamOf } from "../../stream-of.ts";
import { teamField } from "../../teams/team-name.ts";
import { whileAllowed } from "../access/while-allowed.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { logUnexpected } from "../errors.ts";
import { listedEvaluation, liveEvaluation } from "../runs/evaluation-object.ts";
import { oneLine, type Pace, type RunWatch } from "../runs/run-watch.ts";
import { statesQuery } from "./live-schemas.ts";

/** `/evaluation-states`: what a list shows of its runs, as they go on. A state is whole each time, so nothing is lost with a connection. */
export const states = new Hono<AppContext>();

/** As the events of a run (src/api/runs/events.ts). */
const STREAM_MS = 25_000;
const RETRY_MS = 100;
const SILENCE_MS = 1_000;
/** Between two states of one run, and two looks at it, however many follow: what each is sent is a kilobyte. */
const STATE_MS = 500;
/** A stream comes again so soon where the look that another one takes for it is not back when it should be. */
const SOON_MS = 50;
/** What is told comes a little earlier or later than it was looked for. */
const JITTER_MS = 100;
/** Between two looks at the list of a team. */
const LIST_MS = 500;
/** Objects asked at once: connections of one invocation that may wait for headers, but for one. */
const AT_ONCE = 5;

/** One run of a stream. */
export interface Followed {
  readonly id: string;
  readonly run: () => RunControl;
  readonly watch: RunWatch;
}

states.get("/", async (c) => {
  const { ports, watches, listWatches } = c.var;
  const { ids, list, full } = check(statesQuery, c.req.query(), "query");
  const { origin } = new URL(c.req.url);
  const pace = { pollMs: ports.facts.pollMs, now: ports.now, sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) };
  const wanted = ids === "" ? [] : [...new Set(ids.split(","))];
  const followed = wanted.map((id) => ({ id, run: () => ports.run(id), watch: watches.of(`${ports.team}/${id}`, pace) }));
  const listed = (view: RunView): object => listedEvaluation({ ...projectionOf(view, view.seq), ...teamField(ports.team) }, origin);
  const shape = full === "true" ? FULL : `${ports.team} ${origin}`;
  const stateOf = ({ latest }: RunWatch): WrittenState | null =>
    latest === null ? null : writtenOnce(latest, shape, full === "true" ? liveEvaluation : listed);
  const watch = listWatches.of(ports.team);
  const changes = list === "true" ? () => watch.step(() => ports.registry, ports.now, LIST_MS) : null;
  return c.body(streamOf(whileAllowed(c, stateFrames({ followed, changes }, stateOf, pace))), 200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
  });
});

const FULL = "full";
/** What was written of a view, by the form: two hundred streams tell of the same one. Data only, as in RunWatch. */
const written = new WeakMap<RunView, Map<string, WrittenState>>();

/** A state of a run as the data of an event, and the event as it is sent. */
export interface WrittenState {
  readonly text: string;
  readonly bytes: Uint8Array;
}

export function writtenState(state: object): WrittenState {
  const text = oneLine(state);
  return { text, bytes: new TextEncoder().encode(stateEvent(text)) };
}

const stateEvent = (text: string): string => `event: state\ndata: ${text}\n\n`;

function writtenOnce(view: RunView, shape: string, write: (view: RunView) => object): WrittenState {
  const states = written.get(view) ?? new Map<string, WrittenState>();
  if (states.size === 0) written.set(view, states);
  const state = states.get(shape) ?? writtenState(write(view));
  states.set(shape, state);
  return state;
}

/** What one stream tells of. */
export interface Told {
  readonly followed: readonly Followed[];
  /** What the list last said of its changes; null where nobody asks for it. */
  readonly changes: (() => Promise<string | null>) | null;
}

/** Frames of one stream. What cannot be reached is looked at again. `stateOf`: what is told of a run; null while nobody has seen it. */
export async function* stateFrames(
  { followed, changes }: Told,
  stateOf: (watch: RunWatch) => WrittenState | null,
  { now, sleep }: Pick<Pace, "now" | "sleep">,
): AsyncGenerator<Uint8Array | string> {
  const until = now() + STREAM_MS;
  yield `retry: ${RETRY_MS}\n\n`;
  let left = followed;
  let told: string | null = null;
  const shown = new Map<string, { readonly text: string; readonly at: number }>();
  let wroteAt = now();
  const follower = {};
  while (now() < until) {
    const { gone, failed } = await looked(left, follower);
    let frames = gone.map((id) => `event: gone\ndata: ${JSON.stringify({ run_id: id })}\n\n`).join("");
    left = left.filter(({ id }) => !gone.includes(id));
    const listed = changes === null ? null : await seen(changes);
    if (listed !== null && listed !== told) {
      told = listed;
      frames += `event: list\ndata: ${JSON.stringify({ changes: listed })}\n\n`;
    }
    const states: WrittenState[] = [];
    for (const { id, watch } of left) {
      const state = stateOf(watch);
      const before = shown.get(id);
      if (state === null || state.text === before?.text) continue;
      const rests = watch.latest?.phase === "settled";
      if (before !== undefined && !rests && now() - before.at < STATE_MS - JITTER_MS) continue;
      shown.set(id, { text: state.text, at: now() });
      states.push(state);
      if (rests) left = left.filter((each) => each.id !== id);
    }
    const [only] = states;
    const isLast = left.length === 0 && changes === null;
    if (only !== undefined && states.length === 1 && frames === "" && !isLast) {
      // The usual case, and the same bytes for all who look at that run.
      yield only.bytes;
      wroteAt = now();
    } else {
      frames += states.map(({ text }) => stateEvent(text)).join("");
      if (isLast) return yield `${frames}event: end\ndata: {}\n\n`;
      if (frames !== "" || now() - wroteAt >= SILENCE_MS) {
        yield frames || ":\n\n";
        wroteAt = now();
      }
    }
    // In step with the looks: a stream that has a pace of its own tells of each as much later again, and one that comes while a look is under way comes twice.
    const due = failed || left.length === 0 ? STATE_MS : Math.min(...left.map(({ watch }) => watch.dueIn(STATE_MS, follower)));
    await sleep(Math.max(SOON_MS, due));
  }
}

/** Null where the Registry cannot be reached now. */
async function seen(changes: () => Promise<string | null>): Promise<string | null> {
  try {
    return await changes();
  } catch (error) {
    logUnexpected("states", error);
    return null;
  }
}

/** Ids of those that are not there, and whether any could not be reached now. */
async function looked(followed: readonly Followed[], follower: object): Promise<{ readonly gone: readonly string[]; readonly failed: boolean }> {
  const gone: string[] = [];
  let failed = false;
  for (let at = 0; at < followed.length; at += AT_ONCE) {
    await Promise.all(
      followed.slice(at, at + AT_ONCE).map(async ({ id, run, watch }) => {
        try {
          if ((await watch.step(follower, run, STATE_MS)) === "gone") gone.push(id);
        } catch (error) {
          failed = true;
          logUnexpected("states", error);
        }
      }),
    );
  }
  return { gone, failed };
}
