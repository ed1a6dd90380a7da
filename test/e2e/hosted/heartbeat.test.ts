import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startHeartbeatServer } from "../../support/model-server/heartbeat-server.ts";
import { heartbeatsAt } from "../../support/model-server/heartbeats-seen.ts";
import { grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";

describe("eval run", () => {
  it(
    "has the service call a monitor, share the run among executors, and score when all is generated",
    { timeout: 60_000 },
    inPlace({ latency_ms: [20, 40] }, async (bench) => {
      const monitor = await startHeartbeatServer();
      try {
        const limits = ["--max-concurrent-generation", "4", "-w", "3", "-N", "--stall-minutes", "1"];
        const args = bench.reverse("-n", "30", "-r", "2", "-v", ...limits, "--heartbeat-url", `${monitor.url}/ping/s3cret`);
        const { code, stdout, stderr } = await bench.place.run(args);
        expect(code, stderr).toBe(0);
        expect(keysOfRows(bench.rows)).toEqual(grid(30, 2));
        const { peak_in_flight, total } = bench.model.ledger.stats();
        expect(total).toBe(60);
        expect(peak_in_flight).toBeLessThanOrEqual(4);

        const seen = await heartbeatsAt(monitor.url, "s3cret");
        expect(seen.total).toBeGreaterThanOrEqual(2);
        expect(seen.peak_in_flight).toBe(1);
        expect(new Set(seen.requests)).toEqual(new Set(["GET /ping/s3cret"]));

        const log = readFileSync(join(bench.place.results, "eval.log"), "utf8");
        const executors = new Set([...log.matchAll(/Granted \S+ to executor (\S+): units/g)].map(([, executor]) => executor));
        expect(executors.size).toBe(3);
        const files = readdirSync(bench.place.results).map((name) => readFileSync(join(bench.place.results, name), "utf8"));
        const written = [stdout, stderr, ...files, readFileSync(join(bench.place.state, "service.log"), "utf8")];
        for (const text of written) expect(text).not.toContain("s3cret");
      } finally {
        await monitor.close();
      }
    }),
  );

  it(
    "falls silent after a failure, and goes on when a monitor does not answer",
    { timeout: 60_000 },
    inPlace({ api_key: "another" }, async (bench) => {
      const monitor = await startHeartbeatServer();
      try {
        const { code } = await bench.place.run(bench.reverse("-n", "3", "--heartbeat-url", `${monitor.url}/ping/failed`));
        expect(code).not.toBe(0);
        expect((await heartbeatsAt(monitor.url, "failed")).total).toBe(0);
      } finally {
        await monitor.close();
      }
      bench.model.setScript({});
      const { code, stderr } = await bench.place.run(bench.reverse("-n", "3", "-o", "again", "--heartbeat-url", `${monitor.url}/ping/gone`));
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(`Heartbeat not taken: no connection to ${monitor.url}`);
      expect(stderr).not.toContain("/ping/gone");
    }),
  );
});
