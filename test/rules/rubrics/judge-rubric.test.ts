import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { Client, Message, ModelRequest, State } from "../../../src/rollouts/types.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { XMLParser } from "../../../src/parsers/xml-parser.ts";
import { type JudgeObjects, JudgeRubric, type JudgeRubricOptions } from "../../../src/rubrics/judge-rubric.ts";
import type { RewardContext } from "../../../src/rubrics/reward-function.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";

/** A judge that answers what `says` makes of each question. */
class ScriptedJudge implements Client {
  readonly type = "scripted";
  readonly requests: ModelRequest[] = [];
  readonly #says: (content: string) => string | Promise<string>;

  constructor(says: (content: string) => string | Promise<string> = () => "yes") {
    this.#says = says;
  }

  get questions(): string[] {
    return this.requests.map(({ prompt }) => String(prompt[0]?.content));
  }

  async getResponse(request: ModelRequest) {
    this.requests.push(request);
    const content = await this.#says(String(request.prompt[0]?.content));
    const message = { role: "assistant" as const, content, finish_reason: "stop" as const, is_truncated: false, tokens: null };
    return { id: "1", created: 0, model: request.model, usage: null, message };
  }
}

const USER: Message = { role: "user", content: "What is 6 * 7?" };

function stateOf(text: string, prompt: Message[] = [USER], answer: string | undefined = "42"): State {
  const state = createState({ example_id: 0, prompt, task: "t", answer }, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  state.completion = [{ role: "assistant", content: text }];
  return state;
}

const approved = async ({ judge, prompt, completion, answer, state }: RewardContext & JudgeObjects): Promise<boolean> =>
  (await judge(prompt, completion, answer, state)) === "yes";

const rubricOf = (judgeClient: Client, options: Partial<JudgeRubricOptions> = {}): JudgeRubric =>
  new JudgeRubric([approved], { judgeClient, judgeModel: "judge-1", ...options });
const now = (): number => 0;

describe("a rubric that asks a judge", () => {
  it("asks with question, answer and response, and hands the text to the function", async () => {
    const judge = new ScriptedJudge();
    const state = stateOf("it is 42");
    await rubricOf(judge).scoreRollout(state, { now });
    expect(state).toMatchObject({ reward: 1, metrics: { approved: 1 }, error: null });
    expect(judge.requests).toMatchObject([{ model: "judge-1", tools: [], sampling_args: {}, prompt: [{ role: "user" }] }]);
    expect(judge.questions[0]).toBe(
      'Given a ground truth answer and a response, determine if the response is correct.\n\nQuestion:\n```\nWhat is 6 * 7?\n```\n\nGround truth answer:\n```\n42\n```\n\nResponse:\n```\nit is 42\n```\n\nRespond either "yes" or "no" only.',
    );
  });

  it("fills its own template in one pass, with its parser's answer and its sampling arguments", async () => {
    const judge = new ScriptedJudge(() => "no");
    const judgeSamplingArgs: JsonObject = { temperature: 0, max_tokens: 5 };
    const state = stateOf("<answer>{question}</answer>");
    const rubric = rubricOf(judge, { judgePrompt: '{question}|{answer}|{response}|{"a": {}}', judgeSamplingArgs, parser: new XMLParser(["answer"]) });
    await rubric.scoreRollout(state, { now });
    expect(judge.questions).toEqual(['What is 6 * 7?|42|{question}|{"a": {}}']);
    expect(judge.requests[0]?.sampling_args).toEqual(judgeSamplingArgs);
    expect(state.reward).toBe(0);
  });

  it.each<[string, Message[], string]>([
    ["the last user message", [USER, { role: "assistant", content: "hm" }, { role: "user", content: [{ type: "text", text: "And 6 * 8?" }] }], "And 6 * 8?"],
    ["the user's also where something else is last", [USER, { role: "assistant", content: "The answer is" }], "What is 6 * 7?"],
    ["a raw prompt", [{ role: "text", content: "6 * 7 =" }], "6 * 7 ="],
  ])("takes for the question %s", async (_, prompt, question) => {
    const judge = new ScriptedJudge();
    await rubricOf(judge, { judgePrompt: "{question}" }).scoreRollout(stateOf("42", prompt), { now });
    expect(judge.questions).toEqual([question]);
  });

  it("does not ask about a prompt without a word", async () => {
    const judge = new ScriptedJudge();
    const state = stateOf("42", []);
    await rubricOf(judge).scoreRollout(state, { now });
    expect(state.error).toMatchObject({ code: "scorer_error", message: "approved: the prompt has no text to ask the judge about" });
    expect(judge.requests).toEqual([]);
  });

  it("judges an answer that is no text as JSON, and a missing response as an empty one", async () => {
    const judge = new ScriptedJudge();
    const rubric = rubricOf(judge, { judgePrompt: "{answer}|{response}", parser: new XMLParser(["answer"]) });
    await rubric.judge([USER], "no tags", { x: 1 });
    expect(judge.questions).toEqual(['{"x":1}|']);
    await new JudgeRubric([], { judgeClient: judge }).judge([USER], "x", "y");
    expect(judge.requests[1]?.model).toBe("gpt-4.1-nano");
  });
});

describe("answers of a judge", () => {
  it("are kept in the state by the whole prompt and not asked for again", async () => {
    const judge = new ScriptedJudge((content) => (content.includes("strict") ? "no" : "yes"));
    const again = (context: RewardContext & JudgeObjects): Promise<boolean> => approved(context);
    const rubric = rubricOf(judge, { judgePrompt: "{response}" });
    rubric.addMetric(again);
    const states = [stateOf("a"), stateOf("b")];
    await rubric.scoreGroup(states, { now });
    expect(judge.questions).toEqual(["a", "b"]);
    expect(states.map(({ judge_response }) => judge_response)).toEqual([{ a: "yes" }, { b: "yes" }]);
    expect(states[0]?.metrics).toEqual({ approved: 1, again: 1 });
  });

  it("are asked for once by functions that ask at the same time", async () => {
    const judge = new ScriptedJudge();
    const twice = async ({ judge: ask, prompt, completion, answer, state }: RewardContext & JudgeObjects): Promise<boolean> => {
      const answers = await Promise.all([ask(prompt, completion, answer, state), ask(prompt, completion, answer, state)]);
      return answers.every((text) => text === "yes");
    };
    const state = stateOf("a");
    await new JudgeRubric([twice], { judgeClient: judge, judgeModel: "judge-1" }).scoreRollout(state, { now });
    expect([state.reward, judge.requests.length]).toEqual([1, 1]);
  });

  it("for the rollouts of a group are asked for side by side", async () => {
    let open = 0;
    let most = 0;
    const judge = new ScriptedJudge(async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      return "yes";
    });
    await rubricOf(judge).scoreGroup([stateOf("a"), stateOf("b"), stateOf("c")], { now });
    expect(most).toBe(3);
  });

  it("that fail are asked for again by the next function", async () => {
    let calls = 0;
    const judge = new ScriptedJudge(() => {
      if (calls++ === 0) throw new Error("cut");
      return "yes";
    });
    const rubric = rubricOf(judge);
    rubric.addMetric({ name: "again", fn: approved });
    const state = stateOf("a");
    await rubric.scoreRollout(state, { now });
    expect(state).toMatchObject({ reward: 0, metrics: { again: 1 }, error: { code: "scorer_error" } });
  });
});

describe("a judge that fails", () => {
  it("is a scorer error of the row with its cause, and no score of 0", async () => {
    const judge = new ScriptedJudge(() => {
      throw new EdgewiseError("rate_limited", "429 too many requests");
    });
    const states = [stateOf("a"), stateOf("b")];
    await rubricOf(judge).scoreGroup(states, { now });
    for (const { metrics, error } of states) {
      expect(metrics).toEqual({});
      expect(error).toMatchObject({ code: "scorer_error", message: "approved: the judge judge-1 did not answer: 429 too many requests" });
      expect(error?.chain.map(({ message }) => message)).toContain("429 too many requests");
    }
  });

  it("gets the signal of the scoring, so that nobody waits for an answer that is not wanted any more", async () => {
    const judge = new ScriptedJudge();
    const stop = new AbortController();
    await rubricOf(judge).scoreRollout(stateOf("a"), { now, signal: stop.signal });
    expect(judge.requests[0]?.signal).toBe(stop.signal);
  });
});

describe("in a group of rubrics", () => {
  it("a judge's functions see the judge, the others do not", async () => {
    const seen: string[][] = [];
    const keys = (context: RewardContext): number =>
      seen.push(
        Object.keys(context)
          .filter((key) => key.startsWith("judge"))
          .sort(),
      );
    const judging = rubricOf(new ScriptedJudge());
    judging.addMetric(keys);
    await new RubricGroup<object>([new Rubric([keys]), judging]).scoreRollout(stateOf("a"), { now });
    expect(seen).toEqual([[], ["judge", "judgeClient", "judgeModel", "judgePrompt", "judgeSamplingArgs"]]);
  });
});
