import { describe, expect, it } from "vitest";
import { Ceilings } from "../../../../durable-objects/limiter/ceilings/ceilings.ts";
import { isMaterial, type Knowledge, knowledgeOf } from "../../../../durable-objects/limiter/ceilings/knowledge.ts";
import type { Refusal, Sightings } from "../../../../durable-objects/limiter/limiter-control.ts";
import { sightings } from "../../../support/limiting/sightings.ts";

const NOTHING = sightings();
const REFUSAL: Refusal = { kind: "rate_limited", ago_ms: 0, named: null, named_limit: null, retry_after_ms: null, told: null, in_flight: 4 };
const KNOWN: Knowledge = { version: 1, limits: { requests: { limit: 500, source: "found", untrue: 1_000 }, concurrent: { limit: 8, source: "told" } } };

const ceilings = (knowledge: Knowledge | null = null, start: number | null = null) => new Ceilings(knowledge, 0, { start });
const refused = (refusal: Partial<Refusal>): Sightings => ({ ...NOTHING, sent: 1, rate_limited: 1, refusals: [{ ...REFUSAL, ...refusal }] });
const E = { executor: "e", in_flight: 4 };

describe("what is known", () => {
  it("is nothing at first, so that nothing is limited", () => {
    expect(ceilings().at(0)).toEqual({ limits: {}, pause_until: null, probe: false, start: null });
  });

  it("of an earlier life is held at once, and survives being stored", () => {
    const { limits, start } = ceilings(knowledgeOf(JSON.parse(JSON.stringify(KNOWN))), 64).at(0);
    expect(limits.requests).toMatchObject({ limit: 500, source: "found" });
    expect(limits.requests?.pace).toBeLessThan(500);
    expect(limits.concurrent).toEqual({ limit: 8, source: "told", pace: 8 });
    expect(start).toBeNull();
    expect(ceilings(KNOWN).knowledge().limits.requests).toEqual({ limit: 500, source: "found", untrue: 1_000 });
  });

  it.each([null, 7, {}, { version: 2, limits: {} }, { version: 1 }])("is nothing where what is stored is not understood: %j", (stored) => {
    expect(knowledgeOf(stored)).toBeNull();
  });

  it("leaves out numbers that are no limit", () => {
    expect(knowledgeOf({ version: 1, limits: { requests: { limit: -1, source: "found" }, tokens: { limit: 5, source: "given" } } })).toEqual({
      version: 1,
      limits: {},
    });
  });

  it("is worth a write when it comes, goes, or moves by more than a twentieth", () => {
    const at = (limit: number): Knowledge => ({ version: 1, limits: { requests: { limit, source: "found" } } });
    expect([isMaterial(null, at(100)), isMaterial(at(100), at(104)), isMaterial(at(100), at(106)), isMaterial(at(100), { version: 1, limits: {} })]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });
});

describe("what a person gave", () => {
  it("is never exceeded, and holds beside what was found", () => {
    const one = ceilings(KNOWN);
    one.give({ requests: 100, concurrent: 20 });
    expect(one.at(0).limits.requests).toEqual({ limit: 100, source: "given", pace: 100 });
    expect(one.at(0).limits.concurrent).toMatchObject({ limit: 8, source: "told" });
    one.give(null);
    expect(one.at(0).limits.requests?.source).toBe("found");
  });
});

describe("what the endpoint says", () => {
  it("in headers is a limit before anything is refused", () => {
    const one = ceilings();
    one.heard({ ...NOTHING, sent: 1, accepted: 1, told: { tokens: { limit: 90_000, remaining: 89_000, reset_ms: null } } }, E, 1_000);
    expect(one.at(1_000).limits.tokens).toMatchObject({ limit: 90_000, source: "told" });
  });

  it("is not believed again where it was found to be wrong", () => {
    const one = ceilings(KNOWN);
    one.heard({ ...NOTHING, sent: 1, accepted: 1, told: { requests: { limit: 1_000, remaining: 900, reset_ms: null } } }, E, 1_000);
    expect(one.at(1_000).limits.requests).toMatchObject({ limit: 500, source: "found" });
  });

  it("is wrong by the same factor when the limit changes", () => {
    const one = ceilings(KNOWN);
    one.heard({ ...NOTHING, sent: 1, accepted: 1, told: { requests: { limit: 2_000, remaining: 1_900, reset_ms: null } } }, E, 1_000);
    expect(one.at(1_000).limits.requests).toMatchObject({ limit: 1_000, source: "found" });
  });

  it("about when to come again holds for everybody", () => {
    const one = ceilings();
    one.heard(refused({ retry_after_ms: 20_000, ago_ms: 100 }), E, 10_000);
    expect(one.at(10_000).pause_until).toBe(29_900);
    expect(one.at(29_900).pause_until).toBeNull();
  });

  it.each([365 * 86_400_000, Number.POSITIVE_INFINITY])(
    "about when to come again holds for ten minutes at most, also where it says %s ms",
    (retry_after_ms) => {
      const one = ceilings();
      one.heard(refused({ retry_after_ms }), E, 10_000);
      expect(one.at(10_000).pause_until).toBe(610_000);
    },
  );

  it("in the words of a refusal names the kind that is cut, and its limit", () => {
    const one = ceilings();
    for (let now = 1_000; now <= 60_000; now += 1_000) {
      one.heard({ ...NOTHING, sent: 10, accepted: 10, used: { input_tokens: 5_000, output_tokens: 500 } }, E, now);
    }
    one.heard(refused({ named: "input_tokens", named_limit: 300_000 }), E, 60_500);
    for (let now = 61_000; now <= 66_000; now += 500) one.heard({ ...NOTHING, over_ms: 500, sent: 1, accepted: 1 }, E, now);
    expect(one.at(66_000).limits).toEqual({ input_tokens: expect.objectContaining({ limit: 300_000, source: "told" }) });
  });
});

describe("an endpoint of which nothing is known", () => {
  it("is begun with few requests in flight: twice as many after each round that is refused nothing, and no bound once it bounds nobody", () => {
    const one = ceilings(null, 4);
    expect(one.at(0).start).toBe(4);
    one.heard({ ...NOTHING, sent: 4, accepted: 4 }, E, 1_000);
    expect(one.at(1_000).start).toBe(8);
    one.heard({ ...NOTHING, sent: 8, accepted: 8 }, { executor: "e", in_flight: 3 }, 2_000);
    expect(one.at(2_000).start).toBeNull();
  });

  it("draws one breath for everybody at its first refusals, and then is held to less", () => {
    const one = ceilings(null, 64);
    one.heard({ ...NOTHING, sent: 40 }, { executor: "e", in_flight: 40 }, 1_000);
    const refusals = Array.from({ length: 12 }, () => ({ ...REFUSAL, in_flight: 40 }));
    one.heard({ ...NOTHING, rate_limited: 12, refusals, over_ms: 200 }, { executor: "e", in_flight: 40 }, 1_200);
    const { pause_until, start, limits } = one.at(1_200);
    expect(pause_until).toBeGreaterThan(1_200);
    expect(start).toBeNull();
    expect(limits.requests?.pace).toBeLessThan(40 * 60);
  });

  it("is held to nothing by a refusal among many that are taken, but for the pause that it asks for", () => {
    const one = ceilings(null, 64);
    one.heard({ ...NOTHING, sent: 40, accepted: 30 }, { executor: "e", in_flight: 10 }, 1_000);
    one.heard({ ...refused({ in_flight: 10, retry_after_ms: 2_000 }), over_ms: 200 }, { executor: "e", in_flight: 9 }, 1_200);
    expect(one.at(1_200)).toMatchObject({ limits: {}, probe: false });
    expect(one.at(1_200).pause_until).toBeGreaterThan(2_900);
    expect(one.at(3_300)).toMatchObject({ limits: {}, pause_until: null });
    expect(one.knowledge().limits).toEqual({});
  });

  it("that refuses everything is asked once after each wait, the longest of a quarter of a minute", () => {
    const one = ceilings();
    let now = 1_000;
    one.heard({ ...NOTHING, sent: 40 }, { executor: "e", in_flight: 40 }, now);
    let longest = 0;
    for (let asked = 0; asked < 60; asked++) {
      one.heard({ ...refused({ in_flight: 0 }), over_ms: 200 }, { executor: "e", in_flight: 0 }, now);
      const { pause_until } = one.at(now);
      longest = Math.max(longest, (pause_until ?? now) - now);
      now = (pause_until ?? now) + 1_000;
    }
    expect(one.at(now).probe).toBe(true);
    expect(longest).toBe(15_000);
  });
});
