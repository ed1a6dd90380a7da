import { Hono } from "hono";
import type { RunControl, RunView } from "../../../durable-objects/run/control.ts";
import { projectionOf } from "../../../durable-objects/run/reading/view.ts";
import { streamOf } from "../../stream-of.ts";
import { teamField } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { logUnexpected } from "../errors.ts";
import { listedEvaluation, liveEvaluation } from "../runs/evaluation-object.ts";
import type { Pace, RunWatch } from "../runs/run-watch.ts";
import { statesQuery } from "./live-schemas.ts";

/** `/evaluation-states`: what a list shows of its runs, as they go on. A state is whole each time, so nothing is lost with a connection. */
export const states = new Hono<AppContext>();

/** As the events of a run (src/api/runs/events.ts). */
const STREAM_MS = 25_000;
const RETRY_MS = 100;
const SILENCE_MS = 1_000;
/** Between two states of one run, and two looks at it, however many follow: what each is sent is a kilobyte. */
const STATE_MS = 500;
/** A stream looks again so soon where another one is looking for it: all of them wake when the next look is due. */
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
  const textOf = ({ latest }: RunWatch): string | null => (latest === null ? null : writtenOnce(latest, shape, full === "true" ? liveEvaluation : listed));
  const watch = listWatches.of(ports.team);
  const changes = list === "true" ? () => watch.step(() => ports.registry, ports.now, LIST_MS) : null;
  return c.body(streamOf(stateFrames({ followed, changes }, textOf, pace)), 200, { "content-type": "text/event-stream", "cache-control": "no-store" });
});

const FULL = "full";
/** What was written of a view, by the form: two hundred streams tell of the same one. Data only, as in RunWatch. */
const written = new WeakMap<RunView, Map<string, string>>();

function writtenOnce(view: RunView, shape: string, write: (view: RunView) => object): string {
  const texts = written.get(view) ?? new Map<string, string>();
  if (texts.size === 0) written.set(view, texts);
  const text = texts.get(shape) ?? JSON.stringify(write(view));
  texts.set(shape, text);
  return text;
}

/** What one stream tells of. */
export interface Told {
  readonly followed: readonly Followed[];
  /** What the list last said of its changes; null where nobody asks for it. */
  readonly changes: (() => Promise<string>) | null;
}

/** Frames of one stream. What cannot be reached is looked at again. `textOf`: what is told of a run, as JSON; null while nobody has seen it. */
export async function* stateFrames(
  { followed, changes }: Told,
  textOf: (watch: RunWatch) => string | null,
  { now, sleep }: Pick<Pace, "now" | "sleep">,
): AsyncGenerator<string> {
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
    for (const { id, watch } of left) {
      const text = textOf(watch);
      const before = shown.get(id);
      if (text === null || text === before?.text) continue;
      const rests = watch.latest?.phase === "settled";
      if (before !== undefined && !rests && now() - before.at < STATE_MS - JITTER_MS) continue;
      shown.set(id, { text, at: now() });
      frames += `event: state\ndata: ${text}\n\n`;
      if (rests) left = left.filter((each) => each.id !== id);
    }
    if (left.length === 0 && changes === null) return yield `${frames}event: end\ndata: {}\n\n`;
    if (frames !== "" || now() - wroteAt >= SILENCE_MS) {
      yield frames || ":\n\n";
      wroteAt = now();
    }
    // In step with the looks: a stream that has a pace of its own tells of each as much later again.
    const due = failed ? STATE_MS : Math.min(STATE_MS, ...left.map(({ watch }) => watch.dueIn(STATE_MS)));
    await sleep(Math.max(SOON_MS, due));
  }
}

/** Null where the Registry cannot be reached now. */
async function seen(changes: () => Promise<string>): Promise<string | null> {
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
