import { type MonitorDefinition, type Spans, spansOf, unwrittenFor } from "./definition.ts";
import type { HistoryEntry, Life, Memory, MonitorEvent, MonitorState, Standing, Telling } from "./state.ts";

/** What the service around it is, at the moment of a step. */
export interface World {
  readonly now: number;
  readonly memory: Memory;
  readonly life: Life;
  /** Before this the service was away, as its watchdog found; 0 = it was not, or was not asked. */
  readonly heard_from: number;
}

export interface Step {
  readonly state: MonitorState;
  readonly history: readonly HistoryEntry[];
  readonly told: readonly Telling[];
}

export interface NewMonitor {
  readonly name: string;
  readonly id: string;
  readonly definition: MonitorDefinition;
  readonly secret_digest: string;
  readonly created_by: string | null;
}

export const newMonitor = (made: NewMonitor, now: number, life: Life): MonitorState => ({
  ...made,
  created_at: now,
  updated_at: now,
  standing: "new",
  since: now,
  beat_at: null,
  watched_from: now,
  life: life.id,
  wake_at: null,
  paused: null,
  losses: 0,
});

/** The newest beat that is known of. */
export const knownBeat = ({ beat_at }: Pick<MonitorState, "beat_at">, memory: Memory): number | null =>
  beat_at === null ? memory.beat_at : Math.max(beat_at, memory.beat_at ?? 0);

/** Whether a beat of now says nothing that must be written down at once: losing it makes nobody lost. */
export function isOnlyRemembered(state: MonitorState, { now, life }: World): boolean {
  const { standing, beat_at, life: watched, wake_at } = state;
  if (state.paused !== null) return beat_at !== null && isYoung(state, now);
  return standing === "alive" && watched === life.id && wake_at !== null && isYoung(state, now);
}

const isYoung = ({ beat_at, definition }: MonitorState, now: number): boolean =>
  beat_at !== null && now >= beat_at && now - beat_at < unwrittenFor(spansOf(definition));

/** Whether it would be called lost for its silence: who looks asks first whether anybody could have heard it. */
export const wouldLose = (state: MonitorState, world: World): boolean => step(state, { type: "tick" }, world).told.some(({ reason }) => reason === null);

/** One thing that happens to a monitor. Pure: the same for every order in which alarms, beats and losses of memory come. */
export function step(before: MonitorState, event: MonitorEvent, world: World): Step {
  const turn = new Turn(before, world);
  turn.happen(event);
  return turn.outcome(event.type);
}

class Turn {
  readonly #before: MonitorState;
  readonly #world: World;
  readonly #history: HistoryEntry[] = [];
  readonly #told: Telling[] = [];
  #state: MonitorState;
  /** Latest moment at which a beat may have come that nobody knows of any more. */
  readonly #assumed: number | null;

  constructor(before: MonitorState, world: World) {
    const { now, memory } = world;
    this.#before = before;
    this.#world = world;
    // A clock that was set back: what is said to come later was now at the latest.
    const back = (at: number): number => Math.min(at, now);
    const heard = knownBeat(before, memory);
    const known = heard === null ? null : back(heard);
    this.#state = { ...before, beat_at: known, watched_from: back(before.watched_from) };
    const written = before.beat_at === null ? null : back(before.beat_at);
    this.#assumed = written === null ? null : Math.max(known ?? 0, Math.min(written + unwrittenFor(spansOf(before.definition)), memory.since));
  }

  happen(event: MonitorEvent): void {
    const { now } = this.#world;
    if (this.#isWatched()) this.#noticeAbsence();
    switch (event.type) {
      case "tick":
        return this.#look();
      case "beat":
        return this.#beat();
      case "done":
        this.#state = { ...this.#state, beat_at: event.by === null ? now : this.#state.beat_at };
        if (this.#state.paused !== null || this.#state.standing === "done") return;
        this.#end(event.by === null ? "the job ended in order" : `ended by ${event.by}`);
        this.#history.push({ type: "heartbeat.done", by: event.by });
        return this.#stand("done");
      case "failed":
        return this.#state.paused === null && this.#state.standing !== "lost" ? this.#lose(event.reason) : undefined;
      case "put":
        return this.#put(event.definition);
      case "rotate":
        this.#history.push({ type: "monitor.rotated", by: event.by });
        this.#state = { ...this.#state, secret_digest: event.secret_digest, updated_at: now };
        return;
      case "pause":
        this.#end(`paused by ${event.by}`);
        this.#history.push({ type: "monitor.paused", by: event.by, reason: event.reason });
        this.#state = { ...this.#state, paused: { at: now, by: event.by, reason: event.reason }, updated_at: now };
        if (this.#state.standing === "late" || this.#state.standing === "lost") this.#stand("alive");
        return;
      case "resume":
        if (this.#state.paused === null) return;
        this.#history.push({ type: "monitor.resumed", by: event.by });
        this.#state = { ...this.#state, paused: null, watched_from: now, updated_at: now };
        return;
      case "remove":
        return this.#end("the monitor was deleted");
    }
  }

  /** Whatever happened, where it stands now, and when to look again. */
  outcome(type: MonitorEvent["type"]): Step {
    const { every, grace } = this.#spans;
    const dueAt = this.#lastHeard() + every;
    // With more time than before it may be in time again.
    if (type === "put" && this.#state.standing === "late" && this.#world.now < dueAt) this.#stand("alive");
    const next = this.#isWatched() ? (this.#state.standing === "late" ? dueAt + grace : dueAt) : null;
    return { state: { ...this.#state, wake_at: this.#wake(type, next), life: this.#world.life.id }, history: this.#history, told: this.#told };
  }

  /** A beat does not move an alarm that is to come before it has to: that looks and sets the next one. */
  #wake(type: MonitorEvent["type"], next: number | null): number | null {
    const { standing, wake_at } = this.#before;
    const stays = type === "beat" && standing === "alive" && next !== null && wake_at !== null && wake_at > this.#world.now && wake_at <= next;
    return stays ? wake_at : next;
  }

  get #spans(): Spans {
    return spansOf(this.#state.definition);
  }

  #beat(): void {
    const { now } = this.#world;
    const { standing, paused } = this.#state;
    this.#state = { ...this.#state, beat_at: now };
    if (paused !== null || standing === "alive") return;
    if (standing === "lost") this.#end(null);
    else this.#history.push({ type: "heartbeat.alive", from: standing });
    this.#stand("alive");
  }

  #look(): void {
    const { now } = this.#world;
    if (!this.#isWatched()) return;
    const { every, grace } = this.#spans;
    const silent = now - this.#lastHeard();
    if (silent >= every + grace) return this.#lose(null);
    if (silent < every || this.#state.standing === "late") return;
    this.#history.push({ type: "heartbeat.late", last_beat: this.#state.beat_at });
    this.#stand("late");
  }

  /** Silence while the service was away is nobody's: it counts from the end of that. */
  #noticeAbsence(): void {
    const { now, life, heard_from } = this.#world;
    const since = Math.min(now, Math.max(heard_from, this.#state.life === life.id ? 0 : life.since));
    if (since <= this.#lastHeard()) return;
    this.#state = { ...this.#state, watched_from: since };
    this.#history.push({ type: "watch.interrupted", until: since });
  }

  #put(definition: MonitorDefinition): void {
    const fields = (["every", "grace"] as const).filter((field) => definition[field] !== this.#state.definition[field]);
    if (fields.length === 0) return;
    this.#history.push({ type: "monitor.changed", fields });
    // What was assumed by the old interval is not forgotten with it.
    const watched_from = Math.max(this.#state.watched_from, this.#assumed ?? 0);
    this.#state = { ...this.#state, definition, watched_from, updated_at: this.#world.now };
  }

  #lose(reason: string | null): void {
    const { beat_at: last_beat, losses } = this.#state;
    this.#state = { ...this.#state, losses: losses + 1 };
    this.#history.push({ type: "heartbeat.lost", last_beat, reason });
    this.#told.push({ state: "lost", number: losses + 1, last_beat, reason });
    this.#stand("lost");
  }

  /** Of a loss, if it is lost. */
  #end(reason: string | null): void {
    const { standing, since, losses, beat_at } = this.#state;
    if (standing !== "lost") return;
    this.#history.push({ type: "heartbeat.back", lost_at: since, reason });
    this.#told.push({ state: "back", number: losses, last_beat: beat_at, reason });
  }

  #stand(standing: Standing): void {
    this.#state = { ...this.#state, standing, since: this.#world.now };
  }

  #isWatched(): boolean {
    const { paused, standing } = this.#state;
    return paused === null && (standing === "alive" || standing === "late");
  }

  #lastHeard(): number {
    return Math.max(this.#state.watched_from, this.#state.beat_at ?? 0, this.#assumed ?? 0);
  }
}
