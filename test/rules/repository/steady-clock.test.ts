import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchClock } from "../../../src/cli/service/runtime/clock-watch.ts";
import { Waking } from "../../../durable-objects/waking.ts";
import type * as SteadyClock from "../../../src/steady-clock.ts";

const HOUR = 3_600_000;
const BEGIN = 1_790_000_000_000;

let clock: typeof SteadyClock;
/** By how much the machine's clock was set. */
let set = 0;
beforeEach(async () => {
  set = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  const from = performance.now();
  vi.spyOn(Date, "now").mockImplementation(() => BEGIN + performance.now() - from + set);
  // One per isolate.
  vi.resetModules();
  clock = await import("../../../src/steady-clock.ts");
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("the time that leases and waits are measured by", () => {
  it("is the machine's where nobody counts, and while nobody sets that", () => {
    expect(clock.steadyNow()).toBe(BEGIN);
    set = HOUR;
    expect(clock.steadyNow()).toBe(BEGIN + HOUR);
    const stop = clock.countTime();
    vi.advanceTimersByTime(10_100);
    expect(clock.steadyNow()).toBe(BEGIN + HOUR + 10_100);
    stop();
    expect(clock.steadyNow()).toBe(BEGIN + HOUR + 10_100);
  });

  it.each([
    ["ahead", HOUR],
    ["back", -HOUR],
  ])("goes on as before when the clock is set %s by an hour", (_, by) => {
    const stop = clock.countTime();
    vi.advanceTimersByTime(1_000);
    set = by;
    expect(clock.steadyNow()).toBe(BEGIN + 1_000);
    vi.advanceTimersByTime(10_000);
    expect(clock.steadyNow()).toBe(BEGIN + 11_000);
    stop();
  });

  it("does not go back where counting ends, and is the machine's again once that is further", () => {
    const stop = clock.countTime();
    vi.advanceTimersByTime(1_000);
    set = -HOUR;
    vi.advanceTimersByTime(1_000);
    stop();
    expect(clock.steadyNow()).toBe(BEGIN + 2_000);
    set = HOUR;
    expect(clock.steadyNow()).toBe(BEGIN + HOUR + 2_000);
  });

  it("takes a busy machine's word for seconds in which no timer came", () => {
    const stop = clock.countTime();
    vi.advanceTimersByTime(1_000);
    set = 20_000;
    expect(clock.steadyNow()).toBe(BEGIN + 21_000);
    vi.advanceTimersByTime(250);
    expect(clock.steadyNow()).toBe(BEGIN + 21_250);
    stop();
  });
});

describe("an object that wants to be woken", () => {
  const alarms = (): { readonly stored: number[]; readonly wake: Waking } => {
    const stored: number[] = [];
    return { stored, wake: new Waking({ setAlarm: async (at: number) => void stored.push(at) }) };
  };

  it("stores one alarm, and no later one while that stands", () => {
    const { stored, wake } = alarms();
    expect([wake.by(BEGIN + 5_000), wake.by(BEGIN + 9_000), wake.by(BEGIN + 3_000)]).toEqual([true, false, true]);
    wake.forget();
    expect(wake.by(BEGIN + 9_000)).toBe(true);
    expect(stored).toEqual([BEGIN + 5_000, BEGIN + 3_000, BEGIN + 9_000]);
  });

  it("is woken by the machine's clock as late as the steady one says", async () => {
    const { Waking: Fresh } = await import("../../../durable-objects/waking.ts");
    const stored: number[] = [];
    const wake = new Fresh({ setAlarm: async (at: number) => void stored.push(at) });
    const stop = clock.countTime();
    set = HOUR;
    wake.by(clock.steadyNow() + 5_000);
    expect(stored).toEqual([BEGIN + HOUR + 5_000]);
    wake.isStoredFor(BEGIN + HOUR + 1_000);
    expect(wake.by(clock.steadyNow() + 2_000)).toBe(false);
    stop();
  });
});

describe("the watch over the machine's clock", () => {
  it("tells by how much it was set back, once, and nothing of one that is set ahead or a little", () => {
    const told: number[] = [];
    const stop = watchClock((ms) => void told.push(ms), { machine: Date.now, steady: () => performance.now() });
    for (const by of [5_000, -3_000, HOUR, 0, -5_000]) {
      set = by;
      vi.advanceTimersByTime(3_000);
    }
    expect(told).toEqual([HOUR]);
    stop();
    set = -HOUR;
    vi.advanceTimersByTime(3_000);
    expect(told).toEqual([HOUR]);
  });
});
