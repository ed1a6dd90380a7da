import { z } from "zod";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { clientOf } from "../../../src/clients/client-config.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { EnvGroup } from "../../../src/environments/kinds/env-group.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { contentText } from "../../../src/rollouts/messages.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { StatefulToolEnv } from "../../../src/environments/kinds/stateful-tool-env.ts";
import { tool } from "../../../src/environments/kinds/tool.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import type { Message, State } from "../../../src/rollouts/types.ts";
import { extractBoxedAnswer } from "../../../src/parsers/extract.ts";
import type { Completion } from "../../../src/parsers/parser.ts";
import { MaybeThinkParser, ThinkParser } from "../../../src/parsers/think-parser.ts";
import { XMLParser } from "../../../src/parsers/xml-parser.ts";
import { JudgeRubric } from "../../../src/rubrics/judge-rubric.ts";
import { groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";

/** What an evaluation is asked for beside its environment, in verifiers' words. */
export interface Settings {
  readonly sampling_args?: JsonObject;
  readonly state_columns?: readonly string[];
  readonly rollouts_per_example?: number;
  readonly independent_scoring?: boolean;
  readonly client_type?: "openai_completions";
}

const DATA = JSON.parse(readFileSync(join(import.meta.dirname, "../../../tools/verifiers/side-by-side.json"), "utf8")) as Record<string, JsonObject[]> & {
  settings: Record<string, Settings>;
};
const rows = (name: string): JsonObject[] => DATA[name] ?? [];
export const settingsOf = (name: string): Settings => DATA.settings[name] ?? {};

const textOf = (completion: Completion): string => (typeof completion === "string" ? completion : contentText(completion?.at(-1)?.content));

/** The environments of tools/verifiers/side_by_side.py, by the same names: change them together. `url` is where a judge is asked. */
export const ENVIRONMENTS: Readonly<Record<string, (url: string) => Environment>> = {
  single,
  think,
  multi: () => new Guessing({ dataset: rows("multi"), maxTurns: 3, rubric: new Rubric([won, { fn: tries, weight: 0 }]) }),
  tools: () => new ToolEnv({ dataset: rows("tools"), tools: [add, find, pages], maxTurns: 4, rubric: new Rubric([called]) }),
  stateful: () => new Shifting({ dataset: rows("stateful"), maxTurns: 4, rubric: new Rubric([called]) }),
  group: () =>
    new EnvGroup({
      envs: ["group_plain", "group_told"].map((name) => new SingleTurnEnv({ dataset: rows(name), rubric: new Rubric([longEnough]) })),
      envNames: ["plain", "told"],
    }),
  ranked: () => new SingleTurnEnv({ dataset: rows("ranked"), rubric: new Rubric([{ name: "constant", fn: () => 0.25 }, rank], { weights: [2, 1] }) }),
  judged,
  failing: () => new SingleTurnEnv({ dataset: rows("failing"), rubric: new Rubric([said]) }),
  broken: () => new SingleTurnEnv({ dataset: rows("broken"), rubric: new Rubric([{ name: "fine", fn: () => 1 }, bad]) }),
  text: () =>
    new SingleTurnEnv({ dataset: rows("text"), rubric: new Rubric([{ name: "said", fn: ({ completion }) => textOf(completion).length, weight: 0.1 }]) }),
  rubrics: () => {
    const first = new Rubric([length, same], { weights: [0.1, 1] });
    return new SingleTurnEnv({ dataset: rows("rubrics"), rubric: new RubricGroup([first, new Rubric([length], { weights: [0.5] })]) });
  },
};

function single(): Environment {
  const parser = new XMLParser(["reasoning", ["answer", "code"]], { answerField: "answer" });
  const correct = ({ parser: own, completion, answer, difficulty }: RewardContext & { difficulty: number }): number =>
    own.parseAnswer(completion) === answer ? difficulty : 0;
  const answerLength = ({ completion }: RewardContext): number => Array.from(textOf(completion)).length;
  const rubric = new Rubric<{ difficulty: number }>([correct, parser.getFormatRewardFunc(), { name: "answer_length", fn: answerLength }], {
    weights: [1, 0.2, 0],
    parser,
  });
  return new SingleTurnEnv({ dataset: rows("single"), systemPrompt: "Answer in tags.", parser, rubric });
}

function think(): Environment {
  const parser = new ThinkParser(extractBoxedAnswer);
  const correct = ({ parser: own, completion, answer }: RewardContext): boolean => own.parseAnswer(completion) === answer;
  return new SingleTurnEnv({
    dataset: rows("think"),
    fewShot: [
      { role: "user", content: "1+1?" },
      { role: "assistant", content: "<think>easy</think>\\boxed{2}" },
    ],
    parser,
    rubric: new Rubric([correct, parser.getFormatRewardFunc()], { parser }),
  });
}

class Guessing extends MultiTurnEnv {
  constructor(options: MultiTurnOptions) {
    super(options);
    this.onStop("gave_up", ({ guesses }) => (guesses as readonly string[]).includes("pass"));
  }

  override async setupState(state: State): Promise<void> {
    state.guesses = [];
  }

  override envResponse(messages: readonly Message[], state: State): Message[] {
    const guess = textOf(messages);
    state.guesses = [...(state.guesses as readonly string[]), guess];
    if (guess !== state.answer) return [{ role: "user", content: `not ${guess}` }];
    state.final_env_response = [{ role: "user", content: "right" }];
    return state.final_env_response;
  }
}

const tries = ({ state }: RewardContext): number => (state.guesses as readonly string[]).length;
const won = ({ completion }: RewardContext): number => (textOf(completion) === "right" ? 1 : 0.25);

const add = tool({ name: "add", description: "Adds two numbers.", parameters: z.object({ a: z.int(), b: z.int() }), run: ({ a, b }) => a + b });
const find = tool({
  name: "find",
  description: "Finds a thing.",
  parameters: z.object({ name: z.string() }),
  run: ({ name }) => {
    throw new Error(`there is no ${name}`);
  },
});
const pages = tool({
  name: "pages",
  description: "Gives parts.",
  parameters: z.object({ text: z.string() }),
  run: ({ text }) => [
    { type: "text", text },
    { type: "text", text: "end" },
  ],
});
const called = ({ completion }: RewardContext): number => completion.filter(({ role }) => role === "tool").length;

class Shifting extends StatefulToolEnv {
  constructor(options: ConstructorParameters<typeof ToolEnv>[0]) {
    super(options);
    const parameters = z.object({ x: z.int(), offset: z.int() });
    this.addTool(tool({ name: "shift", description: "Shifts a number.", parameters, run: ({ x, offset }) => x + offset }), ["offset"]);
  }

  override async setupState(state: State): Promise<void> {
    state.shifts = 0;
  }

  override updateToolArgs(_name: string, args: Record<string, unknown>, _messages: readonly Message[], state: State): Record<string, unknown> {
    state.shifts = Number(state.shifts) + 1;
    return { ...args, offset: 100 * Number(state.shifts) };
  }
}

function longEnough({ completion }: RewardContext): boolean {
  return textOf(completion).length > 3;
}
Object.defineProperty(longEnough, "name", { value: "long_enough" });

const rank = groupReward(function rank({ states }) {
  return states.map((_, index) => index * 0.5);
});

function judged(url: string): Environment {
  const rubric = new JudgeRubric([], {
    parser: new MaybeThinkParser(),
    judgeClient: clientOf({ api_base_url: url, api_key_var: "SIDE_BY_SIDE_KEY" }, { SIDE_BY_SIDE_KEY: "none" }),
    judgeModel: "judge",
    judgeSamplingArgs: { max_tokens: 4, temperature: null },
    judgePrompt: "JUDGE {answer} AGAINST {response}",
  });
  rubric.addRewardFunc(
    { name: "approved", fn: async ({ judge, prompt, completion, answer, state }) => ((await judge(prompt, completion, answer, state)) === "yes" ? 1 : 0) },
    0.5,
  );
  return new SingleTurnEnv({ dataset: rows("judged"), parser: new MaybeThinkParser(), rubric });
}

const said = ({ completion }: RewardContext): number => (textOf(completion) === "" ? 0 : 1);
const bad = {
  name: "bad",
  fn: (): number => {
    throw new Error("no score");
  },
};
const length = ({ completion }: RewardContext): number => textOf(completion).length;
const same = ({ completion, answer }: RewardContext): number => (textOf(completion) === answer ? 1 : 0);
