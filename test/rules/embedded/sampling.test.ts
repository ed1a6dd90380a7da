import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { renderQuestion } from "../../../src/embedded-model/chat-template.ts";
import { generate } from "../../../src/embedded-model/generate.ts";
import type { EmbeddedModel } from "../../../src/embedded-model/model.ts";
import { argMax, draw, logSoftmax, samplingDistribution, SeededRandom } from "../../../src/embedded-model/sampling.ts";
import { END_OF_TEXT } from "../../../src/embedded-model/vocabulary.ts";
import { committedModel } from "../../support/clients/committed-model.ts";

const HOT = { temperature: 1, topP: 1 };
const QUESTION = renderQuestion("what is 345 times 67?");

let model: EmbeddedModel;
beforeAll(async () => {
  model = await committedModel();
});

/** Tokens of one answer, the end of the text included when it came, and the log-probability of each. */
function answer(seed: number, options = HOT, maxTokens = 8): { ids: number[]; logProbabilities: number[]; end: "stop" | "length" } {
  const session = model.session();
  const logits = session.prefill(model.encode(QUESTION));
  const tokens = generate(session, logits, { ...options, random: new SeededRandom(seed), maxTokens });
  const ids: number[] = [];
  const logProbabilities: number[] = [];
  for (;;) {
    const next = tokens.next();
    if (next.done === true) return { ids, logProbabilities, end: next.value };
    ids.push(next.value.id);
    logProbabilities.push(next.value.logProbabilities[next.value.id] ?? Number.NaN);
  }
}

describe("log-probabilities", () => {
  it("sum to one at each position, of every prompt", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 30 }), (text) => {
        for (const logits of model.session().prefillEvery(model.encode(text))) {
          const sum = logSoftmax(logits).reduce((total, value) => total + Math.exp(value), 0);
          expect(Math.abs(sum - 1)).toBeLessThan(1e-12);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("of an answer multiply to what the chain rule gives from the logits, however they were computed", () => {
    const { ids, logProbabilities } = answer(3);
    expect(ids.length).toBeGreaterThan(2);
    const product = Math.exp(logProbabilities.reduce((sum, value) => sum + value, 0));
    // By definition, without this project's softmax: each text from the start, by the whole text's last logits.
    let expected = 1;
    for (const [index, id] of ids.entries()) {
      const logits = model.session().prefill([...model.encode(QUESTION), ...ids.slice(0, index)]);
      expected *= Math.exp(logits[id] ?? Number.NaN) / logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    }
    expect(product / expected).toBeCloseTo(1, 12);
  });

  it("are those of the model itself at any temperature", () => {
    const [cold, hot] = [answer(1, { temperature: 0, topP: 1 }), answer(1, { temperature: 0.01, topP: 0.5 })];
    expect(hot).toEqual(cold);
    expect(cold.logProbabilities.every((value) => value < 0)).toBe(true);
  });

  it("keep huge logits finite", () => {
    expect(Array.from(logSoftmax(Float64Array.of(1e300, 0)))).toEqual([0, -1e300]);
    expect(Array.from(samplingDistribution(Float64Array.of(1, 0), { temperature: 1e-300, topP: 1 }))).toEqual([1, 0]);
  });
});

describe("sampling", () => {
  it("at temperature 0 follows the most probable token at every step", () => {
    const session = model.session();
    const path: number[] = [];
    for (let logits = session.prefill(model.encode(QUESTION)); path.length < 8; logits = session.step(path.at(-1) ?? END_OF_TEXT)) {
      const best = logits.indexOf(Math.max(...logits));
      if (best === END_OF_TEXT) break;
      path.push(best);
    }
    expect(answer(1, { temperature: 0, topP: 1 }).ids).toEqual(path);
    expect(path.length).toBeGreaterThan(2);
  });

  it("is the same for one seed and differs between seeds", () => {
    expect(answer(7)).toEqual(answer(7));
    expect(new Set(Array.from({ length: 30 }, (_, seed) => answer(seed).ids.join())).size).toBeGreaterThan(5);
  });

  it("matches the model's own distribution in 10,000 samples (chi-square, p > 0.001)", () => {
    const logits = model.session().prefill(model.encode(`${QUESTION}23`));
    const expected = logSoftmax(logits).map(Math.exp);
    const counts = new Float64Array(expected.length);
    const random = new SeededRandom(2026);
    const distribution = samplingDistribution(logits, HOT);
    for (let i = 0; i < 10_000; i++) {
      const id = draw(distribution, random.next());
      counts[id] = (counts[id] ?? 0) + 1;
    }
    const { statistic, cells } = chiSquare(counts, expected, 10_000);
    expect(cells).toBeGreaterThan(4);
    expect(statistic).toBeLessThan(chiSquareLimit(cells - 1));
  });

  it("of whole answers matches the products of their probabilities in 10,000 samples", () => {
    // The first two tokens of an answer, as one outcome.
    const session = model.session();
    const first = session.prefill(model.encode(QUESTION));
    const p1 = logSoftmax(first).map(Math.exp);
    const size = model.vocabulary.size;
    const expected = new Float64Array(size * size);
    const second = Array.from(p1, (_, id) => session.fork().step(id));
    for (const [a, p] of p1.entries())
      for (const [b, q] of logSoftmax(second[a] ?? first)
        .map(Math.exp)
        .entries())
        expected[a * size + b] = p * q;
    const counts = new Float64Array(size * size);
    const random = new SeededRandom(5);
    for (let i = 0; i < 10_000; i++) {
      const a = draw(samplingDistribution(first, HOT), random.next());
      const b = draw(samplingDistribution(second[a] ?? first, HOT), random.next());
      counts[a * size + b] = (counts[a * size + b] ?? 0) + 1;
    }
    const { statistic, cells } = chiSquare(counts, expected, 10_000);
    expect(cells).toBeGreaterThan(5);
    expect(statistic).toBeLessThan(chiSquareLimit(cells - 1));
  });

  it("draws by temperature: flatter when hot, sharper when cold, and p to the power of 1/T up to a factor", () => {
    const logits = Float64Array.of(2, 1, 0);
    for (const temperature of [0.5, 1, 2]) {
      const powers = logSoftmax(logits).map((value) => Math.exp(value) ** (1 / temperature));
      const total = powers.reduce((sum, value) => sum + value, 0);
      const distribution = samplingDistribution(logits, { temperature, topP: 1 });
      for (const [index, power] of powers.entries()) expect(distribution[index]).toBeCloseTo(power / total, 12);
    }
  });

  it("keeps the fewest tokens that reach top_p, at least one", () => {
    const logits = Float64Array.of(0.1, 0.5, 0.15, 0.25).map(Math.log);
    const kept = (topP: number): number[] => Array.from(samplingDistribution(logits, { temperature: 1, topP }), (value) => Math.round(value * 1e6) / 1e6);
    expect(kept(1)).toEqual([0.1, 0.5, 0.15, 0.25]);
    expect(kept(0.7)).toEqual([0, 0.666667, 0, 0.333333]);
    expect(kept(0.4)).toEqual([0, 1, 0, 0]);
    expect(kept(0)).toEqual([0, 1, 0, 0]);
    // Of equal ones the first.
    expect(Array.from(samplingDistribution(Float64Array.of(1, 1), { temperature: 1, topP: 0.4 }))).toEqual([1, 0]);
  });

  it("draws every token for its share of the unit interval, and never one without a share", () => {
    const distribution = Float64Array.of(0, 0.25, 0, 0.75, 0);
    expect([0, 0.2499, 0.25, 0.5, 1 - 2 ** -53].map((uniform) => draw(distribution, uniform))).toEqual([1, 1, 3, 3, 3]);
    expect(draw(Float64Array.of(0.5, 0.4999999999999999, 0), 1 - 2 ** -53)).toBe(1);
    expect(argMax(Float64Array.of(-3, -1, -1))).toBe(1);
  });

  it("takes numbers of [0, 1) from a seed, as even as chance has them", () => {
    const random = new SeededRandom(9);
    const bins = new Float64Array(16);
    for (let i = 0; i < 16_000; i++) {
      const value = random.next();
      expect(value >= 0 && value < 1).toBe(true);
      const bin = Math.floor(value * 16);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    expect(chiSquare(bins, new Float64Array(16).fill(1 / 16), 16_000).statistic).toBeLessThan(chiSquareLimit(15));
    expect(new SeededRandom(2 ** 40).next()).not.toBe(new SeededRandom(0).next());
  });
});

/** Pearson's statistic; outcomes expected less than five times are counted as one. */
function chiSquare(counts: Float64Array, shares: Float64Array, total: number): { statistic: number; cells: number } {
  let statistic = 0;
  let cells = 0;
  let [rareCount, rareShare] = [0, 0];
  const addCell = (count: number, expected: number): void => {
    statistic += (count - expected) ** 2 / expected;
    cells++;
  };
  for (const [index, share] of shares.entries()) {
    const count = counts[index] ?? 0;
    if (share * total >= 5) addCell(count, share * total);
    else {
      rareCount += count;
      rareShare += share;
    }
  }
  if (rareShare * total >= 1) addCell(rareCount, rareShare * total);
  return { statistic, cells };
}

/** The 99.9th percentile of chi-square with that many degrees of freedom (Wilson and Hilferty's approximation, within one percent). */
function chiSquareLimit(degrees: number): number {
  const spread = 2 / (9 * degrees);
  return degrees * (1 - spread + 3.0902 * Math.sqrt(spread)) ** 3;
}
