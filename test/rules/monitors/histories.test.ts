import { describe, expect, test } from "vitest";
import { mixSeed } from "../../../src/mix.ts";
import { type MonitorDefinition, spansOf, unwrittenFor } from "../../../src/monitors/definition.ts";
import { isOnlyRemembered, newMonitor, step, type World } from "../../../src/monitors/policy.ts";
import type { Memory, MonitorEvent, MonitorState, Telling } from "../../../src/monitors/state.ts";
import { seededRandom } from "../../../src/seeded-random.ts";

/**
 * Histories of one monitor on a simulated clock: a job that beats, falls silent and ends; an object that loses its memory, alarms that come late, twice or
 * never and a watchdog behind them; a service that is away and comes back as another life; pauses and other intervals. Lost is told of silence that
 * somebody could have heard broken, and of nothing else; and of all such silence.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const START = Date.UTC(2026, 10, 1);
/** So long without a watchdog is an absence. */
const GAP_MS = 150 * SECOND;
/** The watchdog comes each minute, and leaves an alarm its time. */
const WATCHDOG_MS = 75 * SECOND;

const DEFINITIONS: readonly MonitorDefinition[] = [
  { every: "5m", grace: "2m" },
  { every: "30s", grace: "0s" },
  { every: "1h", grace: "10m" },
  { every: "90s", grace: "15s" },
];

class Simulation {
  now = START;
  state: MonitorState;
  memory: Memory = { since: START, beat_at: null };
  life = { id: "life 0", since: START };
  heardFrom = 0;
  writes = 0;
  beats = 0;
  readonly told: { readonly at: number; readonly telling: Telling }[] = [];
  /** From here on a beat would have been heard, and the job has not beaten. */
  #silentSince = START;
  #alarm: number | null = null;
  readonly #random: () => number;

  constructor(definition: MonitorDefinition, random: () => number) {
    this.#random = random;
    this.state = newMonitor({ name: "trainer", id: "id", definition, secret_digest: "d", created_by: "ada" }, START, this.life);
  }

  chance(of: number): boolean {
    return this.#random() < of;
  }
  between(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low));
  }
  get world(): World {
    return { now: this.now, memory: this.memory, life: this.life, heard_from: this.heardFrom };
  }

  happen(event: MonitorEvent): void {
    const before = this.state;
    const { state, told } = step(before, event, this.world);
    this.writes++;
    this.state = state;
    if (this.memory.beat_at !== null) this.memory = { ...this.memory, beat_at: state.beat_at };
    for (const telling of told) this.told.push({ at: this.now, telling });
    if (state.wake_at !== before.wake_at) this.#alarm = state.wake_at;
    const { every, grace } = spansOf(state.definition);
    if (told.some((telling) => telling.state === "lost" && telling.reason === null))
      expect(this.now - this.#silentSince, `lost at ${this.now - START}`).toBeGreaterThanOrEqual(every + grace);
    if (event.type === "beat" || event.type === "resume") this.#silentSince = this.now;
  }

  beat(): void {
    this.beats++;
    this.memory = { ...this.memory, beat_at: this.now };
    this.#silentSince = this.now;
    if (!isOnlyRemembered(this.state, this.world)) this.happen({ type: "beat" });
  }

  forget(): void {
    this.memory = { since: this.now, beat_at: null };
  }

  /** Nobody hears or looks for so long; then another life begins, or the same one goes on and its watchdog finds how long it was away. */
  away(ms: number, another: boolean): void {
    this.now += ms;
    this.forget();
    if (another) this.life = { id: `life ${this.now}`, since: this.now };
    else this.heardFrom = this.now;
    this.#silentSince = this.now;
    if (this.chance(0.5)) this.look();
  }

  setBack(ms: number): void {
    this.now -= ms;
    this.#silentSince = this.now;
  }

  look(): void {
    this.happen({ type: "tick" });
  }

  /** Time goes on in small steps. `beatEvery`: of the job; null = it is silent. `kind`: alarms come as they should. */
  pass(ms: number, beatEvery: number | null, kind = false): void {
    const end = this.now + ms;
    let nextBeat = beatEvery === null ? Number.POSITIVE_INFINITY : this.now + this.between(0, beatEvery);
    let watchdog = this.now + this.between(0, MINUTE);
    while (this.now < end) {
      const due = Math.min(nextBeat, watchdog, this.#alarm ?? Number.POSITIVE_INFINITY, end);
      this.now = Math.max(this.now, due);
      if (this.chance(0.1)) this.forget();
      if (this.#alarm !== null && this.now >= this.#alarm) {
        const lost = !kind && this.chance(0.1);
        this.#alarm = null;
        if (!lost) for (let n = this.chance(0.1) ? 2 : 1; n > 0; n--) this.look();
      }
      if (this.now >= watchdog) {
        watchdog += MINUTE;
        if (this.state.wake_at !== null && this.now - this.state.wake_at >= 15 * SECOND) this.look();
      }
      if (this.now >= nextBeat && beatEvery !== null) {
        this.beat();
        nextBeat += beatEvery;
      }
    }
  }

  get standing(): string {
    return this.state.standing;
  }
}

/** Losses and returns by turns, each with its number. */
function mustAlternate({ told, state }: Simulation): void {
  for (const [at, { telling }] of told.entries()) expect([telling.state, telling.number]).toEqual([at % 2 === 0 ? "lost" : "back", Math.floor(at / 2) + 1]);
  expect(state.standing === "lost").toBe(told.length % 2 === 1);
}

function play(seed: number): void {
  const random = seededRandom(mixSeed(seed));
  const definition = DEFINITIONS[seed % DEFINITIONS.length] as MonitorDefinition;
  const simulation = new Simulation(definition, random);
  const span = (): { every: number; grace: number } => spansOf(simulation.state.definition);
  for (let round = 0; round < 12; round++) {
    const draw = simulation.between(0, 9);
    if (draw <= 3) {
      const { every } = span();
      // The first comes within the interval, too.
      simulation.beat();
      const before = simulation.told.length;
      simulation.pass(simulation.between(every, 4 * every), simulation.between(1, every));
      expect(simulation.told.length, `seed ${seed}: told of a job that beats`).toBe(before);
      if (simulation.state.paused === null) expect(simulation.standing).toBe("alive");
    } else if (draw === 4) simulation.pass(simulation.between(1, span().every), null);
    else if (draw === 5) {
      const watched = simulation.state.paused === null && ["alive", "late", "lost"].includes(simulation.standing);
      const { every, grace } = span();
      simulation.pass(every + grace + unwrittenFor(span()) + WATCHDOG_MS, null);
      expect(simulation.standing === "lost", `seed ${seed}: ${simulation.standing} after a silence`).toBe(watched);
    } else if (draw === 6) {
      const another = simulation.chance(0.6);
      simulation.away(simulation.between(another ? SECOND : GAP_MS, GAP_MS + 3 * span().every), another);
    } else if (draw === 7) {
      const paused = simulation.state.paused !== null;
      simulation.happen(paused ? { type: "resume", by: "ada" } : { type: "pause", by: "ada", reason: "holidays" });
    } else if (draw === 8) simulation.happen({ type: "done", by: simulation.chance(0.5) ? "ada" : null });
    else simulation.happen({ type: "put", definition: DEFINITIONS[simulation.between(0, DEFINITIONS.length)] as MonitorDefinition });
    mustAlternate(simulation);
  }
}

describe("whatever comes in whatever order", () => {
  test("no job that beats is lost, and each silence is told within period, grace and what was unwritten: 10,000 histories", { timeout: 120_000 }, () => {
    for (let seed = 0; seed < 10_000; seed++) play(seed);
  });

  test("a job that beats each second costs few rows, and none where nothing changes", () => {
    const simulation = new Simulation({ every: "5m", grace: "1m" }, () => 1);
    simulation.pass(60 * MINUTE, SECOND);
    expect(simulation.beats).toBeGreaterThan(3_500);
    // One a minute for the beats, one in five for the alarm.
    expect(simulation.writes).toBeLessThan(80);
    const before = simulation.writes;
    simulation.happen({ type: "done", by: null });
    simulation.pass(60 * MINUTE, null);
    expect(simulation.writes).toBe(before + 1);
  });
});

describe("a monitor", () => {
  const made = (): Simulation => new Simulation({ every: "5m", grace: "2m" }, () => 1);

  test("is new until its first beat, then alive, late, lost, and back with the next beat", () => {
    const simulation = made();
    simulation.pass(60 * MINUTE, null);
    expect(simulation.standing).toBe("new");
    simulation.beat();
    const stands: string[] = [];
    for (const ms of [5 * MINUTE - 1, 1, 2 * MINUTE - 1, 1]) {
      simulation.pass(ms, null, true);
      stands.push(simulation.standing);
    }
    expect(stands).toEqual(["alive", "late", "late", "lost"]);
    simulation.beat();
    expect(simulation.standing).toBe("alive");
    expect(simulation.told.map(({ telling }) => telling.state)).toEqual(["lost", "back"]);
  });

  test("is lost at once when a run says that it failed, and a watch that was ended begins with the next beat", () => {
    const simulation = made();
    simulation.beat();
    simulation.happen({ type: "failed", reason: "run 0000abcd ended FAILED" });
    expect(simulation.told.map(({ telling }) => telling)).toMatchObject([{ state: "lost", reason: "run 0000abcd ended FAILED" }]);
    simulation.happen({ type: "done", by: "ada" });
    expect(simulation.told[1]?.telling).toMatchObject({ state: "back", reason: "ended by ada" });
    simulation.pass(60 * MINUTE, null);
    expect([simulation.standing, simulation.told.length]).toEqual(["done", 2]);
    simulation.beat();
    simulation.pass(8 * MINUTE, null, true);
    expect([simulation.standing, simulation.told.length]).toEqual(["lost", 3]);
  });

  test("has the whole time again where the service was away: as another life of it, or as its watchdog found", () => {
    for (const another of [true, false]) {
      const simulation = made();
      simulation.beat();
      simulation.away(60 * MINUTE, another);
      simulation.look();
      expect(simulation.standing).toBe("alive");
      simulation.pass(7 * MINUTE - 1, null, true);
      expect(simulation.standing).toBe("late");
      simulation.pass(1, null, true);
      expect(simulation.standing).toBe("lost");
    }
  });

  test("is not lost by a memory that is lost, nor by a clock that is set back", () => {
    const simulation = made();
    simulation.beat();
    simulation.pass(59 * SECOND, null);
    simulation.beat();
    expect(simulation.state.beat_at).toBe(START);
    simulation.forget();
    simulation.pass(7 * MINUTE - 1, null, true);
    expect(simulation.standing).not.toBe("lost");
    simulation.pass(MINUTE + 1, null, true);
    expect(simulation.standing).toBe("lost");
    simulation.beat();
    simulation.setBack(24 * 60 * MINUTE);
    simulation.look();
    simulation.pass(8 * MINUTE, null, true);
    expect(simulation.standing).toBe("lost");
  });
});
