import { describe, expect, test } from "vitest";
import type { Failure } from "../../../src/errors/result.ts";
import type { ScheduleDefinition } from "../../../src/schedules/definition.ts";
import { beginningOf, nextDue } from "../../../src/schedules/due-times.ts";
import { answeredBy } from "../../../src/schedules/answered-by.ts";
import { newSchedule, type ScheduleEvent, step } from "../../../src/schedules/policy.ts";
import type { Action, Creator, DueKind, ScheduleState, SeenRun } from "../../../src/schedules/state.ts";
import { mixSeed } from "../../../src/mix.ts";
import { seededRandom } from "../../../src/seeded-random.ts";

/**
 * Histories of one schedule on a simulated clock: alarms that come late, twice or never, a service that is away, messages that are lost or doubled, answers that
 * are lost after their effect, pauses, edits, runs asked for. Whatever happens, each due time is decided once, as its policy says, and no due time has two runs.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const ADA: Creator = { user: "ada", token: null, owner: false };
const START = Date.UTC(2026, 9, 24);

const DEFINITION: ScheduleDefinition = { every: "10m", time_zone: "UTC", overlap: "skip", catch_up: "last", data: "pinned", eval: { env_id: "gsm8k" } };
const SEEN: SeenRun = {
  over: true,
  status: "COMPLETED",
  suspended: false,
  failure: null,
  avg_reward: 1,
  dataset_digest: "d",
  env_digest: "e",
  env_args: {},
  rollouts: 1,
  errored: 0,
  stopped: false,
};
const BUSY: Failure = { code: "limit_reached", message: "full" };
const GONE: Failure = { code: "missing_key", message: "no key" };

interface Told {
  readonly due: number;
  readonly kind: DueKind;
  readonly outcome: string;
}

/** The world around a schedule. */
class World {
  now = START;
  state: ScheduleState;
  wakeAt: number | null = null;
  /** By the key of their creation. */
  readonly runs = new Map<string, { readonly id: string; readonly due: number; over: number; cancelled: boolean }>();
  readonly outcomes: Told[] = [];
  readonly missed: { readonly count: number; readonly first: number; readonly last: number; readonly caught_up: number }[] = [];
  readonly #random: () => number;
  #messages: Action[] = [];
  /** Of the moment at which a run was at work or waited for. */
  readonly busyAt: { readonly due: number; readonly busy: boolean }[] = [];

  constructor(definition: ScheduleDefinition, random: () => number) {
    this.#random = random;
    this.state = newSchedule("nightly", "id", definition, ADA, START);
    this.happen({ type: "tick" });
  }

  chance(of: number): boolean {
    return this.#random() < of;
  }
  between(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low));
  }

  /** One transaction; it is lost whole, or stored whole. */
  happen(event: ScheduleEvent): void {
    const { state, actions, notes, wake_at } = step(this.state, this.now, event);
    this.state = state;
    this.wakeAt = wake_at;
    for (const note of notes) {
      if (note.note === "outcome") this.outcomes.push({ due: note.due, kind: note.due_kind, outcome: note.outcome.kind });
      if (note.note === "event" && note.event.type === "schedule.missed") this.missed.push(note.event);
    }
    // A crash here: what was to be done is not.
    if (!this.chance(0.1)) this.#messages.push(...actions);
    if (this.chance(0.1)) this.#messages.push(...actions);
  }

  /** Does what was asked for, in any order, each as it may go wrong. */
  deliver(failing: number): void {
    const messages = this.#messages.sort(() => this.#random() - 0.5);
    this.#messages = [];
    for (const action of messages) {
      if (this.chance(0.05)) continue;
      if (action.do === "create") this.#create(action.order, failing);
      else if (action.do === "cancel")
        for (const each of this.runs.values()) if (each.id === action.run_id) each.over = Math.min(each.over, this.now + 20 * SECOND);
      if (action.do === "look") {
        const run = [...this.runs.values()].find(({ id }) => id === action.run_id);
        const seen = run === undefined ? null : { ...SEEN, over: run.over <= this.now };
        this.happen({ type: "looked", run_id: action.run_id, seen });
      }
    }
  }

  #create({ key, due }: Extract<Action, { do: "create" }>["order"], failing: number): void {
    const wanted = this.state.active?.order.due === due && this.state.active.run_id === null;
    if (!wanted) return;
    // The queue was away for a moment.
    if (this.chance(0.05)) return this.happen({ type: "unsent", due });
    const known = this.runs.get(key);
    if (known === undefined && this.chance(failing)) {
      const passing = this.chance(0.8);
      return this.happen({ type: "refused", due, failure: passing ? BUSY : GONE, passing });
    }
    const run = known ?? { id: `run ${this.runs.size}`, due, over: this.now + this.between(1, 25) * MINUTE, cancelled: false };
    this.runs.set(key, run);
    // The answer is lost, or the object is reset before it was written down.
    if (!this.chance(0.2)) this.happen({ type: "created", due, run_id: run.id });
  }

  /** Time goes on; the alarm comes when it is due, unless it is late, lost or repeated; the watchdog comes each minute. */
  pass(ms: number, away: boolean, failing: number): void {
    const end = this.now + ms;
    while (this.now < end) {
      this.now += this.between(20, 70) * SECOND;
      if (away) continue;
      const alarm = this.wakeAt !== null && this.wakeAt <= this.now && !this.chance(0.1);
      if (alarm || this.chance(0.3)) this.happen({ type: "tick" });
      if (alarm && this.chance(0.1)) this.happen({ type: "tick" });
      this.deliver(failing);
    }
  }
}

/** Everything that must hold of what was decided up to now. */
function mustHold(world: World, definition: ScheduleDefinition, paused: boolean): void {
  const { state, runs, outcomes } = world;
  // No due time has two runs, and no two due times one.
  const dues = [...runs.values()].map(({ due }) => due);
  expect(new Set(dues).size).toBe(dues.length);
  // Each due time is decided once.
  expect(new Set(outcomes.map(({ due }) => due)).size).toBe(outcomes.length);
  // What is said to have a run has one, and no other has.
  const said = outcomes.filter(({ outcome }) => outcome === "run").map(({ due }) => due);
  const pending = state.active !== null && state.active.run_id === null ? [state.active.order.due] : [];
  for (const due of said) expect(dues).toContain(due);
  for (const due of dues) expect([...said, ...pending]).toContain(due);
  // Nothing is left in silence: run, skipped, failed, missed, waiting, or being created.
  const told = new Set([...outcomes.map(({ due }) => due), ...pending, ...state.waiting.map(({ due }) => due)]);
  const isMissed = (due: number): boolean => world.missed.some(({ first, last }) => first <= due && due <= last);
  if (!paused)
    for (let due = nextDue(definition, START, START); due !== null && due <= state.decided; due = nextDue(definition, START, due)) {
      expect(told.has(due) || isMissed(due), `${new Date(due).toISOString()} is told of`).toBe(true);
    }
  // What waits is not told of yet, and one is at work at a time.
  for (const { due } of state.waiting) expect(outcomes.some((each) => each.due === due)).toBe(false);
  for (const { count, caught_up } of world.missed) {
    expect(caught_up).toBeLessThanOrEqual(count);
    if (definition.catch_up === "none") expect(caught_up).toBe(0);
    if (definition.catch_up === "last") expect(caught_up).toBeLessThanOrEqual(1);
    if (definition.catch_up === "all") expect(caught_up).toBe(Math.min(count, caught_up));
  }
  if (definition.catch_up === "none") expect(outcomes.some(({ kind }) => kind === "late")).toBe(false);
  // A due time in time is run, or skipped by the policy that skips.
  if (definition.overlap === "queue" && !paused) expect(outcomes.filter(({ outcome }) => outcome === "skipped")).toEqual([]);
}

const HISTORIES = Number(process.env.EDGEWISE_HISTORIES ?? 10_000);

describe("random histories", () => {
  test(`${HISTORIES} of them: each due time has exactly the runs that its policy says`, { timeout: 300_000 }, () => {
    let [made, missed, skipped, caught] = [0, 0, 0, 0];
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const random = seededRandom(mixSeed(seed));
      const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
      const definition: ScheduleDefinition = {
        ...DEFINITION,
        every: pick("5m", "10m", "30m"),
        overlap: pick("skip", "queue", "cancel"),
        catch_up: pick("none", "last", "all"),
        ...(random() < 0.3 ? { jitter: "2m" } : {}),
      };
      const world = new World(definition, random);
      const failing = random() < 0.3 ? 0.2 : 0;
      const disturbed = random() < 0.4;
      let paused = failing > 0;
      for (let turn = 0; turn < 6; turn += 1) {
        world.pass(world.between(1, 40) * MINUTE, random() < 0.35, failing);
        if (disturbed && random() < 0.5) {
          const event = pick<ScheduleEvent>(
            { type: "pause", by: "ada", reason: "a pause" },
            { type: "resume", creator: ADA },
            { type: "run", id: `asked ${pick(1, 2, 3)}` },
            { type: "put", definition: { ...definition, keep: pick(3, 4) }, creator: ADA },
          );
          if (event.type === "pause" || event.type === "resume") paused = true;
          world.happen(event);
        }
        mustHold(world, definition, paused);
      }
      // Everything is well again: what was to be done is done.
      world.pass(90 * MINUTE, false, 0);
      mustHold(world, definition, paused);
      const { state } = world;
      if (state.paused === null) expect(state.decided).toBeGreaterThanOrEqual(world.now - 40 * MINUTE);
      made += world.runs.size;
      missed += world.missed.reduce((sum, { count }) => sum + count, 0);
      caught += world.missed.reduce((sum, { caught_up }) => sum + caught_up, 0);
      skipped += world.outcomes.filter(({ outcome }) => outcome === "skipped").length;
    }
    // The histories are what they are for: there was something of everything.
    for (const count of [made, missed, skipped, caught]) expect(count).toBeGreaterThan(HISTORIES / 10);
  });
});

describe("policies", () => {
  /** A schedule of ten minutes that begins at `START`, without faults: what each of its due times came to, in minutes. */
  function played(changes: Partial<ScheduleDefinition>, runMinutes: number, away: readonly [number, number] | null, minutes: number) {
    let state = newSchedule("nightly", "id", { ...DEFINITION, ...changes }, ADA, START);
    const outcomes: string[] = [];
    const ends = new Map<string, number>();
    const missed: string[] = [];
    for (let now = START; now <= START + minutes * MINUTE; now += 10 * SECOND) {
      const minute = (now - START) / MINUTE;
      if (away !== null && minute >= away[0] && minute < away[1]) continue;
      const queue: ScheduleEvent[] = [{ type: "tick" }];
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
        const taken = step(state, now, event);
        state = taken.state;
        for (const note of taken.notes) {
          if (note.note === "outcome") outcomes.push(`${(note.due - START) / MINUTE} ${note.outcome.kind} ${note.due_kind}`);
          if (note.note === "event" && note.event.type === "schedule.missed")
            missed.push(
              `${note.event.count} from ${(note.event.first - START) / MINUTE} to ${(note.event.last - START) / MINUTE}, ${note.event.caught_up} caught up with`,
            );
        }
        for (const action of taken.actions) {
          if (action.do === "create") {
            const id = `run of ${(action.order.due - START) / MINUTE}`;
            if (!ends.has(id)) ends.set(id, now + runMinutes * MINUTE);
            queue.push({ type: "created", due: action.order.due, run_id: id });
          } else if (action.do === "cancel") ends.set(action.run_id, now);
          else queue.push({ type: "looked", run_id: action.run_id, seen: { ...SEEN, over: (ends.get(action.run_id) ?? 0) <= now } });
        }
      }
    }
    return { outcomes, missed, state };
  }

  test("a due time is skipped, queued, or ends the run before, as overlap says", () => {
    expect(played({ overlap: "skip" }, 15, null, 45).outcomes).toEqual(["10 run due", "20 skipped due", "30 run due", "40 skipped due"]);
    expect(played({ overlap: "queue" }, 15, null, 45).outcomes).toEqual(["10 run due", "20 run due", "30 run due"]);
    expect(played({ overlap: "cancel" }, 15, null, 45).outcomes).toEqual(["10 run due", "20 run due", "30 run due", "40 run due"]);
  });

  test("due times that passed while nobody was there are missed, and none, the last or all of them are run", () => {
    const away = [15, 47] as const;
    expect(played({ catch_up: "none" }, 1, away, 61)).toMatchObject({
      outcomes: ["10 run due", "50 run due", "60 run due"],
      missed: ["3 from 20 to 40, 0 caught up with"],
    });
    expect(played({ catch_up: "last" }, 1, away, 61)).toMatchObject({
      outcomes: ["10 run due", "40 run late", "50 run due", "60 run due"],
      missed: ["3 from 20 to 40, 1 caught up with"],
    });
    const all = played({ catch_up: "all" }, 1, away, 61);
    expect(all.outcomes.filter((each) => each.includes("run")).sort()).toEqual(
      ["10 run due", "20 run late", "30 run late", "40 run late", "60 run due"].sort(),
    );
    expect(all.missed).toEqual(["3 from 20 to 40, 3 caught up with"]);
  });

  test("one that is late by less than half of its interval is in time", () => {
    expect(played({ catch_up: "none" }, 1, [19, 24], 31)).toMatchObject({ outcomes: ["10 run due", "20 run due", "30 run due"], missed: [] });
    expect(played({ catch_up: "none" }, 1, [19, 26], 31)).toMatchObject({
      outcomes: ["10 run due", "30 run due"],
      missed: ["1 from 20 to 20, 0 caught up with"],
    });
  });

  test("a refusal that will not pass pauses it with the reason, and one that may pass is tried for an hour", () => {
    const definition = { ...DEFINITION, every: "1d" };
    const due = START + 24 * 60 * MINUTE;
    const begun = step(newSchedule("nightly", "id", definition, ADA, START), due, { type: "tick" });
    expect(begun.actions).toMatchObject([{ do: "create", order: { due, key: `schedule·id·${new Date(due).toISOString()}` } }]);
    const refused = step(begun.state, due + SECOND, { type: "refused", due, failure: GONE, passing: false });
    expect(refused.state).toMatchObject({ active: null, paused: { by: null, failure: GONE } });
    expect(refused.notes.flatMap((note) => (note.note === "event" ? [note.event.type] : []))).toEqual(["schedule.failed", "schedule.paused"]);
    let { state } = begun;
    let tries = 0;
    for (let now = due; state.active !== null && tries < 1_000; now = state.active?.retry_at ?? 0) {
      tries += 1;
      state = step(state, now, { type: "refused", due, failure: BUSY, passing: true }).state;
      if (state.active !== null) state = step(state, state.active.retry_at, { type: "tick" }).state;
    }
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(60);
    expect(state.paused).toBeNull();
  });

  test("another data set or other code is an event of the series, and the data stay pinned", () => {
    const due = START + 10 * MINUTE;
    let state = newSchedule("nightly", "id", { ...DEFINITION, overlap: "queue" }, ADA, START);
    const events: string[] = [];
    const orders: unknown[] = [];
    for (const [index, seen] of [SEEN, { ...SEEN, env_digest: "f" }, { ...SEEN, dataset_digest: "x", env_digest: "f" }, SEEN].entries()) {
      const now = due + index * 10 * MINUTE;
      for (const event of [{ type: "tick" }, { type: "created", due: now, run_id: `${index}` }, { type: "looked", run_id: `${index}`, seen }] as const) {
        const taken = step(state, now, event);
        state = taken.state;
        orders.push(...taken.actions.flatMap((action) => (action.do === "create" ? [action.order.pin?.digest ?? null] : [])));
        events.push(...taken.notes.flatMap((note) => (note.note === "event" && note.event.type.endsWith(".changed") ? [`${index} ${note.event.type}`] : [])));
      }
    }
    expect(events).toEqual(["1 code.changed", "2 data.changed", "3 code.changed"]);
    expect(orders).toEqual([null, "d", "d", "d"]);
    expect(
      step(state, due, { type: "put", definition: { ...DEFINITION, eval: { env_id: "gsm8k", num_examples: 9 } }, creator: ADA }).state.definition.eval,
    ).toEqual({
      env_id: "gsm8k",
      num_examples: 9,
    });
  });

  test("another model or configuration behind the same name is an event of the series, told from what it was to what it is", () => {
    const asked = { model: "gpt", base_url: "https://provider/v1" };
    const by = (...seen: readonly (readonly [string, string | null])[]) =>
      answeredBy(asked, { seen: seen.map(([model, system_fingerprint], i) => ({ model, system_fingerprint, answers: i + 1 })) });
    const invented = answeredBy(asked, { seen: [{ model: "gpt-2", system_fingerprint: "fp_1", answers: 1 }], other_answers: 9 });
    const elsewhere = answeredBy({ ...asked, base_url: "https://another/v1" }, { seen: [{ model: "x", system_fingerprint: null, answers: 1 }] });
    const runs = [
      ...[null, by(["gpt-1", null]), by(["gpt-1", null]), null, by(["gpt-1", "fp_1"], ["gpt-1", "fp_2"]), by(["gpt-1", "fp_2"], ["gpt-1", "fp_1"])],
      ...[by(["gpt-2", "fp_2"]), invented, by(["gpt-2", "fp_7"]), elsewhere],
    ];
    let state = newSchedule("nightly", "id", { ...DEFINITION, overlap: "queue" }, ADA, START);
    const changed: unknown[] = [];
    for (const [index, answered_by] of runs.entries()) {
      const now = START + (index + 1) * 10 * MINUTE;
      const run_id = `${index}`;
      for (const event of [{ type: "tick" }, { type: "created", due: now, run_id }, { type: "looked", run_id, seen: { ...SEEN, answered_by } }] as const) {
        const taken = step(state, now, event);
        state = taken.state;
        changed.push(...taken.notes.flatMap((note) => (note.note === "event" && note.event.type === "model.changed" ? [note.event] : [])));
      }
    }
    const one = (model: string, system_fingerprint: string | null) => ({ model, system_fingerprint });
    expect(changed).toEqual([
      { type: "model.changed", run_id: "4", from: [one("gpt-1", null)], to: [one("gpt-1", "fp_1"), one("gpt-1", "fp_2")] },
      { type: "model.changed", run_id: "6", from: [one("gpt-1", "fp_2"), one("gpt-1", "fp_1")], to: [one("gpt-2", "fp_2")] },
    ]);
  });

  test("jitter moves when it begins and not what it is due for", () => {
    const { outcomes } = played({ jitter: "4m" }, 1, null, 65);
    expect(outcomes.length).toBeGreaterThanOrEqual(5);
    expect(outcomes.every((each) => Number(each.split(" ")[0]) % 10 === 0)).toBe(true);
    expect(beginningOf(START, { time_zone: "UTC", jitter: "4m" }, "nightly")).toBeGreaterThanOrEqual(START);
  });
});
