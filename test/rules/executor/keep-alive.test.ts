import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type BeatAnswer, type Grant, PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { keepAlive, whileHeld } from "../../../src/executor/keep-alive.ts";
import type { ExecutorPorts, RunStub } from "../../../src/executor/ports.ts";
import { CONFIG } from "../../support/door/fake-ports.ts";

const GRANT: Grant = {
  kind: "grant",
  protocol: PROTOCOL,
  ticket: 1,
  epoch: 3,
  task: { kind: "finalise", attempt: 1, generation: 1 },
  config: CONFIG,
  lanes: 1,
  requests: 0,
  lease_ms: 10_000,
  beat_ms: 2_000,
};

/** A Run that answers beats as told; null = it never answers. */
function runThat(beat: (nth: number) => BeatAnswer["kind"] | null) {
  const seen = { beats: [] as number[], left: 0 };
  const stub = {
    async beat() {
      seen.beats.push(Date.now());
      const kind = beat(seen.beats.length);
      return kind === null ? new Promise<never>(() => undefined) : { kind };
    },
    async leave() {
      seen.left++;
      return { kind: "ok" as const };
    },
  } as Partial<RunStub> as RunStub;
  const ports = { run: () => stub, now: () => Date.now(), sleep, log: () => undefined } as Partial<ExecutorPorts> as ExecutorPorts;
  return { ports, seen };
}

/** Work that takes so long, or ends with the reason it was aborted for. */
const workFor =
  (ms: number) =>
  (signal: AbortSignal): Promise<void> =>
    sleep(ms, signal);

const stop = (): AbortSignal => new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

describe("the lease of a preparation or of the final files", () => {
  it("is kept while the work goes on, and given back at its end", async () => {
    const { ports, seen } = runThat(() => "continue");
    const done = keepAlive(ports, "r", GRANT, stop(), workFor(30_500));
    await vi.advanceTimersByTimeAsync(30_500);
    await done;
    expect(seen.beats).toHaveLength(15);
    expect(seen.left).toBe(1);
  });

  it.each(["lost", "gone", "abort", "drain"] as const)("that is over (%s) ends the work", async (answer) => {
    const { ports, seen } = runThat((nth) => (nth < 3 ? "continue" : answer));
    const done = keepAlive(ports, "r", GRANT, stop(), workFor(60_000));
    done.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(6_000);
    await expect(done).rejects.toThrow(`the ticket ended: ${answer}`);
    expect(seen.left).toBe(1);
  });

  it("ends the work before the Run would grant it to another, when no beat is answered", async () => {
    const { ports, seen } = runThat((nth) => (nth === 1 ? "continue" : null));
    const done = keepAlive(ports, "r", GRANT, stop(), workFor(60_000));
    done.catch(() => undefined);
    // The beat of second 2 was the last that counted.
    await vi.advanceTimersByTimeAsync(12_000);
    await expect(done).rejects.toThrow("the lease ended");
    expect(seen.left).toBe(1);
  });

  it("is given back though a beat is never answered", async () => {
    const { ports, seen } = runThat(() => null);
    const done = keepAlive(ports, "r", GRANT, stop(), workFor(2_500));
    await vi.advanceTimersByTimeAsync(3_000);
    await done;
    expect(seen.left).toBe(1);
  });

  it("is given back when the work fails, and the failure is told", async () => {
    const { ports, seen } = runThat(() => "continue");
    await expect(keepAlive(ports, "r", GRANT, stop(), () => Promise.reject(new Error("R2 is away")))).rejects.toThrow("R2 is away");
    expect(seen.left).toBe(1);
  });

  it("ends with the executor", async () => {
    const { ports, seen } = runThat(() => "continue");
    const host = new AbortController();
    const done = keepAlive(ports, "r", GRANT, host.signal, workFor(60_000));
    done.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(3_000);
    host.abort(new Error("the parent process is gone"));
    await expect(done).rejects.toThrow("the parent process is gone");
    expect(seen.left).toBe(1);
  });
});

describe("the lease of a ticket whose environment is being loaded", () => {
  it("is kept for as long as that takes, and it is known when it was renewed last", async () => {
    const { ports, seen } = runThat(() => "continue");
    const loading = whileHeld(ports, "r", GRANT, () => sleep(61_000).then(() => "loaded"));
    await vi.advanceTimersByTimeAsync(61_000);
    expect(await loading).toEqual({ value: "loaded", renewedAt: 60_000 });
    expect(seen).toMatchObject({ beats: Array.from({ length: 30 }, (_, at) => (at + 1) * 2_000), left: 0 });
  });

  it("is not asked for where that takes a moment", async () => {
    const { ports, seen } = runThat(() => "continue");
    expect(await whileHeld(ports, "r", GRANT, async () => "loaded")).toEqual({ value: "loaded", renewedAt: null });
    expect(seen.beats).toEqual([]);
  });

  it("may be lost meanwhile: whoever asks the Run next is told; and what cannot be loaded says so at once", async () => {
    const { ports, seen } = runThat((nth) => (nth < 3 ? "continue" : "lost"));
    const loading = whileHeld(ports, "r", GRANT, () => sleep(30_000).then(() => "loaded"));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await loading).toEqual({ value: "loaded", renewedAt: 4_000 });
    expect(seen.beats).toHaveLength(3);
    await expect(whileHeld(ports, "r", GRANT, async () => Promise.reject(new Error("no module")))).rejects.toThrow("no module");
  });
});
