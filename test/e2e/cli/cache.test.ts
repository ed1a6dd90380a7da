import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { type Bench, inPlace } from "../../support/cli/in-place.ts";
import { type JsonRow, jsonRows } from "../../support/results/results-check.ts";

const LONG = { timeout: 120_000 };
const calls = ({ model }: Bench): number => model.ledger.stats().total;
const folderOf = (stdout: string): string => /Results: (\S+)/.exec(stdout)?.[1] ?? "";

interface Made {
  readonly stdout: string;
  readonly rows: readonly JsonRow[];
  /** `results.jsonl` without what is each run's own: times, and how its calls were answered. */
  readonly same: string;
}

const timeless = (text: string): string => text.replace(/"timing":\{[^}]*\}/g, '"timing":{}').replace(/,"cache_usage":\{[^}]*\}/g, "");

async function made(bench: Bench, ...args: readonly string[]): Promise<Made> {
  const { code, stdout, stderr } = await bench.place.run(bench.reverse("--no-preflight", ...args));
  expect(code, stderr).toBe(0);
  const text = readFileSync(join(bench.place.folder, folderOf(stdout), "results.jsonl"), "utf8");
  return { stdout, rows: jsonRows(text), same: timeless(text) };
}

const cachedOf = ({ rows }: Made): number => rows.reduce((sum, { cache_usage: usage }) => sum + (usage as { cached: number }).cached, 0);

describe.concurrent("--cache read-write", () => {
  it(
    "asks each attempt once, at temperature 0 too, and a second run of 1,000 examples asks nothing: equal rows but for their times",
    { timeout: 240_000 },
    inPlace({ accuracy: 0.7 }, async (bench) => {
      const args = ["-n", "1000", "-r", "4", "-T", "0", "-c", "64", "--cache", "read-write"];
      const first = await made(bench, ...args);
      expect(calls(bench)).toBe(4000);
      expect(Math.max(...bench.model.ledger.calls().map(({ count }) => count))).toBe(4);
      expect(first.stdout).toContain("cached: 0 of 4,000 calls");
      const second = await made(bench, ...args);
      expect(calls(bench)).toBe(4000);
      expect(second.stdout).toContain("cached: 4,000 of 4,000 calls");
      expect(second.same).toBe(first.same);
      expect(second.rows.every(({ cache_usage: usage }) => JSON.stringify(usage).startsWith('{"calls":1,"cached":1,'))).toBe(true);
    }),
  );

  it(
    "lets one of two runs that begin together ask each question, and both have the answers",
    LONG,
    inPlace({ accuracy: 0.5, latency_ms: 60 }, async (bench) => {
      const args = bench.reverse("--no-preflight", "-n", "40", "-r", "2", "-c", "8", "--cache", "read-write");
      const both = await Promise.all([bench.place.run(args), bench.place.run(args)]);
      for (const { code, stderr } of both) expect(code, stderr).toBe(0);
      expect(calls(bench)).toBe(80);
      const [one = "", other = ""] = both.map(({ stdout }) => timeless(readFileSync(join(bench.place.folder, folderOf(stdout), "results.jsonl"), "utf8")));
      expect(one).not.toBe("");
      expect(other).toBe(one);
      const taken = both.map(({ stdout }) => Number(/cached: (\d+) of 80 calls/.exec(stdout)?.[1]));
      expect((taken[0] ?? 0) + (taken[1] ?? 0)).toBe(80);
    }),
  );

  it(
    "asks anew for another prompt, model or sampling argument, for what was cleared, and with the cache off",
    LONG,
    inPlace({ accuracy: 0.5 }, async (bench) => {
      const usual = ["-n", "3", "-r", "2", "--cache", "read-write"];
      const asked = async (...args: readonly string[]): Promise<number> => {
        const before = calls(bench);
        await made(bench, ...args);
        return calls(bench) - before;
      };
      expect(await asked(...usual)).toBe(6);
      expect(await asked(...usual)).toBe(0);
      // The third attempt of each example, and the fourth example.
      expect(await asked("-n", "4", "-r", "3", "--cache", "read-write")).toBe(6);
      expect(await asked(...usual, "-T", "0.5")).toBe(6);
      expect(await asked(...usual, "-t", "77")).toBe(6);
      expect(await asked(...usual, "-m", "other")).toBe(6);
      expect(await asked(...usual, "-a", '{"seed": 7}')).toBe(6);
      expect(await asked("-n", "3", "-r", "2")).toBe(6);
      const stats = await bench.place.run(["cache", "stats", "-o", "json"]);
      expect(JSON.parse(stats.stdout).data, stats.stderr).toMatchObject({ answers: 36, asking: 0 });
      const cleared = await bench.place.run(["cache", "clear", "--yes", "-m", "other"]);
      expect(cleared.stdout, cleared.stderr).toContain("Cleared: 6 answers");
      expect(await asked(...usual, "-m", "other")).toBe(6);
      expect(await asked(...usual)).toBe(0);
      expect((await bench.place.run(["cache", "clear", "--yes"])).stdout).toContain("Cleared: 36 answers");
      expect((await bench.place.run(["cache"])).stderr).toContain("No answers are kept");
      expect(await asked(...usual)).toBe(6);
    }),
  );

  it(
    "goes on after a kill without asking for what was answered, and -R may do without the cache",
    LONG,
    inPlace({ accuracy: 0.5, latency_ms: 40 }, async (bench) => {
      const args = bench.reverse("--no-preflight", "-n", "60", "-r", "2", "-c", "4", "--cache", "read-write");
      const killed = bench.place.start(args);
      await until(
        () => calls(bench) >= 50,
        20_000,
        () => killed.stderr(),
      );
      killed.child.kill("SIGKILL");
      await killed.ended;
      const resumed = await bench.place.run(["eval", "run", "reverse-text", "-R", bench.place.results]);
      expect(resumed.code, resumed.stderr).toBe(0);
      // Calls of the moment of the kill are made again, and of each lane an answer that its desk had not heard of; no others.
      expect(calls(bench)).toBeLessThanOrEqual(120 + 2 * 4);
      const before = calls(bench);
      const again = await made(bench, "-n", "60", "-r", "2", "--cache", "read-write");
      expect(calls(bench)).toBe(before);
      expect(cachedOf(again)).toBe(120);
      const grown = await bench.place.run(["eval", "run", "reverse-text", "-R", folderOf(again.stdout), "-n", "61", "--cache", "off"]);
      expect(grown.code, grown.stderr).toBe(0);
      expect(calls(bench)).toBe(before + 2);
      const rows = jsonRows(readFileSync(join(bench.place.folder, folderOf(grown.stdout), "results.jsonl"), "utf8"));
      expect(rows.map((row) => "cache_usage" in row)).toEqual([...Array.from({ length: 120 }, () => true), false, false]);
    }),
  );
});

it(
  "--cache read takes what is there and keeps nothing",
  LONG,
  inPlace({ accuracy: 0.5 }, async (bench) => {
    const read = ["-n", "3", "-r", "2", "--cache", "read"];
    await made(bench, ...read);
    await made(bench, ...read);
    expect(calls(bench)).toBe(12);
    const kept = await made(bench, "-n", "2", "-r", "2", "--cache", "read-write");
    expect(cachedOf(kept)).toBe(0);
    const part = await made(bench, ...read);
    expect([calls(bench), cachedOf(part)]).toEqual([18, 4]);
    expect(part.stdout).toContain("cached: 4 of 6 calls");
    const off = await made(bench, "-n", "2", "-r", "2");
    expect(off.rows.some((row) => "cache_usage" in row)).toBe(false);
    expect(off.stdout).not.toContain("cached:");
  }),
);
