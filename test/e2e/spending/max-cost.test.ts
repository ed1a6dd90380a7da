import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { kill } from "../../support/cli/local-stack.ts";

/** What an answer of the scripted server costs, of 20 tokens in and 10 out at these prices. */
const PRICES = { input_usd_per_mtok: 1, output_usd_per_mtok: 1_000 };
const ANSWER_USD = 0.01002;
const THREE = { EDGEWISE_EXECUTORS: "3" };

/** The endpoint registry of the place, with what the model costs. */
function priced({ place }: Bench): void {
  mkdirSync(join(place.folder, "configs"), { recursive: true });
  const price = Object.entries(PRICES).map(([name, dollars]) => `${name} = ${dollars}`);
  writeFileSync(join(place.folder, "configs", "endpoints.toml"), `[[price]]\nmodel = "scripted"\n${price.join("\n")}\n`);
}

/** What the provider would bill: all that it has answered, whoever saw it. */
const billed = ({ model }: Bench): number => model.ledger.entries().filter(({ outcome }) => outcome === "answered").length * ANSWER_USD;
const asked = ({ model }: Bench): number => model.ledger.entries().length;

describe.concurrent("a run with --max-cost", () => {
  it(
    "ends in order at its budget with what it has, never above it, and goes on with more until every row is there once",
    { timeout: 120_000 },
    inPlace({ latency_ms: [20, 40] }, async (bench) => {
      priced(bench);
      const size = ["-n", "40", "-r", "2", "-t", "10", "-c", "8"];
      const first = await bench.place.run(bench.reverse(...size, "--max-cost", "0.30"), THREE);
      expect(first.code, first.stderr).toBe(1);
      expect(first.stderr).toMatch(/ended CANCELLED: max_cost \$0\.3000 is spent: \$0\.\d{4} settled; results so far are kept/);
      const { run_id, status, ended_by } = bench.metadata.edgewise;
      expect([status, ended_by]).toEqual(["CANCELLED", "budget"]);
      expect(first.stderr).toContain(`npx edgewise eval run reverse-text -R ${run_id} --max-cost 0.48`);
      expect(billed(bench)).toBeLessThanOrEqual(0.3);
      // Less than the calls of one wave is left.
      expect(billed(bench)).toBeGreaterThan(0.3 - 8 * 0.013);
      expect(bench.rows.every(({ error }) => error === null)).toBe(true);

      const again = await bench.place.run(["eval", "run", "reverse-text", "-R", String(run_id), "--max-cost", "2"], THREE);
      expect(again.code, again.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(40, 2));
      expect(bench.rows.every(({ error }) => error === null)).toBe(true);
      // What was paid for is paid for once.
      expect(asked(bench)).toBe(80);
      expect(billed(bench)).toBeCloseTo(80 * ANSWER_USD, 6);
      // All of it is counted when the command has ended, and nothing else.
      const got = await bench.place.run(["eval", "get", String(run_id), "-o", "json"]);
      const { budget } = (JSON.parse(got.stdout) as { readonly edgewise: { readonly budget: object } }).edgewise;
      expect(budget).toEqual({ settled_usd: expect.closeTo(80 * ANSWER_USD, 6), unseen_usd: 0, unseen_calls: 0 });
    }),
  );

  it(
    "is never above it through a kill -9, where calls whose end nobody saw count at the most that they can have cost, and says so",
    { timeout: 120_000 },
    inPlace({ latency_ms: [150, 250] }, async (bench) => {
      priced(bench);
      const cli = bench.place.start(bench.reverse("-n", "40", "-r", "1", "-t", "10", "-c", "8", "--max-cost", "0.30"));
      await until(() => asked(bench) >= 12, 30_000);
      await kill(bench.place, cli, "stack");
      const { run_id } = JSON.parse(readFileSync(join(bench.place.results, "metadata.json"), "utf8")).edgewise as { run_id: string };
      const second = await bench.place.run(["eval", "run", "reverse-text", "-R", run_id]);
      expect(second.code, second.stderr).toBe(1);
      expect(second.stderr).toMatch(/max_cost \$0\.3000 is spent: \$0\.\d{4} settled, at most \$0\.\d{4} of \d+ calls? whose end nobody saw/);
      const all = asked(bench) * ANSWER_USD;
      expect(all).toBeLessThanOrEqual(0.3);
      const third = await bench.place.run(["eval", "run", "reverse-text", "-R", run_id, "--max-cost", "2"]);
      expect(third.code, third.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(40, 1));
    }),
  );

  it(
    "loses what was under way when its server went away, and nothing more for as long as that is gone",
    { timeout: 120_000 },
    inPlace({ latency_ms: [40, 60] }, async (bench) => {
      priced(bench);
      const { place, model } = bench;
      const cli = place.start(bench.reverse("-n", "60", "-r", "1", "-t", "10", "-c", "2", "--max-cost", "5", "--no-preflight"));
      await until(() => asked(bench) >= 10, 30_000);
      await model.goDown();
      await cli.says(/answers nobody/, 30_000);
      // Asked at growing distances: five times by then.
      await sleep(8_000);
      await model.comeUp();
      expect(await cli.ended, cli.stderr()).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(60, 1));
      const got = await place.run(["eval", "get", String(bench.metadata.edgewise.run_id), "-o", "json"]);
      const { budget } = (JSON.parse(got.stdout) as { readonly edgewise: { readonly budget: { readonly unseen_calls: number } } }).edgewise;
      expect(budget.unseen_calls).toBeLessThanOrEqual(2);
    }),
  );

  it(
    "is refused by name where nobody knows what the model costs, or how long an answer may be, with what to type",
    { timeout: 60_000 },
    inPlace({}, async (bench) => {
      const unknown = await bench.place.run(bench.reverse("-n", "2", "-t", "10", "--max-cost", "1", "--no-preflight"));
      expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("max_cost: nobody knows what scripted costs")]);
      expect(unknown.stderr).toContain("[[price]]");
      priced(bench);
      const unbounded = await bench.place.run(bench.reverse("-n", "2", "--max-cost", "1", "--no-preflight"));
      expect([unbounded.code, unbounded.stderr]).toEqual([1, expect.stringContaining("max_cost: no token limit bounds an answer")]);
      expect(unbounded.stderr).toContain("-t 1024");
      expect(asked(bench)).toBe(0);
    }),
  );
});
