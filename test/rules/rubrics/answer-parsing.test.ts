import { describe, expect, it } from "vitest";
import type { Message } from "../../../src/rollouts/types.ts";
import { extractBoxedAnswer, extractHashAnswer } from "../../../src/parsers/extract.ts";
import { Parser } from "../../../src/parsers/parser.ts";
import { MaybeThinkParser, ThinkParser } from "../../../src/parsers/think-parser.ts";
import { XMLParser } from "../../../src/parsers/xml-parser.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { cpuMsOf } from "../../support/run/cpu-time.ts";

const says = (...texts: (string | null)[]): Message[] => texts.map((content) => ({ role: "assistant", content }));

describe("boxed and hash answers", () => {
  it.each([
    ["\\boxed{1} \\boxed{2{3}}", "2{3}", "2{3}"],
    ["\\boxed{}", "", ""],
    ["\\boxed{x}\\boxed{y", "\\boxed{x}\\boxed{y", ""],
    ["no box", "no box", ""],
    ["so \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}", "\\frac{1}{2}"],
  ])("%s", (text, lenient, strict) => {
    expect(extractBoxedAnswer(text)).toBe(lenient);
    expect(extractBoxedAnswer(text, { strict: true })).toBe(strict);
  });

  it("takes what stands between the first and the second ####", () => {
    expect(extractHashAnswer("9 * 2 = 18\n#### 18")).toBe("18");
    expect(extractHashAnswer("a #### 1 #### 2")).toBe("1");
    expect(extractHashAnswer("no mark")).toBe("no mark");
  });
});

// Cases of tests/test_parser.py, test_think_parser.py and test_maybe_think_parser.py.
describe("messages of a completion", () => {
  const completion: Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: "What is 2+2?" },
    { role: "assistant", content: "<think>Let me calculate</think>The answer is 4" },
    { role: "tool", tool_call_id: "1", content: "t" },
  ];

  it("are told apart by role", () => {
    const parser = new Parser();
    expect(parser.getSystemMessages(completion)).toEqual([completion[0]]);
    expect(parser.getUserMessages(completion)).toEqual([completion[1]]);
    expect(parser.getAssistantMessages(completion)).toEqual([completion[2]]);
    expect(parser.getToolMessages(completion)).toEqual([completion[3]]);
  });

  it.each([
    [new Parser(), "<think>Let me calculate</think>The answer is 4"],
    [new ThinkParser(), "The answer is 4"],
    [new MaybeThinkParser(), "The answer is 4"],
  ])("hold the answer that the parser finds in the last of the model's", (parser, answer) => {
    expect(parser.parseAnswer(completion)).toBe(answer);
    expect(parser.parseAnswer([])).toBeNull();
  });
});

describe("thinking", () => {
  it.each([
    ["<think>First thought</think>\nSome text.\n<think>Second thought</think>\nFinal answer here.", "Final answer here."],
    ["<think>\nprocess\n</think>\n\nAnswer with spaces around it.\n\n", "Answer with spaces around it."],
    ["<think>Some thinking</think>", ""],
    ["Just a simple answer without thinking tags.", ""],
  ])("%j ends before %j", (text, answer) => {
    expect(new ThinkParser().parse(text)).toBe(answer);
  });

  it("may be followed by a boxed answer, or by one that is not", () => {
    const parser = new ThinkParser(extractBoxedAnswer);
    expect(parser.parse("<think>\nstep by step\n</think>\nThe answer is \\boxed{42}.")).toBe("42");
    expect(parser.parse("<think>Thinking</think>\nJust a plain answer.")).toBe("Just a plain answer.");
  });
});

describe("the format as a reward function", () => {
  it("is named as in verifiers, and scores with the parser it came from", () => {
    const score = new ThinkParser().getFormatRewardFunc();
    expect(score.name).toBe("format_reward_func");
    const completion = says("<think>Good</think>Good answer", "Bad answer without thinking", "<think>More</think>Another good answer");
    expect(score({ completion })).toBeCloseTo(2 / 3, 12);
    expect(score({ completion: says("<think>First</think><think>Second</think>Answer") })).toBe(0);
    expect(new Parser().getFormatRewardFunc()({ completion: says("test") })).toBe(1);
    expect(new XMLParser(["reasoning", "answer"]).getFormatRewardFunc()({ completion: says("Just plain text without XML") })).toBeCloseTo(0.2, 12);
  });

  it("finds no messages in a raw text, and so no form", () => {
    const xml = new XMLParser(["answer"]);
    for (const parser of [xml, new ThinkParser()]) expect(parser.formatReward("<think>a</think><answer>1</answer>")).toBe(0);
    expect([new Parser().formatReward("x"), new MaybeThinkParser().formatReward("x")]).toEqual([1, 1]);
  });

  it("is a rubric's function as it stands", () => {
    expect(new Rubric([new ThinkParser().getFormatRewardFunc()]).metricNames()).toEqual(["format_reward_func"]);
  });
});

describe("parser", () => {
  it("takes the last assistant message, and its text parts joined by a space", () => {
    const parser = new Parser((text) => text.toUpperCase());
    expect(parser.parseAnswer("raw")).toBe("RAW");
    expect(parser.parseAnswer([...says("first", "second"), { role: "user", content: "no" }])).toBe("SECOND");
    const parts = [
      { type: "text", text: "a" },
      { type: "image_url", image_url: { url: "data:," } },
      { type: "text", text: "b " },
    ];
    expect(parser.parseAnswer([{ role: "assistant", content: parts }])).toBe("A B");
    expect(parser.parseAnswer(says(null))).toBe("");
    expect(parser.parseAnswer([{ role: "user", content: "x" }])).toBeNull();
    expect(parser.formatReward(says("anything"))).toBe(1);
  });

  it("cuts the thinking off; without it a ThinkParser has nothing, a MaybeThinkParser everything", () => {
    const text = "<think>a</think> b </think> \\boxed{4} ";
    expect(new ThinkParser(extractBoxedAnswer).parseText(text)).toBe("4");
    expect(new ThinkParser().parseText("no thinking")).toBe("");
    expect(new MaybeThinkParser().parseText(" no thinking ")).toBe("no thinking");
    expect(new MaybeThinkParser().parseText("<think>x</think> y")).toBe("y");
  });

  it("think format: one pair, at the start, with something after it", () => {
    const parser = new ThinkParser();
    expect(parser.formatReward(says("<think>a</think> "))).toBe(1);
    expect(parser.formatReward(says("<think>a</think>"))).toBe(0);
    expect(parser.formatReward(says("x<think>a</think>b"))).toBe(0);
    expect(parser.formatReward(says("<think>a</think>b", "no"))).toBe(0.5);
    expect(parser.formatReward([])).toBe(0);
    expect(new MaybeThinkParser().formatReward(says("no"))).toBe(1);
  });
});

describe("XML parser", () => {
  const parser = new XMLParser(["reasoning", ["answer", "code"]]);

  it("reads each alternative by itself, first or last, across lines and trimmed", () => {
    const text = "<reasoning>\n a \n</reasoning><code>c</code><answer>1</answer><answer> 2 </answer>";
    expect(parser.parse(text)).toEqual({ reasoning: "a", answer: "1", code: "c" });
    expect(parser.parse(text, { last: true }).answer).toBe("2");
    expect(parser.parse("<Answer>x</Answer>").answer).toBeNull();
    expect(parser.getFields()).toEqual(["reasoning", "answer"]);
  });

  it("answers with the last match of a text, and of messages with the first match in the last one that has any", () => {
    expect(parser.parseAnswer("<answer>1</answer><answer>2</answer>")).toBe("2");
    expect(parser.parseAnswer(says("<answer>0</answer>", "<answer>1</answer><answer>2</answer>", "none"))).toBe("1");
    expect(parser.parseAnswer(says("<answer>1</answer>", "<answer></answer>"))).toBe("");
    expect(parser.parseAnswer(says("none"))).toBeNull();
  });

  it("answers with the answer field's own tag, never an alternative of it, and with nothing where no field has that tag", () => {
    const alternative = new XMLParser(["reasoning", ["code", "answer"]]);
    for (const text of ["<answer>1</answer><code>2</code>", "<code>2</code><answer>1</answer>"]) {
      expect([parser.parseAnswer(text), parser.parseAnswer(says(text))]).toEqual(["1", "1"]);
      expect([alternative.parseAnswer(text), alternative.parseAnswer(says(text))]).toEqual(["1", "1"]);
    }
    expect([parser.parseAnswer("<code>2</code>"), parser.parseAnswer(says("<code>2</code>"))]).toEqual([null, null]);
    for (const none of [new XMLParser(["reasoning"]), new XMLParser(["answer"], { answerField: "guess" })])
      expect([none.parseAnswer("<answer>1</answer><guess>2</guess>"), none.parseAnswer(says("<answer>1</answer><guess>2</guess>"))]).toEqual([null, null]);
  });

  it("writes its form and refuses a missing value", () => {
    expect(parser.getFormatStr()).toBe("<reasoning>\n...\n</reasoning>\n<[ answer | code ]>\n...\n</[ answer | code ]>");
    expect(parser.format({ reasoning: "r", code: "c" })).toBe("<reasoning>\nr\n</reasoning>\n<answer>\nc\n</answer>");
    expect(() => parser.format({ reasoning: "r" })).toThrow(/Missing value for field: answer/);
  });

  it("refuses fields without a tag, fields named twice and what is no tag; no fields at all are allowed", () => {
    expect(() => new XMLParser([[]])).toThrow(RangeError);
    expect(() => new XMLParser(["a", ["a", "b"]])).toThrow(/named twice/);
    for (const field of [123, null, ["a", 1], {}]) expect(() => new XMLParser(["valid", field as unknown as string])).toThrow(TypeError);
    expect(new XMLParser([]).getFields()).toEqual([]);
    expect(new XMLParser([]).formatReward(says("<a>1</a>"))).toBe(0);
  });

  // Cases of tests/test_xml_parser.py.
  it("reads what is there, an empty field as empty and a missing one as null", () => {
    const plain = new XMLParser(["reasoning", "answer"]);
    expect(plain.answerField).toBe("answer");
    expect(plain.parse("\n<reasoning>\nLet me think.\n</reasoning>\n<answer>\nIt is 42.\n</answer>\n")).toEqual({
      reasoning: "Let me think.",
      answer: "It is 42.",
    });
    expect(plain.parse("<reasoning></reasoning><answer></answer>")).toEqual({ reasoning: "", answer: "" });
    expect(plain.parse("<reasoning>Only this</reasoning>")).toEqual({ reasoning: "Only this", answer: null });
    expect(plain.parse("<answer>  spaced content  </answer>").answer).toBe("spaced content");
    expect(plain.parseAnswer(says("<reasoning>Only this</reasoning>"))).toBeNull();
  });

  it("writes the field's own tag for a value that came under an alternative", () => {
    const other = new XMLParser(["reasoning", ["code", "answer"]]);
    expect(other.format({ reasoning: "r", answer: "print('hello')" })).toBe("<reasoning>\nr\n</reasoning>\n<code>\nprint('hello')\n</code>");
    expect(other.getFormatStr()).toContain("code | answer");
    expect(other.parse("<code>c</code>")).toEqual({ reasoning: null, code: "c", answer: null });
  });

  it.each([
    [["<reasoning>a</reasoning><answer>b</answer>"], 1],
    [["<reasoning>\na\n</reasoning>\n<answer>\nb\n</answer>"], 1],
    [["<reasoning></reasoning><answer></answer>"], 1],
    [["plain"], 0.2],
    [[""], 0.2],
    [["<answer>"], 0.2],
    [["<answer>b</answer>"], 0.6],
    [["<reasoning>a</reasoning>"], 0.6],
    [["<answer>b</answer><reasoning>a</reasoning>"], 0.6],
    [["x<reasoning>a</reasoning><answer>b</answer>y"], 0.6],
    [["<reasoning>a<answer>b</answer>"], 1],
    [["<reasoning>a</reasoning><answer>b</answer>", "plain"], 0.6],
  ])("format of %j is %d", (texts, score) => {
    expect(new XMLParser(["reasoning", "answer"]).formatReward(says(...texts))).toBeCloseTo(score, 12);
  });

  it("an alternative tag counts as its field, and no message is no form", () => {
    expect(new XMLParser(["reasoning", ["code", "answer"]]).formatReward(says("<reasoning>a</reasoning><code>c</code>"))).toBeCloseTo(1, 12);
    expect(parser.formatReward([])).toBe(0);
  });

  it("stays quick on a model that repeats an open tag for ever", async () => {
    expect(await cpuMsOf(() => expect(parser.parseAnswer("<answer>".repeat(50_000))).toBeNull())).toBeLessThan(1_000);
  });
});
