import { describe, expect, it } from "vitest";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { Client, State } from "../../../src/rollouts/types.ts";
import { JudgeRubric, type JudgeObjects } from "../../../src/rubrics/judge-rubric.ts";
import { MathRubric } from "../../../src/rubrics/math-rubric.ts";
import type { RewardContext } from "../../../src/rubrics/reward-function.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";

function stateOf(text: string, answer: string): State {
  const prompt = [{ role: "user" as const, content: "How much?" }];
  const state = createState({ example_id: 0, prompt, task: "t", answer }, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  state.completion = [{ role: "assistant", content: text }];
  return state;
}

const judgeClient: Client = {
  type: "scripted",
  async getResponse({ prompt, model }) {
    const content = String(prompt[0]?.content).includes("How much?") ? "yes" : "no";
    return { id: "1", created: 0, model, usage: null, message: { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null } };
  },
};
const approved = async ({ judge, prompt, completion, answer, state }: RewardContext & JudgeObjects): Promise<boolean> =>
  (await judge(prompt, completion, answer, state)) === "yes";

describe("rubrics in the runtime", () => {
  it("compare mathematics and ask judges as in Node; what takes too long ends by count, since no clock runs meanwhile", async () => {
    const rubric = new RubricGroup<object>([new MathRubric(), new JudgeRubric([approved], { judgeClient, judgeModel: "judge-1" })]);
    const states = ["\\boxed{\\frac{\\sqrt{3}}{3}}", "\\boxed{0.577350}", "\\boxed{1/3}", `\\boxed{${"1+".repeat(20_000)}1}`].map((text) =>
      stateOf(text, "\\frac{1}{\\sqrt{3}}"),
    );
    await rubric.scoreGroup(states, { now: Date.now });
    expect(states.map(({ metrics, error }) => [metrics?.correct_answer, metrics?.approved, error?.code])).toEqual([
      [1, 1, undefined],
      [1, 1, undefined],
      [0, 1, undefined],
      [undefined, 1, "scorer_error"],
    ]);
  });
});
