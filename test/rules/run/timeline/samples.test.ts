import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FIRST_STEP_MS, isNews, MOST_SAMPLES, NO_SAMPLES, type Sample, type Samples, withSample } from "../../../../durable-objects/run/timeline/samples.ts";

const at = (t: number, done = t): Sample => ({
  ...{ t, done, generation: 1, errored: 0, in_flight: 1, waiting: 0, limit: 32, bound: null, bound_limit: null },
  ...{ examples: null, reward: null, lo: null, hi: null, input_tokens: 0, output_tokens: 0 },
});

describe("samples of a run", () => {
  it("are never more than 720, in their order, with the first and the newest among them, however long it goes on", () => {
    // Whoever notes them: by the clock as soon as one is due, and out of turn at any time.
    const waits = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 60_000 }), outOfTurn: fc.boolean() }), { minLength: 1, maxLength: 4_000, size: "max" });
    fc.assert(
      fc.property(waits, (all) => {
        let kept: Samples = NO_SAMPLES;
        let now = 0;
        const noted: Sample[] = [];
        for (const { ms, outOfTurn } of all) {
          now += outOfTurn ? ms : Math.max(ms, kept.step_ms);
          const sample = at(now);
          noted.push(sample);
          kept = withSample(kept, sample);
          expect(kept.samples.length).toBeLessThanOrEqual(MOST_SAMPLES);
          expect(kept.samples.at(-1)).toBe(sample);
        }
        expect(kept.samples[0]).toBe(noted[0]);
        const times = kept.samples.map(({ t }) => t);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        const known = new Set(noted);
        expect(kept.samples.every((sample) => known.has(sample))).toBe(true);
        expect(Number.isInteger(Math.log2(kept.step_ms / FIRST_STEP_MS))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("of a run that is sampled by the clock alone are evenly spread over all of it", () => {
    let kept: Samples = NO_SAMPLES;
    for (let now = 0; now < 7 * 86_400_000; now += kept.step_ms) kept = withSample(kept, at(now));
    const gaps = kept.samples.slice(1).map(({ t }, index) => t - (kept.samples[index]?.t ?? 0));
    expect(kept.samples.length).toBeGreaterThan(MOST_SAMPLES / 2);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * kept.step_ms);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(kept.step_ms / 2);
  });

  it("are news when anything but the time is another", () => {
    expect([isNews(at(1, 5), at(2, 5)), isNews(at(1, 5), at(2, 6))]).toEqual([false, true]);
  });
});
