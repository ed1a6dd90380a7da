import { describe, expect, it } from "vitest";
import { extractBoxedAnswer } from "../../../src/parsers/extract.ts";
import { Parser } from "../../../src/parsers/parser.ts";
import { MaybeThinkParser, ThinkParser } from "../../../src/parsers/think-parser.ts";
import { XMLParser } from "../../../src/parsers/xml-parser.ts";
import type { Message } from "../../../src/rollouts/types.ts";

/**
 * The cases of verifiers 0.1.14's own tests of its parsers (test_parser.py, test_xml_parser.py, test_think_parser.py,
 * test_maybe_think_parser.py), with their inputs and their expectations.
 */
const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });

describe("the plain parser", () => {
  const parser = new Parser();

  it("parses a text as it is", () => {
    expect(parser.parse("This is a test string")).toBe("This is a test string");
  });

  it("finds the assistant's messages of a completion", () => {
    const completion = [user("Hello"), assistant("Hi there"), user("How are you?"), assistant("I'm doing well")];
    expect(parser.getAssistantMessages(completion).map(({ content }) => content)).toEqual(["Hi there", "I'm doing well"]);
  });

  it.each([
    ["a text", "This is an answer", "This is an answer"],
    ["a completion", [user("What is 2+2?"), assistant("The answer is 4")], "The answer is 4"],
    ["an empty completion", [], null],
    ["a completion without an answer of the model", [user("Hello")], null],
  ])("answers with what is in %s", (_what, completion, answer) => {
    expect(parser.parseAnswer(completion)).toBe(answer);
  });

  it("is content with any form", () => {
    expect(parser.getFormatRewardFunc()({ completion: [assistant("test")] })).toBe(1);
  });
});

describe("the XML parser", () => {
  const parser = new XMLParser(["reasoning", "answer"]);
  const alternatives = new XMLParser(["reasoning", ["code", "answer"]]);

  it("has `answer` for its answer field", () => {
    expect(parser.answerField).toBe("answer");
  });

  it("names its fields in order, by the first of their alternatives", () => {
    expect(parser.getFields()).toEqual(["reasoning", "answer"]);
    expect(alternatives.getFields()).toEqual(["reasoning", "code"]);
  });

  it.each([
    [
      "fields on lines of their own",
      parser,
      "\n        <reasoning>\n        Let me think about this problem step by step.\n        </reasoning>\n        <answer>\n        The final answer is 42.\n        </answer>\n",
      { reasoning: "Let me think about this problem step by step.", answer: "The final answer is 42." },
    ],
    [
      "one of two alternatives, the other being null",
      alternatives,
      "<reasoning>\n First, I need to understand the problem.\n</reasoning>\n<code>\n def solve(): return 42\n</code>",
      { reasoning: "First, I need to understand the problem.", code: "def solve(): return 42", answer: null },
    ],
    ["a field that is missing", parser, "<reasoning>Only reasoning here</reasoning>", { reasoning: "Only reasoning here", answer: null }],
    ["empty fields", parser, "<reasoning></reasoning><answer></answer>", { reasoning: "", answer: "" }],
    ["content without the blanks around it", parser, "<answer>  spaced content  </answer>", { reasoning: null, answer: "spaced content" }],
  ])("parses %s", (_what, xml, text, fields) => {
    expect(xml.parse(text)).toEqual(fields);
  });

  it("answers with the last message's answer, with the last of a raw text, and with nothing where there is none", () => {
    const thought = assistant("<reasoning>Let me think</reasoning><answer>42</answer>");
    const again = assistant("<reasoning>Actually, let me reconsider</reasoning><answer>43</answer>");
    expect(parser.parseAnswer([user("Solve this problem"), thought, again])).toBe("43");
    expect(parser.parseAnswer("<answer>44</answer><reasoning>Actually, that's not right either.</reasoning><answer>45</answer>")).toBe("45");
    expect(parser.parseAnswer([assistant("<reasoning>Only reasoning here</reasoning>")])).toBeNull();
  });

  it("shows its form with every tag, alternatives together", () => {
    for (const tag of ["<reasoning>", "</reasoning>", "<answer>", "</answer>"]) expect(parser.getFormatStr()).toContain(tag);
    expect(alternatives.getFormatStr()).toContain("code | answer");
  });

  it("writes values in its form, under the field's own tag whatever name they came by", () => {
    const formatted = parser.format({ reasoning: "My reasoning", answer: "42" });
    expect(formatted).toContain("<reasoning>\nMy reasoning\n</reasoning>");
    expect(formatted).toContain("<answer>\n42\n</answer>");
    for (const value of [{ code: "print('hello')" }, { answer: "print('hello')" }])
      expect(alternatives.format({ reasoning: "test", ...value })).toContain("<code>\nprint('hello')\n</code>");
  });

  it("writes nothing without a value for each field", () => {
    expect(() => parser.format({ reasoning: "Only reasoning" })).toThrow(/Missing value for field/);
  });

  it("takes no field that is no tag and none twice, and may have none at all", () => {
    expect(() => new XMLParser(["valid", 123 as unknown as string])).toThrow(TypeError);
    expect(() => new XMLParser(["field1", "field1"])).toThrow(RangeError);
    expect(new XMLParser([]).getFields()).toEqual([]);
  });

  it("rewards its form with 0 to 1, and plain text with 0.2", () => {
    const score = parser.getFormatRewardFunc();
    const good = score({ completion: [assistant("<reasoning>Good reasoning</reasoning><answer>42</answer>")] });
    expect(good).toBeGreaterThanOrEqual(0);
    expect(good).toBeLessThanOrEqual(1);
    expect(score({ completion: [assistant("Just plain text without XML")] })).toBe(0.2);
  });
});

describe("the parser of models that always think", () => {
  const parser = new ThinkParser();
  const boxed = new ThinkParser(extractBoxedAnswer);

  it.each([
    [
      parser,
      "<think>\n        Let me think about this problem.\n        I need to consider multiple factors.\n        </think>\n        The final answer is 42.",
      "The final answer is 42.",
    ],
    [parser, "Just a simple answer without thinking tags.", ""],
    [
      parser,
      "<think>First thought</think>\n        Some intermediate text.\n        <think>Second thought</think>\n        Final answer here.",
      "Final answer here.",
    ],
    [boxed, "<think>\n        I need to solve this step by step.\n        </think>\n        The answer is \\boxed{42}.", "42"],
    [boxed, "<think>\n        Thinking about the problem.\n        </think>\n        Just a plain answer.", "Just a plain answer."],
    [parser, "<think>Some thinking</think>", ""],
    [
      parser,
      "<think>\n        Thinking process here.\n        </think>\n        \n        Answer with spaces around it.\n        \n        ",
      "Answer with spaces around it.",
    ],
  ])("%o parses %j as %j", (think, text, answer) => {
    expect(think.parse(text)).toBe(answer);
  });

  it.each([
    ["thinking and then an answer", ["<think>Let me think</think>Final answer"], 1],
    ["an answer without thinking", ["Just an answer without thinking"], 0],
    ["thinking twice", ["<think>First</think><think>Second</think>Answer"], 0],
    ["nothing after the thinking", ["<think>Only thinking</think>"], 0],
    [
      "two messages of three",
      ["<think>Good thinking</think>Good answer", "Bad answer without thinking", "<think>More thinking</think>Another good answer"],
      2 / 3,
    ],
  ])("rewards the form: %s", (_what, texts, reward) => {
    expect(parser.getFormatRewardFunc()({ completion: texts.map(assistant) })).toBe(reward);
  });

  it("rewards a completion without an answer of the model with something from 0 to 1", () => {
    expect(parser.getFormatRewardFunc()({ completion: [user("Question")] })).toBe(0);
  });

  it("answers with what follows the thinking, in messages and in a text", () => {
    expect(parser.parseAnswer([user("What is 2+2?"), assistant("<think>Let me calculate</think>The answer is 4")])).toBe("The answer is 4");
    expect(parser.parseAnswer("<think>Calculating...</think>Result: 42")).toBe("Result: 42");
  });
});

describe("the parser of models that may think", () => {
  const parser = new MaybeThinkParser();

  it.each([
    ["This is a test string without thinking tags", "This is a test string without thinking tags"],
    ["<think>This is a test string with thinking tags</think> This is the final answer", "This is the final answer"],
  ])("parses %j as %j", (text, answer) => {
    expect(parser.parse(text)).toBe(answer);
  });

  it.each([
    ["The answer is 4", "The answer is 4"],
    ["<think>This is a test string with thinking tags</think>The answer is 4", "The answer is 4"],
  ])("answers %j with %j", (text, answer) => {
    expect(parser.parseAnswer([user("What is 2+2?"), assistant(text)])).toBe(answer);
  });
});
