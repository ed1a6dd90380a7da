import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { NextAnswer } from "../../../durable-objects/dispatcher/offers.ts";
import type { JoinAnswer } from "../../../durable-objects/run/protocol.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { Executor } from "../../../src/executor/executor.ts";
import type { ExecutorBudget, RunStub } from "../../../src/executor/ports.ts";
import { clientPortsOfExecutor } from "../../support/run/executor-ports.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NEVER = new Promise<never>(() => undefined);
const unlimited = Number.POSITIVE_INFINITY;
const POLL_MS = 10_000;
const BUDGET = { requests: 4, margin: 1_000, poll: POLL_MS, slice: unlimited, wanted: unlimited, wall: unlimited, held: 0, rollouts: unlimited };

describe("an executor with lanes that become free", () => {
  it("asks for work at once, also when they did while it was asking", async () => {
    const asked: number[] = [];
    const start = Date.now();
    /** When each run says that it has ended; one works on. */
    const ends: Readonly<Record<string, Promise<JoinAnswer>>> = {
      a: NEVER,
      b: sleep(1_000).then(() => ({ kind: "closed" })),
      c: sleep(1_500).then(() => ({ kind: "closed" })),
    };
    const next = async (): Promise<NextAnswer> => {
      asked.push(Date.now() - start);
      if (asked.length === 1) return { runs: ["a", "b", "c"].map((run) => ({ run, want: 1, seq: 1 })), yield: null, wanted: 0 };
      await sleep(1_000);
      return { runs: [], yield: null, wanted: 0 };
    };
    const ports = clientPortsOfExecutor({
      id: "executor",
      boot: "boot",
      local: false,
      sleep,
      dispatcher: () => ({ offer: async () => undefined, next }),
      run: (run) => ({ join: () => ends[run] ?? NEVER }) as Partial<RunStub> as RunStub,
    });
    void new Executor(ports, {
      ...BUDGET,
      subrequests: unlimited,
      keepTurns: 10_000,
      unitDeadline: null,
      connections: null,
      outage: 1_000,
      firstAnswer: 1_000,
      storm: 0,
    } satisfies ExecutorBudget).run();
    await vi.advanceTimersByTimeAsync(POLL_MS - 1);
    // The second look lasts from 1 s to 2 s; the lanes of the third run became free meanwhile.
    expect(asked).toEqual([0, 1_000, 2_000]);
  });
});
