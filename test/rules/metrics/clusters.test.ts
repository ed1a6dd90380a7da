import { describe, expect, it } from "vitest";
import { packUnit, unpackUnit } from "../../../r2-layout/done-codec.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";
import { aggregatorOf, runFacts } from "../../../src/exports/run-facts.ts";
import { ClusterKey } from "../../../src/executor/preparation/cluster-key.ts";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import { ClusteredMean } from "../../../src/metrics/one-run/clustered-mean.ts";
import { clusterOf, MOST_GROUPS } from "../../../src/metrics/one-run/cluster-groups.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { PlainReport } from "../../../src/report/plain-report.ts";

const HEADER = { env_id: "e", model: "m", base_url: "", num_examples: 30, rollouts_per_example: 2, pass_threshold: 0.5, cluster_by: "source.passage" };
const ROWS = Array.from({ length: 60 }, (_, i) => ({
  example_id: Math.floor(i / 2),
  rollout_index: i % 2,
  prompt: "q",
  reward: (i * i) % 7 < 3 ? 1 : 0,
  metrics: { length: i % 11 },
  info: { source: { passage: `a passage of many words, number ${Math.floor(i / 10)}` } },
}));

describe("groups of examples", () => {
  it("give the same numbers from what the ledger keeps as from the rows", () => {
    const ofLedger = new Aggregator({ rolloutsPerExample: 2, passThreshold: 0.5, clustered: true });
    let names: readonly string[] = [];
    for (let i = 0; i < ROWS.length; i += 2) {
      const packed = packUnit(
        ROWS.slice(i, i + 2).map((row) => summaryOfRow(row, HEADER.cluster_by)),
        names,
      );
      if (!packed.ok) throw new Error(packed.error.message);
      ({ names } = packed.value);
      expect(packed.value.text).not.toContain("passage");
      const unpacked = unpackUnit(packed.value.text, names);
      if (unpacked.ok) ofLedger.addUnit(unpacked.value);
    }
    const report = new PlainReport(HEADER);
    const metadata = { env_id: "e", model: "m", rollouts_per_example: 2, edgewise: { run_id: "0000abcd", cluster_by: HEADER.cluster_by } };
    const facts = runFacts(metadata);
    if (facts === null) throw new Error("no facts");
    const verified = aggregatorOf(facts);
    for (const row of ROWS) {
      report.addRow(row);
      verified.add(row);
    }
    const numbers = ofLedger.result();
    expect(numbers).toMatchObject({ n_clusters: 6, reward_ci95: [expect.any(Number), expect.any(Number)] });
    expect(report.result()).toEqual(numbers);
    expect(verified.result()).toEqual(numbers);
  });

  it("beyond those that are told apart are put to one of them, and the interval holds", () => {
    const mean = new ClusteredMean([0, 1]);
    const examples = 3 * MOST_GROUPS;
    for (let i = 0; i < examples; i++) mean.addExample([i % 3 === 0 ? 1 : 0], clusterOf({ info: { id: i } }, "id"));
    const { n, stderr, ci95 } = mean.estimate();
    expect(n).toBe(MOST_GROUPS);
    // Of examples that share nothing.
    const alone = Math.sqrt(((1 / 3) * (2 / 3)) / examples);
    expect(Math.abs((stderr ?? 0) / alone - 1)).toBeLessThan(0.05);
    expect(ci95?.[0]).toBeLessThan(1 / 3);
    expect(ci95?.[1]).toBeGreaterThan(1 / 3);
  });
});

describe("the key of a run's groups", () => {
  const input = (info: RolloutInput["info"], answer = ""): RolloutInput =>
    ({ example_id: 0, prompt: [], answer, task: "t", ...(info === undefined ? {} : { info }) }) as RolloutInput;
  const seen = (cluster_by: string | undefined, inputs: readonly RolloutInput[], state_columns: readonly string[] = []): (() => void) => {
    const key = new ClusterKey({ ...(cluster_by === undefined ? {} : { cluster_by }), state_columns });
    for (const each of inputs) key.see(each);
    return () => key.check(inputs.length);
  };

  it("has rows to be found in: the refusal names the columns there are", () => {
    const inputs = [input({ passage: 1, level: "hard" }), input({ source: { page: 2 } }, "a")];
    for (const key of [undefined, "passage", "level", "source.page", "answer", "task", "example_id", "prompt"])
      expect(seen(key, inputs), String(key)).not.toThrow();
    expect(seen("pasage", inputs)).toThrow(/cluster_by: none of 2 examples has "pasage" \(did you mean passage\?\)/);
    expect(seen("metrics", inputs)).toThrow(
      expect.objectContaining({
        code: "cluster_key_unknown",
        hint: expect.stringMatching(/^Their columns are example_id, prompt, task, passage, level, answer, source\./),
      }),
    );
    // What rollouts make no example can tell.
    expect(seen("topic", inputs, ["topic"])).not.toThrow();
    expect(seen("topic.name", inputs, ["topic"])).not.toThrow();
    // An empty data set is refused for that, if at all.
    expect(seen("topic", [])).not.toThrow();
  });
});
