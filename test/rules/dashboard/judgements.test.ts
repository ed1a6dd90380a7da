import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_DRAFT } from "../../../src/dashboard/pages/new-run/draft.ts";
import { keepsJudgements, withJudgements } from "../../../src/dashboard/pages/new-run/judgements/kept-judgements.ts";
import { judgementsOf } from "../../../src/dashboard/pages/rollout/scores/judgements-of.ts";

describe("what a row keeps of its judges", () => {
  it.each<[string, unknown, unknown]>([
    [
      "a map from prompts to answers",
      { "Is it?": "yes", "Is it that?": "" },
      [
        { shown: "Is it?", said: ["yes"] },
        { shown: "Is it that?", said: [""] },
      ],
    ],
    ["a map to all answers of what was asked several times", { Vote: ["yes", "no"] }, [{ shown: "Vote", said: ["yes", "no"] }]],
    ["a text", "yes", [{ shown: null, said: ["yes"] }]],
    [
      "a list",
      ["yes", { vote: 1 }],
      [
        { shown: null, said: ["yes"] },
        { shown: null, said: [{ vote: 1 }] },
      ],
    ],
    ["nothing", null, []],
    ["an empty map", {}, []],
    ["an object that is no such map", { score: 1, why: "so" }, null],
    ["a number", 7, null],
    ["a map to empty lists", { a: [] }, null],
  ])("is read where it is %s", (_, value, read) => {
    expect(judgementsOf(value)).toEqual(read);
  });

  it("is read whatever it is, and of a map nothing is lost, names that objects have of their own too", () => {
    expect(judgementsOf(JSON.parse('{"__proto__": "a", "constructor": "b"}'))).toEqual([
      { shown: "__proto__", said: ["a"] },
      { shown: "constructor", said: ["b"] },
    ]);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => judgementsOf(value)).not.toThrow();
      }),
    );
  });
});

describe("the tick of a new run that keeps what judges saw and said", () => {
  const columns = (text: string) => ({ ...EMPTY_DRAFT, options: { state_columns: { text } } });

  it("adds their column to those that are given, and takes only that away", () => {
    const kept = withJudgements(EMPTY_DRAFT, true);
    expect([keepsJudgements(EMPTY_DRAFT), kept.options, keepsJudgements(kept)]).toEqual([false, { state_columns: { text: "judge_response" } }, true]);
    expect(withJudgements(kept, false)).toEqual(EMPTY_DRAFT);
    expect(withJudgements(columns("turn"), true)).toEqual(columns("turn\njudge_response"));
    expect(withJudgements(columns("turn\njudge_response"), true)).toEqual(columns("turn\njudge_response"));
    expect(withJudgements(columns("judge_response\nturn"), false)).toEqual(columns("turn"));
  });

  it("leaves columns alone that nobody can read", () => {
    const broken = { ...EMPTY_DRAFT, options: { state_columns: { text: '{"a": 1', json: true as const } } };
    expect([keepsJudgements(broken), withJudgements(broken, true)]).toEqual([null, broken]);
  });
});
