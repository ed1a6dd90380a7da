import { describe, expect, it } from "vitest";
import type { RunHead } from "../../../../durable-objects/run/state/head.ts";
import { isDue, sampled, type Standing } from "../../../../durable-objects/run/timeline/sampling.ts";
import type { Samples } from "../../../../durable-objects/run/timeline/samples.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const VITALS = { in_flight: 7, retries: 0, waiting: 0, paused_until: null };
const STANDING: Standing = { config: { max_concurrent: 8, rollouts_per_example: 1 }, vitals: VITALS, live: null };

/** A run at work with two of its units done. */
function headOf(changes: Partial<RunHead> = {}): RunHead {
  const run = new RuleRun({ num_examples: 4, max_concurrent: 4 });
  run.pin(4);
  const grant = run.grant("worker", 4);
  run.claim(grant, 1, { free: 4 });
  run.commit(grant, [0, 1], [summary({ reward: 1 })]);
  return { ...run.head, ...changes };
}
const taken = (before: Samples | null, head: RunHead, now: number, standing: Partial<Standing> = {}): Samples => {
  const after = sampled(before, head, { ...STANDING, ...standing }, now);
  if (after === null) throw new Error("nothing was another");
  return after;
};

describe("a sample is taken", () => {
  it("when the run begins, after each step, when it begins anew, and once when it has settled", () => {
    const head = headOf();
    expect([isDue(null, headOf({ phase: "preparing" }), 0), isDue(null, head, 1_000)]).toEqual([false, true]);
    const first = taken(null, head, 1_000);
    expect([isDue(first, head, 5_999), isDue(first, head, 6_000), isDue(first, { ...head, generation: 2 }, 1_001)]).toEqual([false, true, true]);
    const settled = { ...head, phase: "settled" as const, settled_at: 1_500 };
    expect(isDue(first, settled, 1_500)).toBe(true);
    const last = taken(first, settled, 1_500);
    expect(last.samples).toHaveLength(2);
    expect(isDue(last, settled, 9_999_999)).toBe(false);
  });

  it("of no evaluation that is pushed", () => {
    expect(isDue(null, headOf({ pushed: {} as NonNullable<RunHead["pushed"]> }), 0)).toBe(false);
  });

  it("only where something is another: a run that is paused for a day has no more of them", () => {
    const first = taken(null, headOf(), 1_000);
    expect(sampled(first, headOf(), STANDING, 90_000_000)).toBeNull();
  });
});

describe("a sample", () => {
  it("says what is done, what is in flight, and what requests wait for", () => {
    const limited = { bound: { kind: "requests", limit: 60, source: "told" }, base_url: "http://m/v1" } as const;
    const [waiting, paused, free] = [
      taken(null, headOf(), 1, { vitals: { ...VITALS, waiting: 3, limited } }),
      taken(null, headOf(), 1, { vitals: { ...VITALS, waiting: 3, paused_until: 2 } }),
      taken(null, headOf(), 1, { config: { max_concurrent: -1, rollouts_per_example: 3 }, vitals: { ...VITALS, limited, paused_until: 2 } }),
    ].map(({ samples }) => samples[0]);
    expect(waiting).toMatchObject({ t: 1, generation: 1, done: 2, in_flight: 7, waiting: 3, limit: 8, bound: "requests", bound_limit: 60 });
    expect(paused).toMatchObject({ bound: "pause", bound_limit: null });
    expect(free).toMatchObject({ done: 6, limit: null, bound: null, bound_limit: null });
    expect(taken(null, headOf(), 1, { vitals: null }).samples[0]).toMatchObject({ in_flight: null, waiting: null });
  });

  it("says the mean that the run said, and none while an object that has woken up is behind what was said before", () => {
    const live = (examples: number) => ({ order: "permuted", examples, mean: 2 / 3, ci95: [0.1, 0.9], range: null }) as const;
    const first = taken(null, headOf(), 1_000, { live: live(2_000) });
    expect(first.samples[0]).toMatchObject({ examples: 2_000, reward: 0.666667, lo: 0.1, hi: 0.9 });
    const behind = taken(first, headOf(), 6_000, { live: live(1_024) });
    expect(behind.samples[1]).toMatchObject({ examples: 2_000, reward: null, lo: null, hi: null });
    expect(taken(behind, headOf(), 11_000, { live: live(2_048) }).samples[2]).toMatchObject({ examples: 2_048, reward: 0.666667 });
    // Another generation may have fewer.
    expect(taken(first, headOf({ generation: 2 }), 6_000, { live: live(3) }).samples[1]).toMatchObject({ examples: 3, reward: 0.666667 });
  });

  it("of a settled run is of all of it; its time is never before the last one's", () => {
    const head = headOf({ phase: "settled", settled_at: 2_000, scores: { reward_ci95: [0.5, 1], pass_at_k: {} } });
    expect(taken(null, head, 1_000).samples[0]).toMatchObject({ t: 2_000, examples: 2, reward: 1, lo: 0.5, hi: 1 });
    const first = taken(null, headOf(), 9_000);
    expect(taken(first, headOf({ done: 3 }), 8_000).samples.map(({ t }) => t)).toEqual([9_000, 9_000]);
  });
});
