import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { kill } from "../../support/cli/local-stack.ts";
import type { JsonRow } from "../../support/results/results-check.ts";

const LONG = { timeout: 120_000 };
const again = (...more: readonly string[]): string[] => ["eval", "run", "reverse-text", ...more];
const calls = (bench: Bench): number => bench.model.ledger.stats().total;

/** Makes the folder of the bench one of `examples` examples, of which it has the rows that `keep` says: copies of one that was made, each under its number. */
function enlarge({ place }: Bench, examples: number, rollouts: number, keep: (example: number, rollout: number) => boolean): readonly string[] {
  const path = (name: string): string => join(place.results, name);
  const [first = ""] = readFileSync(path("results.jsonl"), "utf8").split("\n");
  const row = JSON.parse(first) as JsonRow;
  const lines: string[] = [];
  for (let example = 0; example < examples; example++) {
    for (let rollout = 0; rollout < rollouts; rollout++) {
      if (keep(example, rollout))
        lines.push(JSON.stringify({ ...row, example_id: example, rollout_index: rollout, answer: `as it was ${example}/${rollout}` }));
    }
  }
  writeFileSync(path("results.jsonl"), lines.map((line) => `${line}\n`).join(""));
  const metadata = JSON.parse(readFileSync(path("metadata.json"), "utf8")) as { edgewise: object };
  // The rows were not made of this data, which is only told.
  writeFileSync(path("metadata.json"), JSON.stringify({ ...metadata, num_examples: examples, edgewise: { ...metadata.edgewise, dataset_digest: null } }));
  rmSync(place.state, { recursive: true });
  return lines;
}

const linesOf = ({ place }: Bench): readonly string[] => readFileSync(join(place.results, "results.jsonl"), "utf8").trimEnd().split("\n");

describe.concurrent("a folder without its state", () => {
  it(
    "of more parts than one is taken over whole, and only what it lacks is asked for",
    LONG,
    inPlace({}, async (bench) => {
      const { place } = bench;
      await place.run(bench.reverse("-n", "3", "-r", "2"));
      const kept = enlarge(bench, 200, 2, (example, rollout) => example !== 7 && example < 190 && !(example === 50 && rollout === 1));
      const before = calls(bench);
      // Some 40 parts.
      const alone = await place.run(again("-R", place.results), { EDGEWISE_FOLDER_PART_BYTES: "8000" });
      expect(alone.code, alone.stderr).toBe(0);
      expect(calls(bench) - before).toBe(2 + 20 + 1);
      expect(keysOfRows(bench.rows)).toEqual(grid(200, 2));
      const after = new Set(linesOf(bench));
      for (const line of kept) expect(after.has(line), line.slice(0, 80)).toBe(true);
      expect((await place.run(again("-R", place.results))).stderr).toContain("has nothing left to do");
    }),
  );

  it(
    "is whole after a kill -9 in the middle, with every row as it was and nothing asked for twice that was answered",
    LONG,
    inPlace({ latency_ms: [40, 80] }, async (bench) => {
      const { place, model } = bench;
      await place.run(bench.reverse("-n", "3", "-r", "1"));
      const kept = enlarge(bench, 900, 1, (example) => example >= 60);
      const before = calls(bench);
      const folder = readFileSync(join(place.results, "results.jsonl"), "utf8");
      const killed = place.start(again("-R", place.results, "-c", "4"), { EDGEWISE_FOLDER_PART_BYTES: "8000" });
      await until(
        () => calls(bench) >= before + 8,
        30_000,
        () => `calls of:\n${killed.stdout()}${killed.stderr()}`,
      );
      const { over } = await kill(place, killed, "stack");
      await over;
      // Not one row of the folder is gone, whether all were taken over by then or not.
      const left = new Set(linesOf(bench));
      for (const line of folder.trimEnd().split("\n")) expect(left.has(line), line.slice(0, 80)).toBe(true);
      await until(
        () => model.ledger.stats().in_flight === 0,
        30_000,
        () => "an end of the requests",
      );
      const answered = calls(bench) - before;
      const on = await place.run(again("-R", place.results, "-c", "4"));
      expect(on.code, on.stderr).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(900, 1));
      const after = new Set(linesOf(bench));
      for (const line of kept) expect(after.has(line), line.slice(0, 80)).toBe(true);
      // What was under way at the kill, or not yet stored, may be asked for again.
      expect(calls(bench) - before).toBeLessThanOrEqual(60 + answered);
    }),
  );

  it(
    "is refused before anything is asked or written where a row is damaged, and taken once it is mended",
    LONG,
    inPlace({}, async (bench) => {
      const { place } = bench;
      await place.run(bench.reverse("-n", "3", "-r", "1"));
      const kept = enlarge(bench, 20, 1, (example) => example > 4);
      const path = join(place.results, "results.jsonl");
      const damaged = kept.map((line, index) => (index === 6 ? line.slice(0, 40) : line)).join("\n");
      writeFileSync(path, `${damaged}\n`);
      const before = calls(bench);
      const refused = await place.run(again("-R", place.results));
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("results.jsonl line 7 is not JSON");
      expect(calls(bench)).toBe(before);
      expect(readFileSync(path, "utf8")).toBe(`${damaged}\n`);
      writeFileSync(path, `${kept.join("\n")}\n`);
      const mended = await place.run(again("-R", place.results));
      expect(mended.code, mended.stderr).toBe(0);
      expect(calls(bench) - before).toBe(5);
      expect(keysOfRows(bench.rows)).toEqual(grid(20, 1));
    }),
  );
});
