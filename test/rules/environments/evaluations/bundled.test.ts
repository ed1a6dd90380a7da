import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { BLIMP_PARTS } from "../../../../src/environments/bundled/evaluations/blimp-parts.ts";
import { EVALUATIONS } from "../../../../src/environments/bundled/evaluations/evaluations.ts";
import { runExample, type ScriptedToken, testEnvironment } from "../../../../src/testing/index.ts";
import { EVALUATION_ROWS } from "../../../support/environments/evaluation-rows.ts";
import { findEnvironment } from "../../../../src/environments/definition/load.ts";

const definition = (id: string) => {
  const found = EVALUATIONS.find((each) => each.id === id);
  if (found === undefined) throw new Error(id);
  return found;
};

/** Answers to the row of each evaluation by generation that pass, and answers that do not. */
const ANSWERS: readonly (readonly [id: string, right: readonly string[], wrong: readonly string[]])[] = [
  ["mmlu", ["C", " c. eight"], ["B", ""]],
  ["squad", ["It was ANN REED."], ["Ann"]],
  ["sst2", ["1", " 1 (positive)"], ["0", "positive"]],
  ["siqa", ["A", "a"], ["B"]],
  ["winogrande", ["B"], ["A", "the box"]],
  ["mnli", ["2", "2 contradiction"], ["0", "1"]],
  ["qqp", ["1"], ["0"]],
  ["fever", ["S", "supported"], ["R", "N"]],
  ["arithmetic_integers", ["1430", "1,430.", "It is 1430, not 12"], ["143", "none"]],
];

describe("evaluations by generation", () => {
  it.each(ANSWERS)("%s tells right answers from wrong ones", async (id, right, wrong) => {
    const environment = testEnvironment(definition(id), { rows: [EVALUATION_ROWS[id] ?? {}] });
    for (const answer of right) expect((await runExample(environment, { answers: [answer] })).state.reward, answer).toBe(1);
    for (const answer of wrong) expect((await runExample(environment, { answers: [answer] })).state.reward, answer).toBe(0);
    expect(environment.samplingArgs).toMatchObject({ temperature: 0, top_p: 1 });
    expect(environment.samplingArgs.max_tokens).toBeGreaterThanOrEqual(10);
    expect(environment.samplingArgs.max_tokens).toBeLessThanOrEqual(50);
  });

  it.each(ANSWERS)("%s names a row of another form", async (id) => {
    const environment = testEnvironment(definition(id), { rows: [{ other: "x" }] });
    await expect(environment.getEvalDataset()).rejects.toMatchObject({ code: "dataset_unreadable", message: expect.stringContaining("row 0") });
  });

  it("ask a claim of fever once, however many pieces of evidence it has a row for", async () => {
    const evidence = (id: number, claim: string, evidence_id: number) => ({ id, claim, label: "SUPPORTS", evidence_id });
    const rows = [evidence(1, "Water is wet.", 7), evidence(1, "Water is wet.", 8), evidence(2, "Water is wet.", 9), evidence(3, "Ice is cold.", 1)];
    const inputs = await testEnvironment(definition("fever"), { rows }).getEvalDataset();
    expect(inputs.map(({ prompt, info }) => [String(prompt[0]?.content).split("\n")[0], info?.index])).toEqual([
      ["Claim: Water is wet.", 0],
      ["Claim: Water is wet.", 1],
      ["Claim: Ice is cold.", 2],
    ]);
  });

  it("leave arithmetic to the environment of that name", () => {
    expect(EVALUATIONS.map(({ id }) => id)).not.toContain("arithmetic");
    expect(findEnvironment("arithmetic")?.description).toContain("three levels");
  });
});

describe("blimp", () => {
  const rows: JsonObject[] = [
    { sentence_good: "The cats sleep.", sentence_bad: "The cats sleeps.", UID: "regular_plural_subject_verb_agreement_1" },
    { sentence_good: "Ann hurt herself.", sentence_bad: "Ann hurt himself.", UID: "anaphor_gender_agreement" },
    { sentence_good: "Tom hurt himself.", sentence_bad: "Tom hurt herself.", UID: "anaphor_gender_agreement" },
  ];
  const liking =
    (good: string) =>
    (text: string): readonly ScriptedToken[] => [
      [text.slice(0, 3), null],
      [text.slice(3), text === good ? -1 : -2],
    ];

  it("has 67 parts", () => expect(new Set(BLIMP_PARTS).size).toBe(67));

  it("asks which of two sentences is more likely, after nothing, in an order of its own", async () => {
    const environment = testEnvironment(definition("blimp"), { rows });
    const orders = [];
    for (const [example, row] of rows.entries()) {
      const { state } = await runExample(environment, { example, scores: liking(String(row.sentence_good)) });
      expect(state).toMatchObject({ reward: 1, metrics: { acc: 1, acc_token: 1, acc_bytes: 1, straddled: 0 }, info: { part: row.UID } });
      expect((await runExample(environment, { example, scores: liking(String(row.sentence_bad)) })).state.reward).toBe(0);
      orders.push(state.info?.correct);
    }
    expect(await testEnvironment(definition("blimp"), { rows }).getEvalDataset()).toEqual(await environment.getEvalDataset());
    expect(orders.every((place) => place === 0 || place === 1)).toBe(true);
  });

  it("takes one part, several, or so many pairs of each", async () => {
    const counted = async (args: JsonObject) => (await testEnvironment(definition("blimp"), { rows, args }).getEvalDataset()).map(({ answer }) => answer);
    expect(await counted({ part: "anaphor_gender_agreement" })).toEqual(["Ann hurt herself.", "Tom hurt himself."]);
    expect(await counted({ per_part: 1 })).toEqual(["The cats sleep.", "Ann hurt herself."]);
    expect(await counted({ parts: ["regular_plural_subject_verb_agreement_1"] })).toEqual(["The cats sleep."]);
    expect(() => testEnvironment(definition("blimp"), { rows, args: { part: "anaphor" } })).toThrow("argument part");
  });

  it("reads the parts of the Hub one after another, no further than it must", async () => {
    const further = { "nyu-mll/blimp": [1, 2, 3].map((n) => ({ sentence_good: `good ${n}`, sentence_bad: `bad ${n}` })) };
    const inputs = await testEnvironment(definition("blimp"), { further, args: { parts: ["wh_island", "causative"], per_part: 2 } }).getEvalDataset();
    expect(inputs.map(({ info, answer }) => [info?.part, answer])).toEqual([
      ["wh_island", "good 1"],
      ["wh_island", "good 2"],
      ["causative", "good 1"],
      ["causative", "good 2"],
    ]);
  });
});

describe("perplexity", () => {
  const scores = (text: string): readonly ScriptedToken[] => [
    ["", null],
    [text, -text.length],
  ];

  it("is of any column, without its empty texts, and of so many characters", async () => {
    const environment = testEnvironment(definition("perplexity"), { rows: [{ body: " " }, { body: "abc 😀" }], args: { column: "body", max_chars: 5 } });
    const { state } = await runExample(environment, { scores });
    expect(state.metrics).toMatchObject({ nll_sum: 4, nll_tokens: 1, nll_bytes: 4 });
    expect(await environment.getEvalDataset()).toHaveLength(1);
  });

  it("asks which texts where nobody says it", () => {
    expect(() => testEnvironment(definition("perplexity"))).toThrow("which texts? Name a data set");
  });

  it.each(["tinystories_ppl", "pes2o_ppl"])("%s reads another file too", async (id) => {
    const { state } = await runExample(testEnvironment(definition(id), { rows: [{ text: "Once." }] }), { scores });
    expect(state.reward).toBe(-5);
  });
});

describe("the page of evaluations", () => {
  it("names every one of them", () => {
    const page = readFileSync("docs/evaluations.md", "utf8");
    expect(EVALUATIONS.map(({ id }) => id).filter((id) => !page.includes(`\`${id}\``))).toEqual([]);
  });
});
