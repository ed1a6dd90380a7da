import { changedFields } from "../config/changed-fields.ts";
import type { Failure } from "../errors/result.ts";
import type { ScheduleDefinition } from "./definition.ts";
import { beginningOf, isInTime, nextDue } from "./due-times.ts";
import { endOf } from "./run-end.ts";
import { pinOf } from "./pin.ts";
import type { Action, Creator, Note, Order, Outcome, Paused, ScheduleState, SeenRun, Waiting } from "./state.ts";
import { CREATE_WAITS, GIVE_UP_MS, LOOK_WAITS, RESEND_WAITS, waitOf } from "./waits.ts";

/** What a schedule decides: pure, one step for each thing that happens. */

export type ScheduleEvent =
  /** Time has passed, as far as anybody knows: the alarm, the watchdog, a restart. */
  | { readonly type: "tick" }
  | { readonly type: "put"; readonly definition: ScheduleDefinition; readonly creator: Creator }
  | { readonly type: "pause"; readonly by: string; readonly reason: string }
  | { readonly type: "resume"; readonly creator: Creator }
  /** `id`: of the request. */
  | { readonly type: "run"; readonly id: string }
  | { readonly type: "created"; readonly due: number; readonly run_id: string }
  /** The queue did not take it. */
  | { readonly type: "unsent"; readonly due: number }
  /** `passing`: the same may go well in a while. */
  | { readonly type: "refused"; readonly due: number; readonly failure: Failure; readonly passing: boolean }
  /** Null: there is no such run. */
  | { readonly type: "looked"; readonly run_id: string; readonly seen: SeenRun | null };

export interface Step {
  readonly state: ScheduleState;
  readonly actions: readonly Action[];
  readonly notes: readonly Note[];
  /** When it wants to be woken; null = nothing is to come by itself. */
  readonly wake_at: number | null;
}

/** Due times that one step decides on; what is left has its turn at once. */
const MOST_DUES = 5_000;
/** Due times that wait; beyond it the oldest are missed, or the newest skipped. */
export const MOST_WAITING = 100;
const MOST_ASKED = 20;

export const newSchedule = (name: string, id: string, definition: ScheduleDefinition, creator: Creator, now: number): ScheduleState => ({
  version: 1,
  name,
  id,
  definition,
  creator,
  created_at: now,
  updated_at: now,
  anchor: now,
  decided: now,
  paused: null,
  waiting: [],
  active: null,
  pin: null,
  env_digest: null,
  asked: [],
});

/** `serving`: whether anything is begun; where it is not, what is due stays so until somebody serves. */
export function step(before: ScheduleState, now: number, event: ScheduleEvent, serving = true): Step {
  const schedule = new Deciding(before, now);
  schedule.take(event);
  if (serving) schedule.passTime();
  if (serving) schedule.begin();
  const actions = serving ? schedule.actions() : [];
  return { state: schedule.state, actions, notes: schedule.notes, wake_at: schedule.wakeAt() };
}

class Deciding {
  state: ScheduleState;
  readonly notes: Note[] = [];
  readonly #now: number;
  /** Due times are left to be decided on. */
  #more = false;

  constructor(state: ScheduleState, now: number) {
    this.state = state;
    this.#now = now;
  }

  take(event: ScheduleEvent): void {
    if (event.type === "put") this.#put(event.definition, event.creator);
    else if (event.type === "pause") this.#pause({ at: this.#now, by: event.by, reason: event.reason });
    else if (event.type === "resume") this.#resume(event.creator);
    else if (event.type === "run") this.#ask(event.id);
    else if (event.type === "created") this.#created(event.due, event.run_id);
    else if (event.type === "unsent") this.#unsent(event.due);
    else if (event.type === "refused") this.#refused(event.due, event.failure, event.passing);
    else if (event.type === "looked") this.#looked(event.run_id, event.seen);
  }

  /** Every due time that has come is decided on, once. */
  passTime(): void {
    const { definition, anchor, name, paused } = this.state;
    if (paused !== null) return;
    const dues: number[] = [];
    let next = nextDue(definition, anchor, this.state.decided);
    while (next !== null && beginningOf(next, definition, name) <= this.#now && dues.length < MOST_DUES) {
      dues.push(next);
      next = nextDue(definition, anchor, next);
    }
    const newest = dues.at(-1);
    if (newest === undefined) return;
    this.#more = next !== null && beginningOf(next, definition, name) <= this.#now;
    this.#change({ decided: newest });
    const inTime = !this.#more && isInTime(this.#now - beginningOf(newest, definition, name), newest, next);
    const late = inTime ? dues.slice(0, -1) : dues;
    if (late.length > 0) this.#catchUp(late, inTime);
    if (inTime) this.#overlap({ due: newest, kind: "due" });
  }

  /** The next of what waits is ordered, where nothing is at work. */
  begin(): void {
    const { active, waiting, paused } = this.state;
    if (active !== null) return;
    const next = waiting.find(({ kind }) => paused === null || kind === "manual");
    if (next === undefined) return;
    const active_ = { order: this.#orderOf(next), since: this.#now, run_id: null, tries: 0, retry_at: this.#now, cancel: false };
    this.#change({ active: active_, waiting: waiting.filter((each) => each !== next) });
  }

  /** What is to be done now; each is dated again, so that it is repeated until somebody tells what came of it. */
  actions(): readonly Action[] {
    const { active } = this.state;
    if (active === null || active.retry_at > this.#now) return [];
    const { order, run_id, tries, cancel } = active;
    const wait = waitOf(run_id === null ? RESEND_WAITS : LOOK_WAITS, tries);
    this.#change({ active: { ...active, tries: tries + 1, retry_at: this.#now + wait } });
    if (run_id === null) return [{ do: "create", order }];
    return [...(cancel ? [{ do: "cancel" as const, run_id }] : []), { do: "look", run_id }];
  }

  wakeAt(): number | null {
    const { active, definition, anchor, decided, name, paused } = this.state;
    if (this.#more) return this.#now;
    const next = paused === null ? nextDue(definition, anchor, decided) : null;
    const times = [...(next === null ? [] : [beginningOf(next, definition, name)]), ...(active === null ? [] : [active.retry_at])];
    return times.length === 0 ? null : Math.min(...times);
  }

  #change(fields: Partial<ScheduleState>): void {
    this.state = { ...this.state, ...fields };
  }

  #outcome({ due, kind }: Waiting, outcome: Outcome): void {
    this.notes.push({ note: "outcome", due, due_kind: kind, outcome });
    if (outcome.kind === "skipped") this.notes.push({ note: "event", event: { type: "schedule.skipped", due, reason: outcome.reason } });
    if (outcome.kind === "failed") this.notes.push({ note: "event", event: { type: "schedule.failed", due, failure: outcome.failure } });
    if (outcome.kind === "run") this.notes.push({ note: "event", event: { type: "run.created", due, run_id: outcome.run_id } });
  }

  /** Due times that nobody began in time. `superseded`: a later one has come in time. */
  #catchUp(late: readonly number[], superseded: boolean): void {
    const { catch_up } = this.state.definition;
    const room = MOST_WAITING - this.state.waiting.length;
    const wanted = catch_up === "none" ? 0 : catch_up === "all" ? room : this.#more || superseded ? 0 : 1;
    const caught = wanted <= 0 ? [] : late.slice(-wanted);
    const [first = 0, last = first] = [late[0], late.at(-1)];
    this.notes.push({ note: "event", event: { type: "schedule.missed", count: late.length, first, last, caught_up: caught.length } });
    for (const due of caught) {
      // Those that are caught up with one another wait for each other, whatever becomes of due times in time.
      if (catch_up === "all") this.#change({ waiting: [...this.state.waiting, { due, kind: "late" }] });
      else this.#overlap({ due, kind: "late" });
    }
  }

  /** A due time that is to be begun now. */
  #overlap(come: Waiting): void {
    const { active, waiting, definition } = this.state;
    if (active === null && waiting.length === 0) return this.#change({ waiting: [come] });
    if (definition.overlap === "skip") return this.#outcome(come, { kind: "skipped", reason: "the run before is at work" });
    if (definition.overlap === "queue") {
      if (waiting.length >= MOST_WAITING) return this.#outcome(come, { kind: "skipped", reason: `${MOST_WAITING} due times wait already` });
      return this.#change({ waiting: [...waiting, come] });
    }
    this.#drop("a later one is due");
    // One that is being created is there before it can be cancelled.
    if (active !== null) this.#change({ active: { ...active, cancel: true, retry_at: Math.min(active.retry_at, this.#now) } });
    this.#change({ waiting: [...this.state.waiting, come] });
  }

  /** What waits is not begun any more, but for what somebody asked for. */
  #drop(reason: string): void {
    const { waiting } = this.state;
    for (const each of waiting) if (each.kind !== "manual") this.#outcome(each, { kind: "skipped", reason });
    this.#change({ waiting: waiting.filter(({ kind }) => kind === "manual") });
  }

  #orderOf({ due, kind }: Waiting): Order {
    const { id, name, definition, creator, pin } = this.state;
    const { eval: evaluation, data, time_zone, run_name } = definition;
    const isOfThis = pin !== null && data === "pinned" && pin.of === pinOf(definition);
    const key = `schedule·${id}·${new Date(due).toISOString()}`;
    return {
      due,
      kind,
      key,
      schedule: name,
      definition: { eval: evaluation, data, time_zone, ...(run_name === undefined ? {} : { run_name }) },
      creator,
      pin: isOfThis ? pin : null,
    };
  }

  #put(definition: ScheduleDefinition, creator: Creator): void {
    const before = this.state.definition;
    const fields = changedFields(before, definition);
    if (fields.length === 0) return;
    const timed = fields.some((field) => ["cron", "every", "time_zone", "jitter", "until"].includes(field));
    // What came before is decided by what held then.
    this.passTime();
    const times = timed ? { decided: Math.max(this.#now, this.state.decided) } : {};
    const anchored = before.every === definition.every ? {} : { anchor: this.#now };
    this.#change({ definition, creator, updated_at: this.#now, ...times, ...anchored });
    this.notes.push({ note: "event", event: { type: "schedule.changed", by: creator.user, fields } });
  }

  #pause(paused: Paused): void {
    if (this.state.paused !== null) return;
    this.passTime();
    this.#drop("the schedule is paused");
    this.#change({ paused, updated_at: this.#now });
    this.notes.push({ note: "event", event: { type: "schedule.paused", ...paused } });
  }

  /** Nothing was due while it was paused. */
  #resume(creator: Creator): void {
    if (this.state.paused === null) return;
    this.#change({ paused: null, creator, decided: Math.max(this.#now, this.state.decided), updated_at: this.#now });
    this.notes.push({ note: "event", event: { type: "schedule.resumed", by: creator.user } });
  }

  #ask(id: string): void {
    const { asked, waiting, active } = this.state;
    if (asked.some((each) => each.id === id)) return;
    const taken = new Set([...asked.map(({ due }) => due), ...waiting.map(({ due }) => due), this.state.decided, active?.order.due ?? 0]);
    let due = this.#now;
    // Two of one moment are two, and none is a due time of its own.
    while (taken.has(due) || nextDue(this.state.definition, this.state.anchor, due - 1) === due) due += 1;
    this.#change({ asked: [...asked.slice(1 - MOST_ASKED), { id, due }], waiting: [...waiting, { due, kind: "manual" }] });
  }

  #created(due: number, run_id: string): void {
    const { active } = this.state;
    if (active === null || active.order.due !== due || active.run_id !== null) return;
    const { failure: _, ...rest } = active;
    this.#outcome(active.order, { kind: "run", run_id });
    this.#change({ active: { ...rest, run_id, tries: 0, retry_at: this.#now + (active.cancel ? 0 : LOOK_WAITS.first) } });
  }

  #unsent(due: number): void {
    const { active } = this.state;
    if (active === null || active.order.due !== due || active.run_id !== null) return;
    this.#change({ active: { ...active, retry_at: Math.min(active.retry_at, this.#now + waitOf(CREATE_WAITS, active.tries - 1)) } });
  }

  #refused(due: number, failure: Failure, passing: boolean): void {
    const { active } = this.state;
    if (active === null || active.order.due !== due || active.run_id !== null) return;
    // One whose time is over is tried no longer, unless it may be there already.
    const over = active.cancel && failure.code !== "storage_unavailable";
    if (passing && !over && this.#now - active.since < GIVE_UP_MS) {
      const wait = Math.max(waitOf(CREATE_WAITS, active.tries), (failure.retry_after_s ?? 0) * 1_000);
      return this.#change({ active: { ...active, failure, retry_at: this.#now + Math.min(wait, CREATE_WAITS.last) } });
    }
    this.#outcome(active.order, over ? { kind: "skipped", reason: "a later one is due" } : { kind: "failed", failure });
    this.#change({ active: null });
    // The next one would be refused as well.
    if (!passing) this.#pause({ at: this.#now, by: null, reason: failure.message, failure });
  }

  #looked(run_id: string, seen: SeenRun | null): void {
    const { active } = this.state;
    if (active === null || active.run_id !== run_id || (seen !== null && !seen.over)) return;
    const end = endOf(this.state, active.order, run_id, seen);
    this.notes.push(...end.notes);
    this.#change({ ...end.changes, active: null });
  }
}
