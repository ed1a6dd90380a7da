import { describe, expect, it } from "vitest";
import { Parser } from "../../../src/parsers/parser.ts";
import { XMLParser } from "../../../src/parsers/xml-parser.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { Message, RolloutInput, State } from "../../../src/rollouts/types.ts";
import type { RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";

/**
 * The cases of verifiers 0.1.14's own tests of its rubrics (test_rubric.py, test_rubric_group.py), with their inputs and their
 * expectations. A completion is messages here, where some of theirs are texts.
 */
const now = (): number => 0;
const options = { now };

function stateOf(text: string, input: Partial<RolloutInput> = {}, completion: Message[] = [{ role: "assistant", content: text }]): State {
  const whole = { example_id: 0, prompt: [{ role: "user", content: "test prompt" }], task: "default", answer: "test", ...input } as RolloutInput;
  const state = createState(whole, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  state.completion = completion;
  return state;
}

const said = ({ completion }: RewardContext): string => String(completion.at(-1)?.content);
const func1 = (): number => 1;
const func2 = (): number => 0.5;

describe("a rubric", () => {
  it("may be made of nothing, and has the plain parser", async () => {
    const rubric = new Rubric();
    expect(rubric.metricNames()).toEqual([]);
    expect(rubric.parser.constructor).toBe(Parser);
    const state = stateOf("a");
    await rubric.scoreGroup([state], options);
    expect([state.reward, state.metrics]).toEqual([0, {}]);
  });

  it("has its functions in order, and the parser it was given", () => {
    const parser = new Parser();
    const rubric = new Rubric([func1, func2], { weights: [1, 0.5], parser });
    expect(rubric.metricNames()).toEqual(["func1", "func2"]);
    expect(rubric.parser).toBe(parser);
  });

  it.each([
    ["1 without weights", undefined, 1.5],
    ["the ones given", [0.8, 0.2], 0.9],
    ["above 1 too", [2, 3], 3.5],
  ])("weighs its functions: %s", async (_what, weights, reward) => {
    const state = stateOf("test");
    await new Rubric([func1, func2], weights === undefined ? {} : { weights }).scoreGroup([state], options);
    expect(state.reward).toBeCloseTo(reward, 12);
  });

  it.each([
    ["with a weight", 0.8, 0.8],
    ["with weight 1 where none is given", undefined, 1],
  ])("takes functions later, %s", async (_what, weight, reward) => {
    const rubric = new Rubric([], { weights: [] });
    rubric.addRewardFunc(func1, weight);
    const state = stateOf("test");
    await rubric.scoreRollout(state, options);
    expect([rubric.metricNames(), state.reward]).toEqual([["func1"], reward]);
  });

  it("takes several functions later", async () => {
    const rubric = new Rubric();
    rubric.addRewardFunc(func1, 1);
    rubric.addRewardFunc(func2, 0.3);
    const state = stateOf("test");
    await rubric.scoreRollout(state, options);
    expect(rubric.metricNames()).toEqual(["func1", "func2"]);
    expect(state.reward).toBeCloseTo(1.15, 12);
  });

  it("scores one rollout by the weighted sum of what its functions say", async () => {
    const same = (context: RewardContext): number => (said(context) === context.answer ? 1 : 0);
    const length = (context: RewardContext): number => said(context).length * 0.1;
    const state = stateOf("test");
    await new Rubric([same, length], { weights: [1, 0.5] }).scoreRollout(state, options);
    expect([state.metrics, state.reward]).toEqual([{ same: 1, length: 0.4 }, 1 + 0.4 * 0.5]);
  });

  it("hands a function all messages of the completion", async () => {
    const messages = ({ completion }: RewardContext): number => completion.length;
    const completion: Message[] = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi there!" },
    ];
    const state = stateOf("", {}, completion);
    await new Rubric([messages]).scoreRollout(state, options);
    expect([state.metrics, state.reward]).toEqual([{ messages: 2 }, 2]);
  });

  it("scores several rollouts together", async () => {
    const accuracy = (context: RewardContext): number => (said(context) === context.answer ? 1 : 0);
    const length = (context: RewardContext): number => said(context).length;
    const states = ["answer1", "answer2", "wrong"].map((text, index) => stateOf(text, { answer: `answer${index + 1}`, example_id: index }));
    await new Rubric([accuracy, length], { weights: [1, 0.1] }).scoreGroup(states, options);
    expect(states.map(({ metrics }) => metrics)).toEqual([
      { accuracy: 1, length: 7 },
      { accuracy: 1, length: 7 },
      { accuracy: 0, length: 5 },
    ]);
  });

  it("scores no rollouts at all without a word", async () => {
    await new Rubric([func1], { weights: [1] }).scoreGroup([], options);
  });

  it("hands a function an empty info where the example has none, and the example's where it has", async () => {
    const seen: unknown[] = [];
    const look = ({ info }: RewardContext): number => seen.push(info);
    await new Rubric([look]).scoreGroup([stateOf("a")], options);
    await new Rubric([look]).scoreRollout(stateOf("a", { info: { extra: 123 } }), options);
    expect(seen).toEqual([{}, { extra: 123 }]);
  });

  it("runs its functions in order", async () => {
    const calls: string[] = [];
    const called = (name: string, score: number) => ({ name, fn: () => score * Math.sign(calls.push(name)) });
    const state = stateOf("a");
    await new Rubric([called("g1", 0.2), called("g2", 0.3)], { weights: [1, 1] }).scoreRollout(state, options);
    expect(state.reward).toBeCloseTo(0.5, 12);
    expect(calls).toEqual(["g1", "g2"]);
  });
});

describe("a group of rubrics", () => {
  const scored = async (group: Rubric, ...states: State[]): Promise<State[]> => {
    await group.scoreGroup(states, options);
    return states;
  };

  it("is a rubric with at least one in it", () => {
    expect(new RubricGroup([new Rubric()])).toBeInstanceOf(Rubric);
    expect(() => new RubricGroup([])).toThrow(/at least one/);
  });

  it("has the functions of all of them in order, each with its own weight", async () => {
    const func3 = (): number => 0.3;
    const group = new RubricGroup([new Rubric([func1, func2], { weights: [1, 0.7] }), new Rubric([func3], { weights: [0.8] })]);
    expect(group.metricNames()).toEqual(["func1", "func2", "func3"]);
    const [state] = await scored(group, stateOf("2"));
    expect(state?.reward).toBeCloseTo(1 + 0.5 * 0.7 + 0.3 * 0.8, 12);
    expect(state?.metrics).toEqual({ func1: 1, func2: 0.5, func3: 0.3 });
  });

  it("adds a function to the first of them", async () => {
    const [first, second] = [new Rubric([func1], { weights: [1] }), new Rubric()];
    const added = (): number => 0.9;
    new RubricGroup([first, second]).addRewardFunc(added, 0.6);
    expect([first.metricNames(), second.metricNames()]).toEqual([["func1", "added"], []]);
    const [state] = await scored(first, stateOf("2"));
    expect(state?.reward).toBeCloseTo(1.54, 12);
  });

  it("adds up the metrics of functions of the same name", async () => {
    const group = new RubricGroup([new Rubric([func1], { weights: [1] }), new Rubric([func1], { weights: [0.5] })]);
    expect((await scored(group, stateOf("2"))).map(({ metrics, reward }) => [metrics, reward])).toEqual([[{ func1: 2 }, 1.5]]);
  });

  it("hands every rubric's functions the example's info", async () => {
    const told = ({ info }: RewardContext): number => (info.custom_param === "test" ? 1 : 0.5);
    const group = new RubricGroup([new Rubric([told]), new Rubric([told], { weights: [0.8] })]);
    const [state] = await scored(group, stateOf("2", { info: { custom_param: "test" } }));
    expect(state?.metrics).toEqual({ told: 2 });
  });

  it("of one rubric scores as it does, for each of several rollouts, and nothing for none", async () => {
    const group = new RubricGroup([new Rubric([func1])]);
    expect((await scored(group, stateOf("2"), stateOf("4", { example_id: 1 }))).map(({ metrics }) => metrics)).toEqual([{ func1: 1 }, { func1: 1 }]);
    expect(await scored(group)).toEqual([]);
  });

  it("lets each rubric's functions have its own parser", async () => {
    const parsers: Parser[] = [];
    const right = ({ parser, completion, answer }: RewardContext): number => {
      parsers.push(parser);
      return parser.parseAnswer(completion) === answer ? 1 : 0;
    };
    const xml = new XMLParser(["answer"], { answerField: "answer" });
    const state = stateOf("Let me think\n<answer>42</answer>", { answer: "42" });
    await new RubricGroup([new Rubric([right], { parser: xml })]).scoreRollout(state, options);
    expect(state.reward).toBe(1);
    expect(parsers).toEqual([xml]);
    expect(parsers[0]).toBe(xml);
  });

  it.each([["one rollout"], ["several"]])("is timed once, around all of them: %s", async (which) => {
    let clock = 0;
    const timed = { now: () => (clock += 5) };
    const group = new RubricGroup([new Rubric([func1]), new Rubric([func2])]);
    const states = [stateOf("a"), stateOf("b")].slice(0, which === "several" ? 2 : 1);
    if (which === "several") await group.scoreGroup(states, timed);
    else await group.scoreRollout(states[0] as State, timed);
    for (const { timing } of states) expect(timing.scoring_ms).toBe(5);
  });
});
