import { describe, expect, it } from "vitest";
import { addHandler } from "../../../src/rollouts/state/handlers.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { RolloutInput, State, TrajectoryStep } from "../../../src/rollouts/types.ts";
import { type GroupRewardContext, groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";
import { Parser } from "../../../src/parsers/parser.ts";
import { XMLParser } from "../../../src/parsers/xml-parser.ts";
import { scriptedClient } from "../../support/clients/scripted-client.ts";

function stateOf(text: string, answer?: string): State {
  const input = { example_id: 0, prompt: [], task: "t", ...(answer === undefined ? {} : { answer }) };
  const state = createState(input, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  state.completion = [{ role: "assistant", content: text }];
  return state;
}

const textOf = ({ completion }: RewardContext): string => String(completion[0]?.content);
const length = (context: RewardContext): number => textOf(context).length;
const correct = (context: RewardContext): boolean => textOf(context) === context.answer;
const broken = (): number => {
  throw new Error("the judge is dead");
};
const now = (): number => 0;

describe("a group of rollouts", () => {
  it("gets the weighted sum as reward and every function as a metric, weight 0 too", async () => {
    const rubric = new Rubric([correct, length], { weights: [1, 0] });
    const states = [stateOf("four", "four"), stateOf("five!", "four")];
    await rubric.scoreGroup(states, { now });
    expect(states.map(({ reward, metrics }) => ({ reward, metrics }))).toEqual([
      { reward: 1, metrics: { correct: 1, length: 4 } },
      { reward: 0, metrics: { correct: 0, length: 5 } },
    ]);
    expect(states.map(({ advantage }) => advantage)).toEqual([0.5, -0.5]);
    expect(rubric.metricNames()).toEqual(["correct", "length"]);
  });

  it("runs functions in order, each on all rollouts before the next, and lets them leave things in the state", async () => {
    const seen: string[] = [];
    const first = async ({ state, answer }: RewardContext): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, answer === "slow" ? 20 : 0));
      seen.push(`first ${answer}`);
      state.judged = true;
      return 0;
    };
    const second = ({ state, answer }: RewardContext): boolean => {
      seen.push(`second ${answer}`);
      return state.judged === true;
    };
    const states = [stateOf("a", "slow"), stateOf("b", "quick")];
    await new Rubric([first, second]).scoreGroup(states, { now });
    expect(seen).toEqual(["first quick", "first slow", "second slow", "second quick"]);
    expect(states.map(({ reward }) => reward)).toEqual([1, 1]);
  });

  it("hands group functions all rollouts at once", async () => {
    const best = groupReward(function best({ completions, answers }: GroupRewardContext) {
      const lengths = completions.map((completion) => String(completion[0]?.content).length);
      expect(answers).toEqual(["", ""]);
      return lengths.map((each) => each === Math.max(...lengths));
    });
    const rubric = new Rubric([best]);
    const states = [stateOf("aaa"), stateOf("a")];
    await rubric.scoreGroup(states, { now });
    expect(states.map(({ metrics }) => metrics)).toEqual([{ best: 1 }, { best: 0 }]);
    expect(rubric.hasGroupRewards).toBe(true);
    await expect(rubric.scoreRollout(stateOf("a"), { now })).rejects.toThrow(/group reward functions/);
  });

  it("measures its own time and adds it to the total", async () => {
    const state = stateOf("a");
    state.timing.total_ms = 100;
    let clock = 0;
    await new Rubric([length]).scoreGroup([state], { now: () => (clock += 5) });
    expect(state.timing).toMatchObject({ scoring_ms: 5, total_ms: 105 });
  });

  it("gives steps without a reward the rollout's, and keeps those that have one", async () => {
    const state = stateOf("aa");
    const step = { reward: null, advantage: null } as unknown as TrajectoryStep;
    const own = { reward: 7, advantage: 1 } as unknown as TrajectoryStep;
    state.trajectory.push(step, own);
    await new Rubric([length]).scoreGroup([state], { now });
    expect([step.reward, step.advantage, own.reward, own.advantage]).toEqual([2, 0, 7, 1]);
  });

  it("without functions is worth 0 and has no metrics; an empty group is nothing", async () => {
    const state = stateOf("a");
    await new Rubric().scoreGroup([state], { now });
    expect([state.reward, state.metrics, state.error]).toEqual([0, {}, null]);
    await new Rubric([broken]).scoreGroup([], { now });
  });
});

describe("a failing reward function", () => {
  it("is an error of the rollout, not a score of 0: its metric is missing, the reward is the rest", async () => {
    const states = [stateOf("four", "four"), stateOf("five", "four")];
    await new Rubric([correct, broken]).scoreGroup(states, { now });
    expect(states[0]).toMatchObject({ reward: 1, metrics: { correct: 1 } });
    expect(states[0]?.error).toMatchObject({
      code: "scorer_error",
      message: "broken: the judge is dead",
      chain: [{ name: "ScorerError" }, { name: "Error" }, { message: "the judge is dead" }],
    });
    expect(states[0]?.metrics).not.toHaveProperty("broken");
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], [null], ["1"], [undefined]])("returning %s is one too", async (value) => {
    const state = stateOf("a");
    await new Rubric([{ name: "odd", fn: () => value as number }, length]).scoreGroup([state], { now });
    expect(state).toMatchObject({ reward: 1, metrics: { length: 1 }, error: { code: "scorer_error" } });
  });

  it("leaves an error that the rollout already has", async () => {
    const state = stateOf("a");
    state.error = { code: "rate_limited", message: "later", chain: [] };
    await new Rubric([broken]).scoreGroup([state], { now });
    expect(state.error.code).toBe("rate_limited");
  });

  it("in a group, or with a list of the wrong length, fails every rollout", async () => {
    for (const fn of [() => [1], broken as () => never]) {
      const states = [stateOf("a"), stateOf("b")];
      await new Rubric([{ name: "ranks", fn: groupReward(fn) }]).scoreGroup(states, { now });
      expect(states.map(({ error, metrics }) => [error?.code, metrics])).toEqual([
        ["scorer_error", {}],
        ["scorer_error", {}],
      ]);
    }
  });
});

describe("the range of rewards", () => {
  const weighted = (weights: number[]): Rubric =>
    new Rubric(
      weights.map((weight, i) => ({ name: `f${i}`, weight, fn: now })),
      {},
    );

  it("is what the weights make of scores from 0 to 1, of a group the sum", () => {
    expect(new Rubric([correct]).rewardRange).toEqual([0, 1]);
    expect(weighted([1, 0.2, 0, -0.5]).rewardRange).toEqual([-0.5, 1.2]);
    expect(new RubricGroup([weighted([1]), weighted([0]), weighted([0.5])]).rewardRange).toEqual([0, 1.5]);
  });

  it("is what is declared, by the environment before its rubric", () => {
    const dataset = [{ question: "?" }];
    const rubric = new Rubric([correct], { rewardRange: [-1, 2] });
    expect(new SingleTurnEnv({ dataset, rubric }).rewardRange).toEqual([-1, 2]);
    expect(new SingleTurnEnv({ dataset, rubric, rewardRange: [0, 3] }).rewardRange).toEqual([0, 3]);
    expect(() => new Rubric([correct], { rewardRange: [2, -1] })).toThrow("2 to -1 is no range of rewards");
  });
});

describe("registration", () => {
  it("refuses functions without a name, and weights that do not fit", () => {
    expect(() => new Rubric([() => 1])).toThrow(/needs a name/);
    expect(() => new Rubric([groupReward(() => [])])).toThrow(/needs a name/);
    expect(() => new Rubric([length], { weights: [1, 2] })).toThrow(/1 functions has 2 weights/);
    expect(() => new Rubric([{ fn: length, weight: Number.NaN }])).toThrow(/weight of length/);
  });

  it("counts a name registered twice twice in the reward, the later value being the metric", async () => {
    const rubric = new Rubric([
      { name: "x", fn: () => 1 },
      { name: "x", fn: () => 3 },
    ]);
    rubric.addMetric(length);
    const state = stateOf("ab");
    await rubric.scoreRollout(state, { now });
    expect(state).toMatchObject({ reward: 4, metrics: { x: 3, length: 2 }, advantage: null });
    expect(rubric.metricNames()).toEqual(["x", "length"]);
  });

  it("hands functions the rubric's parser, else the plain one, whatever the environment's is", async () => {
    const parsed = ({ parser, completion }: RewardContext): number => Number(parser.parseAnswer(completion));
    const parser = new Parser(() => "2");
    const rewardWith = async (rubric: Rubric): Promise<unknown> => {
      const { outputs } = await new SingleTurnEnv({ dataset: [{ question: "q" }], parser, rubric }).evaluate(scriptedClient("1"), "m");
      return outputs[0]?.reward;
    };
    expect(new Rubric([parsed], { parser }).parser).toBe(parser);
    expect([await rewardWith(new Rubric([parsed], { parser })), await rewardWith(new Rubric([parsed]))]).toEqual([2, 1]);
  });
});

// Cases of tests/test_rubric.py, tests/test_rubric_group.py and tests/test_decorator_ranks.py.
describe("what a function gets", () => {
  it("is the example, the rollout and the class objects, which hide data of the same name", async () => {
    const seen: unknown[] = [];
    const look = ({ task, info, answer, words }: RewardContext & { words: Set<string> }): number => {
      seen.push([task, info, answer, [...words]]);
      return words.size;
    };
    const rubric = new Rubric<{ words: Set<string>; answer: string }>([look], { objects: { words: new Set(["a"]), answer: "hidden" } });
    rubric.addClassObject("words", new Set(["b", "c"]));
    const state = stateOf("x", "shown");
    state.input.info = { extra: 123 };
    await rubric.scoreRollout(state, { now });
    expect(seen).toEqual([["t", { extra: 123 }, "hidden", ["b", "c"]]]);
    expect(state.reward).toBe(2);
  });

  it("is the columns of the data set by their names, behind what the rollout itself has", async () => {
    const seen: unknown[] = [];
    const look = (context: RewardContext & { difficulty: number; question: string; words: string }): number => {
      const { difficulty, question, words, answer, task, state } = context;
      seen.push([difficulty, question, words, answer, task, typeof state.completion]);
      return difficulty;
    };
    const dataset = [{ question: "q", answer: "a", difficulty: 3, words: "of the row", state: "NY", completion: "none" }];
    const rubric = new Rubric<{ difficulty: number; question: string; words: string }>([look], { objects: { words: "the rubric's" } });
    const { outputs } = await new SingleTurnEnv({ dataset, rubric }).evaluate(scriptedClient("x"), "m");
    expect(seen).toEqual([[3, "q", "the rubric's", "a", "default", "object"]]);
    expect(outputs[0]?.reward).toBe(3);
  });

  it("for a group of rollouts has them too, and the signal of the scoring", async () => {
    const stop = new AbortController();
    const base = groupReward<{ base: number }>(function based({ states, base, signal }) {
      expect(signal).toBe(stop.signal);
      return states.map((_, index) => base + index);
    });
    const states = [stateOf("a"), stateOf("b")];
    await new Rubric<{ base: number }>([base], { objects: { base: 5 } }).scoreGroup(states, { now, signal: stop.signal });
    expect(states.map(({ reward }) => reward)).toEqual([5, 6]);
  });

  it("is the whole completion, other roles included", async () => {
    const messages = ({ completion }: RewardContext): number => completion.length;
    const state = stateOf("Hi there!");
    state.completion = [{ role: "user", content: "Hello" }, ...(state.completion ?? [])];
    await new Rubric([messages]).scoreRollout(state, { now });
    expect(state).toMatchObject({ reward: 2, metrics: { messages: 2 } });
  });
});

describe("handlers of a rubric", () => {
  const cleaning = (seen: string[], name: string, options = {}): Rubric => {
    const rubric = new Rubric([length]);
    addHandler(rubric, "cleanup", name, ({ reward }) => void seen.push(`${name} ${reward}`), options);
    addHandler(rubric, "teardown", name, () => void seen.push(`${name} down`), options);
    return rubric;
  };

  it("let go of each rollout once it is scored, those of a group's members before its own, each rubric by priority", async () => {
    const seen: string[] = [];
    const first = cleaning(seen, "first");
    addHandler(first, "cleanup", "urgent", () => void seen.push("urgent"), { priority: 1 });
    const group = new RubricGroup([first, cleaning(seen, "second")]);
    addHandler(group, "cleanup", "own", () => void seen.push("own"));
    await group.scoreGroup([stateOf("ab")], { now });
    await group.scoreRollout(stateOf("abc"), { now });
    expect(seen).toEqual(["urgent", "first 4", "second 4", "own", "urgent", "first 6", "second 6", "own"]);
    seen.length = 0;
    await group.teardown();
    expect(seen).toEqual(["first down", "second down"]);
  });

  it("that fail are an error of the rollout, and keep no other from running", async () => {
    const seen: string[] = [];
    const failing = new Rubric([length]);
    addHandler(failing, "cleanup", "broken", () => {
      throw new Error("no such file");
    });
    const state = stateOf("ab");
    await new RubricGroup([failing, cleaning(seen, "second")]).scoreGroup([state], { now });
    expect(state).toMatchObject({ reward: 4, error: { code: "scorer_error", message: "cleanup: no such file" } });
    expect(seen).toEqual(["second 4"]);
  });
});

describe("rubrics in a group", () => {
  it("each use their own parser and objects", async () => {
    const parsers: unknown[] = [];
    const guess = ({ parser, completion, answer }: RewardContext): boolean => {
      parsers.push(parser);
      return parser.parseAnswer(completion) === answer;
    };
    const xml = new XMLParser(["answer"]);
    const state = stateOf("Let me think\n<answer>42</answer>", "42");
    await new RubricGroup([new Rubric([guess], { parser: xml }), new Rubric([guess])]).scoreRollout(state, { now });
    expect(parsers[0]).toBe(xml);
    expect((parsers[1] as Parser).constructor).toBe(Parser);
    expect(state).toMatchObject({ reward: 1, metrics: { guess: 1 } });
  });

  it("are timed as one", async () => {
    const state = stateOf("a");
    state.timing.total_ms = 100;
    let clock = 0;
    await new RubricGroup([new Rubric([length]), new Rubric([correct])]).scoreRollout(state, { now: () => (clock += 5) });
    expect(state.timing).toMatchObject({ scoring_ms: 5, total_ms: 105 });
  });

  it("keep their own weights, and an example of none is nothing", async () => {
    const group = new RubricGroup([new Rubric([length], { weights: [0.5] }), new Rubric([correct], { weights: [3] })]);
    const state = stateOf("ab", "ab");
    await group.scoreGroup([], { now });
    await group.scoreGroup([state], { now });
    expect(state.reward).toBe(4);
  });

  it("give the rollout the last one's advantage, its steps the first one's reward and advantage", async () => {
    const states = [stateOf("a"), stateOf("abc")];
    for (const state of states) state.trajectory.push({ reward: null, advantage: null } as unknown as TrajectoryStep);
    const first = new RubricGroup([new Rubric([length]), new Rubric([{ name: "ten", fn: () => 10 }])]);
    const last = new Rubric([{ name: "longer", fn: (context) => (length(context) > 1 ? 1 : 0) }]);
    await new RubricGroup([first, last]).scoreGroup(states, { now });
    expect(states.map(({ reward, advantage }) => [reward, advantage])).toEqual([
      [11, -0.5],
      [14, 0.5],
    ]);
    expect(states.map(({ trajectory }) => [trajectory[0]?.reward, trajectory[0]?.advantage])).toEqual([
      [1, -1],
      [3, 1],
    ]);
  });

  it("of an environment leave the rollout without an advantage, since its monitors come last", async () => {
    let turn = 0;
    const env = new SingleTurnEnv({ dataset: [{ question: "q" }], rubric: new Rubric([{ name: "turn", fn: () => ++turn }]) });
    const input = (await env.getDataset())[0] as RolloutInput;
    const states = await env.runGroup([input, input], scriptedClient("x"), "m");
    expect(states.map(({ reward, advantage, trajectory }) => [reward, advantage, trajectory[0]?.advantage])).toEqual([
      [1, 0, -0.5],
      [2, 0, 0.5],
    ]);
  });

  it("add up rewards, and metrics of the same name", async () => {
    const group = new RubricGroup([new Rubric([length]), new Rubric([{ name: "length", fn: () => 10 }, correct])]);
    const state = stateOf("ab", "ab");
    await group.scoreGroup([state], { now });
    expect(state).toMatchObject({ reward: 13, metrics: { length: 12, correct: 1 } });
    expect(group.metricNames()).toEqual(["length", "correct"]);
  });

  it("are at least one; functions added later go to the first", async () => {
    expect(() => new RubricGroup([])).toThrow(/at least one/);
    const first = new Rubric();
    new RubricGroup([first, new Rubric()]).addRewardFunc(length);
    expect(first.metricNames()).toEqual(["length"]);
  });
});
