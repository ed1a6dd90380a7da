import { describe, expect, it } from "vitest";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { corpusLines } from "../../../src/report/statistics/corpus-lines.ts";

const options = { rolloutsPerExample: 1, passThreshold: 0.5 };
const text = (nll: number, tokens: number, bytes: number, cluster?: string): RolloutSummary => ({
  reward: -nll / tokens,
  error: null,
  input_tokens: tokens,
  output_tokens: 1,
  truncated: false,
  metrics: { nll_sum: nll, nll_tokens: tokens, nll_bytes: bytes },
  ...(cluster === undefined ? {} : { cluster }),
});
const over = (texts: readonly RolloutSummary[], clustered = false) => {
  const aggregator = new Aggregator({ ...options, clustered });
  for (const each of texts) aggregator.addUnit([each]);
  return aggregator;
};

describe("a run that scored texts, as one corpus", () => {
  it("adds likelihoods and tokens first, and then takes the ratio", () => {
    const corpus = over([text(10, 5, 20), text(2, 4, 10)]).result().corpus;
    expect(corpus).toMatchObject({ texts: 2, nll: 12, tokens: 9, bytes: 30 });
    expect(corpus?.perplexity).toBeCloseTo(3.7937, 4);
    expect(corpus?.bits_per_byte).toBeCloseTo(12 / (Math.LN2 * 30), 10);
  });

  it("is the same in parts", () => {
    const texts = Array.from({ length: 40 }, (_, i) => text(5 + ((7 * i) % 11), 3 + (i % 5), 12 + (i % 9)));
    const whole = over(texts).result().corpus;
    const merged = over(texts.slice(0, 13));
    merged.merge(over(texts.slice(13)));
    const parts = merged.result().corpus;
    expect(parts?.perplexity).toBeCloseTo(whole?.perplexity ?? 0, 10);
    expect(parts?.perplexity_ci95?.[0]).toBeCloseTo(whole?.perplexity_ci95?.[0] ?? 0, 10);
  });

  it("has the interval of a ratio, which the bootstrap over texts gives too", () => {
    let seed = 1;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const texts = Array.from({ length: 300 }, () => {
      const tokens = 5 + Math.floor(random() * 60);
      return text(tokens * (2 + random() + random()), tokens, 4 * tokens);
    });
    const corpus = over(texts).result().corpus;
    const means: number[] = [];
    for (let draw = 0; draw < 2_000; draw++) {
      let [nll, tokens] = [0, 0];
      for (let i = 0; i < texts.length; i++) {
        const drawn = texts[Math.floor(random() * texts.length)]?.metrics;
        nll += drawn?.nll_sum ?? 0;
        tokens += drawn?.nll_tokens ?? 0;
      }
      means.push(Math.exp(nll / tokens));
    }
    means.sort((a, b) => a - b);
    const [low = 0, high = 0] = corpus?.perplexity_ci95 ?? [];
    expect(Math.abs(low - (means[50] ?? 0)) / (high - low)).toBeLessThan(0.1);
    expect(Math.abs(high - (means[1_949] ?? 0)) / (high - low)).toBeLessThan(0.1);
  });

  it("takes texts that share something for one observation", () => {
    const texts = Array.from({ length: 40 }, (_, i) => text(10 + 10 * (i % 4), 10, 40, String(i % 4)));
    const width = (ends: readonly [number, number] | null | undefined) => (ends ? ends[1] - ends[0] : Number.NaN);
    expect(width(over(texts, true).result().corpus?.perplexity_ci95)).toBeGreaterThan(2 * width(over(texts).result().corpus?.perplexity_ci95));
  });

  it("leaves out rollouts without likelihoods, and is nothing of other runs", () => {
    const errored: RolloutSummary = { ...text(1, 1, 1), reward: 0, error: "provider_error", metrics: {} };
    expect(over([text(10, 5, 20), errored]).result().corpus).toMatchObject({ texts: 1, perplexity_ci95: null });
    expect(over([errored]).result().corpus).toBeNull();
    expect(corpusLines(null)).toEqual([]);
  });

  it("is what a report leads with", () => {
    expect(corpusLines(over([text(10, 5, 20), text(2, 4, 10)]).result().corpus)).toEqual([
      "Corpus:",
      expect.stringMatching(/^perplexity: 3\.794 \(95 % from /),
      expect.stringMatching(/^bits per byte: 0\.577/),
      "scored: 9 tokens in 2 texts; the reward below weighs every text alike",
    ]);
  });
});
