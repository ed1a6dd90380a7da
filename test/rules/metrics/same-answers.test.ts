import { describe, expect, it } from "vitest";
import { compareTables } from "../../../src/metrics/comparison/compare-tables.ts";
import { ScoreTableBuilder } from "../../../src/metrics/comparison/score-table.ts";

const answered = (calls: number, cached: number) => ({ calls, cached, input_tokens: 0, output_tokens: 0 });

/** Three examples with two rollouts each; `said` by example and rollout. */
function tableOf(said: (example: number, rollout: number) => string, cached: ((example: number) => number) | null) {
  const builder = new ScoreTableBuilder({ trusted: true });
  for (let example = 0; example < 3; example++)
    for (let rollout = 0; rollout < 2; rollout++) {
      const usage = cached === null ? {} : { cache_usage: answered(1, cached(example)) };
      const text = said(example, rollout);
      builder.add(
        { example_id: example, prompt: `q${example}`, completion: [text], reward: text.length % 2, error: null, metrics: {}, ...usage },
        2 * example + rollout + 1,
      );
    }
  return builder.table();
}

const comparisonOf = (...[a, b]: [ReturnType<typeof tableOf>, ReturnType<typeof tableOf>]) =>
  compareTables(a, [b], { range: [0, 1], unpaired: false, shown: 0 })[0];
const usual = (example: number, rollout: number): string => "x".repeat(example + rollout);

describe("two runs that share answers", () => {
  it("differ by exactly nothing there, which is said with how many they are", () => {
    const whole = comparisonOf(
      tableOf(usual, () => 0),
      tableOf(usual, () => 1),
    );
    expect(whole?.metrics.map(({ difference }) => difference)).toEqual([0]);
    expect(whole?.warnings).toEqual([expect.stringMatching(/^6 answers are the same answers in both runs, from the cache/)]);
    const part = comparisonOf(
      tableOf(usual, () => 0),
      tableOf(
        (example, rollout) => (example === 2 ? "another" : usual(example, rollout)),
        (example) => (example === 2 ? 0 : 1),
      ),
    );
    expect(part?.warnings).toEqual([expect.stringMatching(/^4 answers are/)]);
  });

  it("do not where equal answers were asked for each time, or where one of them has no cache", () => {
    expect(
      comparisonOf(
        tableOf(usual, () => 0),
        tableOf(usual, () => 0),
      )?.warnings,
    ).toEqual([]);
    expect(
      comparisonOf(
        tableOf(usual, null),
        tableOf(usual, () => 1),
      )?.warnings,
    ).toEqual([]);
    expect(comparisonOf(tableOf(usual, null), tableOf(usual, null))?.warnings).toEqual([]);
  });
});
