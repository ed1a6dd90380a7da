import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { importedAverages, wrongAverages } from "../../../src/metrics/stated-averages.ts";
import { wrongAveragesText } from "../../../src/report/statistics/wrong-averages.ts";
import { testData } from "../../support/results/test-data.ts";

const rows = { rollouts: 15, avg_reward: 1, avg_error: 0.2, avg_metrics: { close: 0.25, far: 3 } };

describe("averages that a folder states", () => {
  it("are shown beside those of the rows where the rows contradict them", () => {
    const stated = { avg_reward: 0, avg_error: 0.2, avg_metrics: { close: 0.5, far: 3 } };
    expect(wrongAverages(stated, rows)).toEqual([
      { name: "reward", stated: 0, recomputed: 1 },
      { name: "close", stated: 0.5, recomputed: 0.25 },
    ]);
  });

  it("are said in one line, so many of them", () => {
    expect(wrongAveragesText([])).toBeNull();
    expect(wrongAveragesText([{ name: "reward", stated: 0, recomputed: 1 }])).toBe("averages that metadata.json stated wrongly: reward 0.000 (rows: 1.000)");
    const many = Array.from({ length: 7 }, (_, i) => ({ name: `m${i}`, stated: 0, recomputed: 1 }));
    expect(wrongAveragesText(many)).toMatch(/m4 0\.000 \(rows: 1\.000\) and 2 more$/);
  });

  it("of 2025, with a key for each metric, are compared too", () => {
    expect(wrongAverages({ avg_reward: 1, avg_close: 0 }, rows)).toEqual([{ name: "close", stated: 0, recomputed: 0.25 }]);
  });

  it("of an imported run are those of the log too, by the names that its program gave means", () => {
    const imported = (stated: object): object => ({ avg_reward: 1, edgewise: { imported: { stated } } });
    expect(wrongAverages(importedAverages(imported({ reward: 0, "close/accuracy": 0.5, "close/stderr": 0.1, far: 3 })), rows)).toEqual([
      { name: "reward", stated: 0, recomputed: 1 },
      { name: "close", stated: 0.5, recomputed: 0.25 },
    ]);
    expect(importedAverages({ avg_reward: 1, edgewise: {} })).toBeNull();
  });

  it("are right when they differ by rounding, and not judged where nothing is stated or no row is there", () => {
    expect(wrongAverages({ avg_reward: 1 - 1e-9, avg_metrics: null }, rows)).toEqual([]);
    expect(wrongAverages({ avg_reward: null, avg_error: "none" }, rows)).toEqual([]);
    expect(wrongAverages([], rows)).toEqual([]);
    expect(wrongAverages({ avg_reward: 0.5 }, { ...rows, rollouts: 0 })).toEqual([]);
  });
});

const there = testData("verifiers-outputs");

describe.runIf(there !== null)("averages that real folders state", () => {
  it.each(there === null ? [] : readdirSync(there))("%s", (name) => {
    const folder = join(there ?? "", name);
    const aggregator = new Aggregator({ rolloutsPerExample: 1, passThreshold: 0.5 });
    for (const line of readFileSync(join(folder, "results.jsonl"), "utf8").trimEnd().split("\n")) aggregator.addUnit([summaryOfRow(JSON.parse(line))]);
    const found = wrongAverages(JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8")), aggregator.result());
    expect(found).toEqual(name.includes("stale-metadata") ? [{ name: "reward", stated: 0, recomputed: 1 }] : []);
  });
});
