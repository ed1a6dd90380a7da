import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packUnit, unpackUnit } from "../../../r2-layout/done-codec.ts";
import { envDigestOf } from "../../../src/config/env-digest.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../../../src/errors/codes.ts";
import { MAX_ROW_BYTES } from "../../../src/limits.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

// JSON has no negative zero.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
const tokens = fc.nat({ max: 2 ** 31 });
const cost = fc.record({ input_nano: fc.maxSafeNat(), output_nano: fc.maxSafeNat() });
const answered = { calls: fc.integer({ min: 1, max: 100 }), cached: fc.nat({ max: 100 }), input_tokens: tokens, output_tokens: tokens };
const code = fc.constantFrom(...(Object.keys(ROLLOUT_ERRORS) as RolloutErrorCode[]));
const rollout: fc.Arbitrary<RolloutSummary> = fc
  .record(
    {
      reward: number,
      error: fc.option(code),
      input_tokens: tokens,
      output_tokens: tokens,
      truncated: fc.boolean(),
      metrics: fc.dictionary(fc.oneof(fc.constantFrom("correct", "num_turns", "constructor", "__proto__"), fc.string()), number, {
        maxKeys: 5,
        noNullPrototype: true,
      }),
      final_input_tokens: tokens,
      final_output_tokens: tokens,
      env_digest: fc.constantFrom("a", "b").map((letter) => envDigestOf(letter.repeat(64))),
      cost,
      judges: fc.record(
        {
          requests: fc.integer({ min: 1, max: 100 }),
          input_tokens: tokens,
          output_tokens: tokens,
          priced: fc.tuple(cost, fc.integer({ min: 1, max: 100 })).map(([nano, requests]) => ({ requests, ...nano })),
        },
        { requiredKeys: ["requests", "input_tokens", "output_tokens"] },
      ),
      other_prompt: fc.constant(true as const),
      cache: fc.record({ ...answered, judges: fc.record(answered) }, { requiredKeys: ["calls", "cached", "input_tokens", "output_tokens"] }),
    },
    { requiredKeys: ["reward", "error", "input_tokens", "output_tokens", "truncated", "metrics"] },
  )
  .map((value) => value as RolloutSummary);

/** All rollouts of an example are of its group. */
const unit = fc
  .tuple(fc.array(rollout, { minLength: 1, maxLength: 6 }), fc.option(fc.string({ minLength: 1 }), { nil: undefined }))
  .map(([rollouts, cluster]) => (cluster === undefined ? rollouts : rollouts.map((each) => ({ ...each, cluster }))));

const plain = (reward: number, metrics: Record<string, number> = {}): RolloutSummary => ({
  reward,
  error: null,
  input_tokens: 0,
  output_tokens: 0,
  truncated: false,
  metrics,
});

function packed(rollouts: readonly RolloutSummary[], names: readonly string[] = []): { text: string; names: readonly string[] } {
  const result = packUnit(rollouts, names);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

describe("a done unit packed for a SQLite row", () => {
  it("comes back as it was, with a name table that only grows", () => {
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 5 }), (units) => {
        let names: readonly string[] = [];
        const texts = units.map((unit) => {
          const value = packed(unit, names);
          expect(value.names.slice(0, names.length)).toEqual(names);
          names = value.names;
          return value.text;
        });
        expect(new Set(names).size).toBe(names.length);
        expect(texts.map((text) => unpackUnit(text, names))).toEqual(units.map((value) => ({ ok: true, value })));
      }),
      { numRuns: 300 },
    );
  });

  it("keeps the order in which metrics first appear, since averages are listed in it", () => {
    const { text, names } = packed([plain(1, { b: 1, a: 2 }), plain(1, { c: 3, a: 4 })], ["a"]);
    const unpacked = unpackUnit(text, names);
    expect(unpacked.ok && unpacked.value.map(({ metrics }) => Object.entries(metrics))).toEqual([
      [
        ["b", 1],
        ["a", 2],
      ],
      [
        ["a", 4],
        ["c", 3],
      ],
    ]);
  });

  it("takes a few dozen bytes for one ordinary rollout", () => {
    const first = packed([{ ...plain(1, { correct_answer: 1, num_turns: 1 }), input_tokens: 312, output_tokens: 127 }]);
    expect(first.text).toBe("[1,[1],[312],[127],[],{},[[0,[1]],[1,[1]]]]");
    expect(first.names).toEqual(["correct_answer", "num_turns"]);
    expect(packed([plain(0.5)]).text).toBe("[1,[0.5],[0],[0]]");
  });

  it("is one of version 1 unless it knows of judges, prompts, a group, costs or the cache", () => {
    const judges = { requests: 2, input_tokens: 80, output_tokens: 3 };
    expect(packed([plain(1), { ...plain(0), judges }]).text).toBe("[2,[1,0],[0,0],[0,0],[],{},[],[[null,null],[null,null]],{},[[0,2],[0,80],[0,3]]]");
    expect(packed([plain(1), { ...plain(0), other_prompt: true }]).text).toBe("[2,[1,0],[0,0],[0,0],[],{},[],[[null,null],[null,null]],{},[],[1]]");
    expect(packed([{ ...plain(1), cluster: "2gosa7pa2gv" }]).text).toBe('[3,[1],[0],[0],[],{},[],[[null],[null]],{},[],[],"2gosa7pa2gv"]');
    const priced = { ...judges, priced: { requests: 1, input_nano: 5, output_nano: 6 } };
    expect(
      packed([
        { ...plain(1), cost: { input_nano: 7, output_nano: 8 } },
        { ...plain(0), judges: priced },
      ]).text,
    ).toBe("[4,[1,0],[0,0],[0,0],[],{},[],[[null,null],[null,null]],{},[[0,2],[0,80],[0,3]],[],null,[[7,null],[8,null],[0,1],[0,5],[0,6]]]");
    const cache = { calls: 2, cached: 1, input_tokens: 80, output_tokens: 3 };
    expect(packed([{ ...plain(1), cache }]).text).toBe("[5,[1],[0],[0],[],{},[],[[null],[null]],{},[],[],null,[],[[2],[1],[80],[3]]]");
    expect(unpackUnit("[1,[1],[312],[127],[],{},[[0,[1]]],[[300],[127]]]", ["only"])).toEqual({
      ok: true,
      value: [{ ...plain(1, { only: 1 }), input_tokens: 312, output_tokens: 127, final_input_tokens: 300, final_output_tokens: 127 }],
    });
  });

  it("leaves the name table alone when it has every name", () => {
    const names = ["a", "b"];
    expect(packed([plain(0, { b: 1 })], names).names).toBe(names);
    expect(packed([plain(0, { c: 1 })], names).names).toEqual(["a", "b", "c"]);
    expect(names).toEqual(["a", "b"]);
  });

  it("fits for 4,096 rollouts with ten metrics of full precision", () => {
    const metrics = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`metric_${i}`, -Math.PI * 10 ** -i]));
    const unit = Array.from({ length: 4_096 }, (_, i) => ({
      ...plain(-Math.E / (i + 1), metrics),
      error: "rate_limited" as const,
      input_tokens: 123_456,
      output_tokens: 65_432,
      truncated: true,
    }));
    const { text, names } = packed(unit);
    expect(new TextEncoder().encode(text).byteLength).toBeLessThan(MAX_ROW_BYTES);
    expect(unpackUnit(text, names)).toEqual({ ok: true, value: unit });
  });

  it("is refused with a code when it does not fit", () => {
    const metrics = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`metric_${i}`, Math.PI / (i + 1)]));
    const unit = Array.from({ length: 4_096 }, () => plain(1, metrics));
    expect(packUnit(unit, [])).toMatchObject({ ok: false, error: { code: "row_too_large", hint: expect.any(String) } });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("is refused with %d in it, which JSON would turn into null", (value) => {
    expect(packUnit([plain(value)], [])).toMatchObject({ ok: false, error: { code: "internal" } });
    expect(packUnit([plain(0), plain(0, { metric: value })], [])).toMatchObject({ ok: false, error: { code: "internal" } });
  });
});

describe("a stored unit that this version does not know", () => {
  it.each([
    ["a later version", "[6,[1],[0],[0]]", "stored_version_unknown"],
    ["something else", '{"reward":1}', "stored_version_unknown"],
    ["an error code of a later version", '[1,[1],[0],[0],[],{"gone_fishing":[0]}]', "stored_version_unknown"],
    ["half a text", "[1,[1],[0", "internal"],
    ["columns of different length", "[1,[1,2],[0],[0]]", "internal"],
    ["judges of fewer rollouts", "[2,[1,0],[0,0],[0,0],[],{},[],[[null,null],[null,null]],{},[[1],[2],[3]]]", "internal"],
    ["a missing column", "[1,[1],[0]]", "internal"],
    ["a metric without a name", "[1,[1],[0],[0],[],{},[[7,[1]]]]", "internal"],
  ])("is refused: %s", (_, text, code) => {
    expect(unpackUnit(text, ["only"])).toMatchObject({ ok: false, error: { code } });
  });
});
