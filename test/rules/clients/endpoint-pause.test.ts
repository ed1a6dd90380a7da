import { describe, expect, it } from "vitest";
import { EndpointPause } from "../../../src/clients/endpoint-pause.ts";

/** A clock that moves only when someone sleeps on it. */
function fakeClock(random = 0) {
  let time = 1_000_000;
  const slept: number[] = [];
  return {
    slept,
    pass(ms: number): void {
      time += ms;
    },
    clock: {
      now: () => time,
      random: () => random,
      sleep: async (ms: number, signal?: AbortSignal | null) => {
        signal?.throwIfAborted();
        slept.push(ms);
        time += ms;
      },
    },
  };
}

describe("a pause", () => {
  it("holds until its end, and only the longest counts", async () => {
    const { clock, pass } = fakeClock();
    const pause = new EndpointPause(clock);
    expect(pause.until).toBeNull();
    await pause.wait();
    expect(pause.hold(2_000)).toBe(1_002_000);
    expect(pause.hold(500)).toBe(1_002_000);
    expect(pause.until).toBe(1_002_000);
    pass(2_000);
    expect(pause.until).toBeNull();
  });

  it("is at most ten minutes, whatever the endpoint asks for", () => {
    const { clock } = fakeClock();
    expect(new EndpointPause(clock).hold(86_400_000)).toBe(1_000_000 + 600_000);
  });

  it("lets its callers back in spread over a tenth of it, a second at most", async () => {
    for (const [length, longest] of [
      [2_000, 200],
      [60_000, 1_000],
    ] as const) {
      const { clock, slept } = fakeClock(0.5);
      const pause = new EndpointPause(clock);
      pause.hold(length);
      await pause.wait();
      expect(slept).toEqual([length + longest / 2]);
    }
  });

  it("made longer meanwhile is waited for to its new end", async () => {
    const { clock, slept } = fakeClock();
    const pause = new EndpointPause({
      ...clock,
      sleep: async (ms, signal) => {
        await clock.sleep(ms, signal);
        if (slept.length === 1) pause.hold(3_000);
      },
    });
    pause.hold(1_000);
    await pause.wait();
    expect(slept).toEqual([1_000, 3_000]);
  });

  it("knows how many wait, also when they give up", async () => {
    const { clock } = fakeClock();
    const pause = new EndpointPause({
      ...clock,
      sleep: (_ms, signal) => new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    });
    pause.hold(1_000);
    const controller = new AbortController();
    const waits = [pause.wait(controller.signal), pause.wait(controller.signal)];
    expect(pause.waiting).toBe(2);
    controller.abort("stop");
    expect(await Promise.allSettled(waits)).toEqual([
      { status: "rejected", reason: "stop" },
      { status: "rejected", reason: "stop" },
    ]);
    expect(pause.waiting).toBe(0);
  });
});
