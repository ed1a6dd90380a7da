import { describe, expect, it } from "vitest";
import type { RunState } from "../../../../src/cli/connection/api-types.ts";
import { Progress, progressText } from "../../../../src/cli/display/progress.ts";
import type { Limited } from "../../../../src/endpoint-limits/bound.ts";
import { Speed } from "../../../../src/report/progress/speed.ts";

const state = (change: Partial<RunState> = {}): RunState => ({
  run_id: "1a2b3c4d",
  phase: "open",
  settled: false,
  suspended: false,
  done_units: 0,
  total_units: 10,
  done_rollouts: 0,
  total_rollouts: 40,
  owed_rollouts: 40,
  reward: null,
  errors: {},
  tokens: { input: 0, output: 0 },
  vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null },
  seq: 0,
  env_version: "1",
  dataset_digest: null,
  ...change,
});

function linesOf() {
  const time = { now: 0 };
  const written: string[] = [];
  const progress = new Progress({ tell: (line) => written.push(line), now: () => time.now, clock: () => time.now });
  return { progress, written, time };
}

describe("the line that says where a run stands", () => {
  it("names everything that is not nothing", () => {
    const noon = new Date(2026, 10, 21, 12, 0, 5).getTime();
    const busy = state({
      done_rollouts: 10,
      reward: 0.41666,
      errors: { connection_failed: 2, timeout: 1, gone: 0 },
      tokens: { input: 12345, output: 678 },
      vitals: { in_flight: 4, retries: 3, waiting: 4, paused_until: noon },
    });
    expect(progressText(busy, 80_000, noon - 5000)).toBe(
      "10/40 rollouts (25 %) · reward 0.417 · errors: connection_failed 2, timeout 1 · 3 retries · 4 requests wait for the rate limit until 12:00:05 · 12,345 + 678 tokens · about 1m 20s left",
    );
    const cost = { input_usd: 0.1, output_usd: 0.02, total_usd: 0.12 };
    const judges = { requests: 2, input: 1, output: 1, cost: { requests: 2, input_usd: 1, output_usd: 0.5, total_usd: 1.5 } };
    expect(progressText(state({ tokens: { input: 1, output: 2 }, cost, judges }), null, 0)).toBe("0/40 rollouts (0 %) · 1 + 2 tokens · $0.1200 · judges $1.50");
    expect(progressText(state({ cost: { ...cost, unpriced_rollouts: 3 } }), null, 0)).toBe("0/40 rollouts (0 %) · $0.1200+");
    expect(progressText(state({ cost: null }), null, 0)).toBe("0/40 rollouts (0 %)");
    expect(progressText(state(), null, 0)).toBe("0/40 rollouts (0 %)");
    expect(progressText(state({ phase: "preparing", total_rollouts: 0 }), null, 0)).toBe("preparing the data set");
    expect(progressText(state({ phase: "finalising", done_rollouts: 40 }), null, 0)).toBe("40/40 rollouts (100 %) · writing the results");
    const scoring = progressText(state({ phase: "draining", scoring_until: noon }), null, 0);
    expect(scoring).toMatch(/scoring what is generated, until \d\d:\d\d:\d\d at most$/);
    expect(progressText(state({ done_rollouts: 39, total_rollouts: 40 }), null, 0)).toContain("97 %");
  });

  it("says what a run waits for that nobody works on", () => {
    const until = new Date(2026, 10, 21, 12, 10, 0).getTime();
    const waiting = { env_digest: `v2:${"a".repeat(64)}`, found: `v2:${"b".repeat(64)}`, until };
    expect(progressText(state({ waiting_for: waiting }), null, 0)).toBe(
      "0/40 rollouts (0 %) · waiting until 12:10:00 for an executor with the code of this run, v2:aaaaaaaaaaaa… (who asked has v2:bbbbbbbbbbbb…); bring that code back, or stop the run and resume it with --accept-code-change",
    );
    expect(progressText(state({ phase: "preparing", waiting_for: { ...waiting, found: null } }), null, 0)).toMatch(/^waiting until .*no such environment/);
  });

  it("counts rollouts that have finished while others of their example are under way", () => {
    expect(progressText(state({ done_rollouts: 10, finished_rollouts: 13 }), null, 0)).toBe("13/40 rollouts (32 %)");
    // The reward is of those whose examples are complete, which is said where there are others.
    expect(progressText(state({ done_rollouts: 10, finished_rollouts: 13, reward: 0.5 }), null, 0)).toBe("13/40 rollouts (32 %) · reward 0.500 of 10");
    // A beat may be older than a commit.
    expect(progressText(state({ done_rollouts: 40, finished_rollouts: 43 }), null, 0)).toBe("40/40 rollouts (100 %)");
    expect(progressText(state({ done_rollouts: 40, finished_rollouts: 12 }), null, 0)).toBe("40/40 rollouts (100 %)");
  });

  it("says how old the oldest request is once that is worth a word", () => {
    const vitals = { in_flight: 2, retries: 0, waiting: 0, paused_until: null };
    expect(progressText(state({ vitals: { ...vitals, oldest_ms: 9_999 } }), null, 0)).not.toContain("flight");
    expect(progressText(state({ vitals: { ...vitals, oldest_ms: 75_400 } }), null, 0)).toContain("2 in flight, the oldest 1m 15s");
  });

  it("says what requests wait for, where a limit is known", () => {
    const limited: Limited = { bound: { kind: "requests", limit: 500, source: "told" }, base_url: "https://api.openai.com/v1" };
    const text = (waiting: number): string => progressText(state({ vitals: { in_flight: 8, retries: 0, waiting, paused_until: null, limited } }), null, 0);
    expect(text(12)).toContain(" · 12 requests wait for OpenAI's 500 requests a minute");
    expect(text(1)).toContain(" · 1 request waits for OpenAI's 500 requests a minute");
    expect(text(0)).not.toContain("OpenAI");
  });

  it("does not mention a pause that is over", () => {
    expect(progressText(state({ vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: 1000 } }), null, 2000)).not.toContain("rate limit");
  });
});

describe("progress in plain lines", () => {
  it("is plain lines, at most one per five seconds or tenth of the run", () => {
    const { progress, written, time } = linesOf();
    for (let done = 0; done <= 40; done += 1) {
      time.now += 100;
      progress.update(state({ done_rollouts: done }));
    }
    expect(written.length).toBeLessThanOrEqual(11);
    expect(written.join("")).not.toContain("\u001b");
    const before = written.length;
    for (let i = 0; i < 100; i += 1) {
      time.now += 100;
      progress.update(state({ done_rollouts: 40, tokens: { input: i, output: 1 } }));
    }
    expect(written.length - before).toBe(2);
  });

  it("shows a sign of life when nothing changes, and the last state once at the end", () => {
    const { progress, written, time } = linesOf();
    progress.update(state());
    time.now += 20_000;
    progress.update(state());
    expect(written).toHaveLength(1);
    time.now += 20_000;
    progress.update(state());
    expect(written).toHaveLength(2);
    progress.update(state({ done_rollouts: 40 }));
    progress.end();
    expect(written.at(-1)).toBe("40/40 rollouts (100 %)");
    expect(written.filter((line) => line.startsWith("40/40"))).toHaveLength(1);
  });

  it("prints warnings and errors of the run when they happen, made safe for a terminal, and nothing less", () => {
    const { progress, written } = linesOf();
    progress.log({ seq: 1, level: "INFO", message: "started" });
    progress.log({ seq: 2, level: "ERROR", message: "first connection_failed: \u001b[2Jno\nhost" });
    progress.log({ seq: 3, level: "WARNING", message: "slow" });
    expect(written).toEqual(["error: first connection_failed: no\\nhost", "warning: slow"]);
  });
});

describe("the estimate of the time left", () => {
  it("goes down while nothing finishes, and ends where it was wrong", () => {
    const speed = new Speed();
    for (let done = 0; done <= 10; done += 1) speed.note(state({ done_rollouts: done }), 1000 * done);
    const left = (now: number): number | null => speed.remainingMs(state({ done_rollouts: 10 }), now);
    expect(left(10_000)).toBe(30_000);
    for (let now = 11_000; now <= 39_000; now += 1000) {
      speed.note(state({ done_rollouts: 10 }), now);
      expect(left(now)).toBe(40_000 - now);
    }
    expect(left(40_000)).toBeNull();
    speed.note(state({ done_rollouts: 11 }), 50_000);
    expect(left(50_000)).toBeGreaterThan(0);
  });

  it("is that of late, also where one finishes a minute", () => {
    const speed = new Speed();
    for (let done = 0; done <= 5; done += 1) speed.note(state({ done_rollouts: done }), 60_000 * done);
    expect(speed.remainingMs(state({ done_rollouts: 5 }), 300_000)).toBe(35 * 60_000);
    for (let done = 6; done <= 20; done += 1) speed.note(state({ done_rollouts: done }), 300_000 + 3_000 * (done - 5));
    expect(speed.remainingMs(state({ done_rollouts: 20 }), 345_000)).toBe(20 * 3_000);
  });

  it("is none while the run is paused, and that of the time since once it goes on", () => {
    const speed = new Speed();
    for (let done = 0; done <= 10; done += 1) speed.note(state({ done_rollouts: done }), 1000 * done);
    speed.note(state({ done_rollouts: 10, paused: { at: 1 } }), 11_000);
    expect(speed.remainingMs(state({ done_rollouts: 10 }), 11_000)).toBe(null);
    speed.note(state({ done_rollouts: 12, paused: { at: 1 } }), 12_000);
    expect(speed.remainingMs(state({ done_rollouts: 12 }), 12_000)).toBe(null);
    speed.note(state({ done_rollouts: 12 }), 600_000);
    speed.note(state({ done_rollouts: 20 }), 608_000);
    expect(speed.remainingMs(state({ done_rollouts: 20 }), 608_000)).toBe(20_000);
  });

  it("counts finished rollouts of examples that are under way", () => {
    const speed = new Speed();
    for (let finished = 0; finished <= 4; finished += 1) speed.note(state({ finished_rollouts: finished }), 1000 * finished);
    expect(speed.remainingMs(state(), 4_000)).toBe(36_000);
  });
});
