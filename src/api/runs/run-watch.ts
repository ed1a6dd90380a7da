import type { RunControl, RunView } from "../../../durable-objects/run/control.ts";
import type { StoredEvent } from "../../logging/stored-event.ts";
import { edgewiseObject } from "./evaluation-object.ts";
import { readTwice } from "../read-twice.ts";

/**
 * One look at a run for all event streams of this isolate that follow it (docs/decisions/shared-looks.md). Holds data only: what a
 * request awaits is its own call and its own timer, since the platform lets no request wait for another one's.
 */

export interface Pace {
  /** Milliseconds between two looks while few follow. */
  readonly pollMs: number;
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** Events read from a Run at once. */
export const EVENT_PAGE = 500;
/** Frames kept for followers that are a little behind; who is further back reads by itself. */
const KEPT_FRAMES = 1_000;
/** With each so many followers more, looks become rarer by `pollMs`, up to the limit: what is sent per second stays about the same. */
const FOLLOWERS_PER_STEP = 10;
const SLOWEST_MS = 2_000;
/** A look that has not come back after this long was that of a stream which has been left. */
const LOOK_MS = 1_000;
/** So long after somebody came by for events they are read with each look: longer than who follows them is away between two. */
const EVENTS_MS = 2 * SLOWEST_MS;
/** Of what a look lately took at most, what is still expected of the next one. */
const SHORTER = 0.7;
/** After a look is expected to be back, in milliseconds: the timers of others may be a little early. */
const SLACK_MS = 10;
/** A watch nobody has looked through for so long is forgotten. */
const FORGET_MS = 60_000;

interface Known {
  readonly view: RunView;
  /** The view as the data of an event: written once for all followers. */
  readonly state: string;
  readonly at: number;
}
interface Frame {
  readonly seq: number;
  readonly text: string;
}

export class RunWatch {
  readonly #pace: Pick<Pace, "pollMs" | "now">;
  #known: Known | null = null;
  #looking: { readonly since: number } | null = null;
  /** Of all stored events after `#from`, oldest first. */
  #frames: Frame[] = [];
  #from = 0;
  /** Bytes made since the last look, by what was asked for. */
  readonly #made = new Map<string, Uint8Array>();
  readonly #steps = new Set<object>();
  #followers = 1;
  /** When somebody last came by for events. */
  #eventsAt = Number.NEGATIVE_INFINITY;
  /** Who takes the next look: the others come when it is back. */
  #next: object | null = null;
  /** Milliseconds that a look took lately. */
  #took = 0;

  constructor(pace: Pick<Pace, "pollMs" | "now">) {
    this.#pace = pace;
  }

  /**
   * What was last seen, for one who knows the run as `opened` has it; null while nothing newer is known than that. A run that is
   * resumed, interrupted or settled gets a new event each time, so that the number of events tells old from new.
   */
  since(opened: RunView): Known | null {
    const known = this.#known;
    return known !== null && known.view.created_at === opened.created_at && known.view.seq >= opened.seq ? known : null;
  }
  /** What was seen last; null while nobody has looked. */
  get latest(): RunView | null {
    return this.#known?.view ?? null;
  }
  /** True when nobody needs it any more. */
  get isForgotten(): boolean {
    return this.#pace.now() - Math.max(this.#known?.at ?? 0, this.#looking?.since ?? 0) > FORGET_MS;
  }
  /**
   * Milliseconds until there may be something new, for who has looks `most` apart; 0 before the first. Who asks first is to take the next look, and comes when
   * it is due; the others come when it should be back, and one of them takes it where the first has left: two hundred streams that all came for one look
   * found it under way, and came again and again until it was back.
   */
  dueIn(most: number, follower: object): number {
    if (this.#known === null) return 0;
    const now = this.#pace.now();
    const back = Math.min(this.#took, most / 2) + SLACK_MS;
    if (this.#looking !== null) return Math.max(0, this.#looking.since + back - now);
    this.#next ??= follower;
    const after = this.#next === follower ? 0 : back;
    return Math.max(0, this.#known.at + most + after - now);
  }
  /** Milliseconds between two looks. */
  get interval(): number {
    const { pollMs } = this.#pace;
    return Math.min(pollMs * Math.max(1, Math.ceil(this.#followers / FOLLOWERS_PER_STEP)), Math.max(pollMs, SLOWEST_MS));
  }

  /**
   * Looks at the run when it is time and no other stream is at it. `follower` says who came by, which is how they are counted: a
   * stream that is left does not always hear of it. `most`: milliseconds between two looks at most, for who is told of states alone, so little that many make no
   * difference; where nobody came for events, none are read.
   * `gone`: there is no such run. Throws when the Run cannot be reached.
   */
  async step(follower: object, run: () => RunControl, most: number | null = null): Promise<"ok" | "gone"> {
    this.#steps.add(follower);
    const since = this.#pace.now();
    if (most === null) this.#eventsAt = since;
    if (this.#known !== null && since - this.#known.at < Math.min(this.interval, most ?? this.interval)) return "ok";
    if (this.#looking !== null && since - this.#looking.since < LOOK_MS) return "ok";
    const mine = { since };
    this.#looking = mine;
    try {
      const view = await readTwice(run, (stub) => stub.view());
      const told = since - this.#eventsAt <= EVENTS_MS;
      const events = view === null || !told ? [] : await this.#newEvents(run, view);
      // Overtaken by another stream, which took this one for lost.
      if (this.#looking !== mine) return "ok";
      if (view === null) this.#known = null;
      else this.#take(view, events, told);
      this.#took = Math.max(this.#pace.now() - since, this.#took * SHORTER);
      return view === null ? "gone" : "ok";
    } finally {
      if (this.#looking === mine) this.#looking = null;
    }
  }

  /** True when the frames of all events after `seen` are here, up to those that `known` counts. */
  reaches(seen: number): boolean {
    return this.#known !== null && seen >= this.#from;
  }

  /** Frames of the events after `seen`, and of the state as event `state`; the same bytes for every follower who asks the same. */
  bytes(seen: number, state: "progress" | "end" | null): Uint8Array | null {
    const key = `${seen} ${state}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const text = this.#frames.filter(({ seq }) => seq > seen).map((frame) => frame.text);
    if (state !== null && this.#known !== null) text.push(stateFrame(state, this.#known.state));
    if (text.length === 0) return null;
    const bytes = new TextEncoder().encode(text.join(""));
    this.#made.set(key, bytes);
    return bytes;
  }

  /** Events that are not here yet, up to those the view counts. */
  async #newEvents(run: () => RunControl, view: RunView): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    // Who comes first starts here; a run deleted and made again starts again.
    if (this.#known === null || view.seq < this.#known.view.seq) return events;
    for (let seen = this.#known.view.seq; seen < view.seq; ) {
      const page = await readTwice(run, (stub) => stub.events(seen, EVENT_PAGE));
      events.push(...page);
      seen = page.at(-1)?.seq ?? view.seq;
    }
    return events;
  }

  /** `told`: whether the events were read, too. Without, the next who follows them reads by itself what it lacks. */
  #take(view: RunView, events: readonly StoredEvent[], told: boolean): void {
    const last = events.at(-1)?.seq ?? view.seq;
    if (!told || this.#known === null || view.seq < this.#known.view.seq) {
      this.#frames = [];
      this.#from = view.seq;
    }
    this.#frames.push(...events.map((event) => ({ seq: event.seq, text: frameOf(event) })));
    const dropped = this.#frames.splice(0, Math.max(0, this.#frames.length - KEPT_FRAMES)).at(-1);
    if (dropped !== undefined) this.#from = dropped.seq;
    // Events may be newer than the view that was read before them.
    this.#known = { view: { ...view, seq: Math.max(view.seq, last) }, state: stateOf(view), at: this.#pace.now() };
    this.#made.clear();
    this.#followers = this.#steps.size;
    this.#steps.clear();
    this.#next = null;
  }
}

/** The watches of an isolate by run. */
export class RunWatches {
  readonly #watches = new Map<string, RunWatch>();

  of(runId: string, pace: Pick<Pace, "pollMs" | "now">): RunWatch {
    for (const [id, watch] of this.#watches) if (id !== runId && watch.isForgotten) this.#watches.delete(id);
    const watch = this.#watches.get(runId) ?? new RunWatch(pace);
    this.#watches.set(runId, watch);
    return watch;
  }
}

/** A view as the data of an event. */
export const stateOf = (view: RunView): string => oneLine(edgewiseObject(view));
export const stateFrame = (event: "progress" | "end", state: string): string => `event: ${event}\ndata: ${state}\n\n`;

export function frameOf({ seq, time, type, level, message, rollouts }: StoredEvent): string {
  const data = type === "log" ? { seq, time, level, message } : { seq, rollouts };
  return `id: ${seq}\nevent: ${type}\ndata: ${oneLine(data)}\n\n`;
}

/** JSON in one line also for readers to whom a line ends at more than CR and LF, as it does to Python's. */
export const oneLine = (data: unknown): string =>
  JSON.stringify(data).replace(/[\u0085\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
