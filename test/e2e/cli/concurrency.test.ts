import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { until } from "../../support/cli/cli-process.ts";
import { clock } from "../../support/cli/local-stack.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";

const THREE = { EDGEWISE_EXECUTORS: "3" };

describe("-c is the number of requests in flight at the model server", () => {
  it.each([
    { c: 32, r: 4, n: 80, env: {} },
    { c: 9, r: 4, n: 40, env: {} },
    { c: 2, r: 8, n: 8, env: {} },
    { c: 6, r: 64, n: 5, env: THREE },
  ])("-c $c -r $r, $n examples, $env: never more, and as many where there is work", async ({ c, r, n, env }) => {
    await inPlace({ latency_ms: [30, 50] }, async (bench) => {
      // Nothing is answered before there are as many, however long a slow machine takes to send them.
      const release = bench.model.hold();
      const cli = bench.place.start(bench.reverse("-c", String(c), "-r", String(r), "-n", String(n)), env);
      await until(
        () => bench.model.ledger.stats().in_flight === c,
        30_000,
        () => `${c} requests in flight:\n${cli.stderr()}`,
      );
      release();
      expect(await cli.ended, cli.stderr()).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(n, r));
      expect(bench.model.ledger.stats()).toMatchObject({ peak_in_flight: c, total: n * r, repeated: n * (r - 1) });
    })();
  });
});

/** Longer than the local lease and its grace (src/cli/service/local-workers.ts), so that the grant has lapsed when the runtime wakes up. */
const FREEZE_MS = 9000;

describe.concurrent("-c holds when a grant lapses", () => {
  const [C, R, N] = [6, 4, 60];
  const run = (bench: Bench): string[] => bench.reverse("-c", String(C), "-r", String(R), "-n", String(N));
  /** Process of the runtime, with all its requests in flight: from now on answers take `latencyMs`, so none of them ends by itself. */
  const inFlight = async (bench: Bench, latencyMs: number): Promise<number> => {
    await until(() => bench.model.ledger.stats().total >= 40, 20_000);
    const since = clock();
    bench.model.setScript({ latency_ms: latencyMs });
    await until(() => bench.model.ledger.entries().filter(({ start_ms }) => start_ms > since).length === C, 20_000);
    return readLock(bench.place.state)?.workerd_pid ?? 0;
  };
  const check = (bench: Bench): void => {
    expect(keysOfRows(bench.rows)).toEqual(grid(N, R));
    expect(bench.rows.filter(({ error }) => error !== null)).toEqual([]);
    const { peak_in_flight, outcomes } = bench.model.ledger.stats();
    expect(peak_in_flight).toBe(C);
    // What was open was cut, and asked again.
    expect(outcomes.aborted).toBeGreaterThan(0);
  };

  it(
    "since the runtime was frozen and woke up with its requests still open",
    { timeout: 90_000 },
    inPlace({ latency_ms: [60, 100] }, async (bench) => {
      const cli = bench.place.start(run(bench), THREE);
      // Answers come after the lapse: the requests are still open when it wakes up.
      const runtime = await inFlight(bench, FREEZE_MS + 2000);
      process.kill(runtime, "SIGSTOP");
      await sleep(FREEZE_MS);
      bench.model.setScript({ latency_ms: [60, 100] });
      process.kill(runtime, "SIGCONT");
      expect(await cli.ended, cli.stderr()).toBe(0);
      check(bench);
    }),
  );

  it(
    "since the runtime died, and another one took its place under the same command",
    { timeout: 90_000 },
    inPlace({ latency_ms: [60, 100] }, async (bench) => {
      const cli = bench.place.start(run(bench), THREE);
      process.kill(await inFlight(bench, 5000), "SIGKILL");
      bench.model.setScript({ latency_ms: [60, 100] });
      expect(await cli.ended, cli.stderr()).toBe(0);
      check(bench);
    }),
  );
});
