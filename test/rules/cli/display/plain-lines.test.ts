import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunState } from "../../../../src/cli/connection/api-types.ts";
import { Progress } from "../../../../src/cli/display/progress.ts";
import { plainDisplay } from "../../../../src/cli/display/runs-display.ts";

const state = (change: Partial<RunState> = {}): RunState => ({
  ...{ run_id: "1a2b3c4d", phase: "open", settled: false, suspended: false, done_units: 0, total_units: 10, done_rollouts: 4, total_rollouts: 10 },
  ...{ owed_rollouts: 6, reward: null, errors: {}, tokens: { input: 0, output: 0 }, seq: 0, env_version: "1", dataset_digest: null },
  vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null },
  ...change,
});
const limited = { bound: { kind: "requests", limit: 500, source: "told" }, base_url: "https://api.openai.com/v1" } as const;
const waiting = (count: number) => state({ vitals: { in_flight: 1, retries: 0, waiting: count, paused_until: null, limited } });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function shown(labels: readonly string[]) {
  const lines: string[] = [];
  const display = plainDisplay(labels, { tell: (line) => lines.push(line), now: () => performance.now(), clock: Date.now });
  display.start();
  const next = (): string | undefined => {
    vi.advanceTimersByTime(5_000);
    return lines.at(-1);
  };
  return { display, next };
}

it("lines about several evaluations say which of them wait, and for what", () => {
  const { display, next } = shown(["sums", "words"]);
  display.run(0).update(waiting(12));
  display.run(1).update(state());
  expect(next()).toBe("0/2 evaluations · 8/20 rollouts (40 %) · sums: 12 requests wait for OpenAI's 500 requests a minute");
  const at = Date.now();
  display.run(0).update(state());
  display.run(1).update(state({ paused: { at } }));
  expect(next()).toBe(`0/2 evaluations · 8/20 rollouts (40 %) · words: paused since ${new Date(at).toTimeString().slice(0, 8)}`);
  display.run(1).update(state());
  expect(next()).toBe("0/2 evaluations · 8/20 rollouts (40 %)");
});

it("of many that wait the first are named and the others counted, and none that has ended", () => {
  const { display, next } = shown(["a", "b", "c", "d", "e", "f"]);
  for (let index = 0; index < 6; index++) display.run(index).update(waiting(1));
  display.run(0).ended("STOPPED");
  const waits = ["b", "c", "d"].map((name) => `${name}: 1 request waits for OpenAI's 500 requests a minute`).join(" · ");
  expect(next()).toBe(`1/6 evaluations · 24/60 rollouts (40 %) · ${waits} · 2 more wait`);
});

it("of a run that waits for batches come when something has changed, and every ten minutes where nothing has", () => {
  const lines: string[] = [];
  const progress = new Progress({ tell: (line) => lines.push(line), now: () => performance.now(), clock: Date.now });
  const job = { job: 1, state: "submitted", requests: 10, batch_id: "batch_1", submitted_at: 0, ended_at: null, expires_at: null } as const;
  const under = (answered: number, look_at: number) =>
    state({
      batch: {
        ...{ unasked: 0, requests: 10, answered, failed: 0, lost: {}, look_at, closing: null },
        jobs: [{ ...job, counts: { answered, failed: 0 } }],
      },
    });
  progress.start();
  progress.update(under(0, 1));
  for (let look = 2; look < 10; look++) {
    vi.advanceTimersByTime(60_000);
    progress.update(under(0, look));
  }
  expect(lines).toEqual(["4/10 rollouts (40 %) · 1 batch under way: 0 of 10 requests answered"]);
  vi.advanceTimersByTime(3 * 60_000);
  expect(lines).toHaveLength(2);
  progress.update(under(7, 10));
  vi.advanceTimersByTime(10_000);
  expect(lines.at(-1)).toContain("7 of 10 requests answered");
  progress.end();
});
