import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import { defineEnvironment, type LoadContext } from "../../../src/environments/definition/definition.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import { runUnit, type UnitOptions, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { ModelError, ToolCallError } from "../../../src/errors/rollout-errors.ts";
import { countedBy } from "../../../src/executor/endpoints/counted-answers.ts";
import { notedJudges } from "../../../src/executor/endpoints/noted-judges.ts";
import { CacheMeter } from "../../../src/rollouts/state/cache-meter.ts";
import { JudgeMeter } from "../../../src/rollouts/state/judge-usage.ts";
import type { Client, Message, ModelResponse, State } from "../../../src/rollouts/types.ts";
import { type JudgeObjects, JudgeRubric } from "../../../src/rubrics/judge-rubric.ts";
import { groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { walled } from "../../support/walled/walled.ts";
import { EXAMPLE, response, type Scripted, scripted, timelessLine, unitOptions } from "../../support/walled/units.ts";

const dataset = [{ question: "2+2", answer: "4" }];
const textOf = (messages: readonly Message[]): string => String(messages.at(-1)?.content ?? "");
const right = { name: "right", fn: ({ completion, answer }: { completion: readonly Message[]; answer: unknown }) => textOf(completion) === answer };

const define = (load: (context: { client: NonNullable<LoadContext["client"]> }) => Environment) =>
  defineEnvironment({ id: "env", version: "1", description: "", args: z.object({}), load: (_, context) => load(context) });

const atOnce = async (): Promise<void> => undefined;

async function play(hosted: HostedEnvironment, client: Scripted, count: number, fields: Partial<UnitOptions>): Promise<UnitOutcome> {
  const outcome = await runUnit(hosted, EXAMPLE, unitOptions(client, count, { sleep: atOnce, ...fields }));
  await hosted.teardown();
  return outcome;
}

interface Case {
  readonly name: string;
  readonly load: (context: { client: NonNullable<LoadContext["client"]> }) => Environment;
  readonly client: () => Scripted;
  readonly count?: number;
  readonly fields?: () => Partial<UnitOptions>;
  readonly judge?: () => Scripted;
  readonly check?: (outcome: UnitOutcome) => void;
  /** The wall's side says errors of the row itself that otherwise nobody says. */
  readonly saysMore?: true;
}

class Guessing extends MultiTurnEnv {
  constructor(options: { maxTurns?: number; rubric?: Rubric } = {}) {
    super({ dataset, rubric: new Rubric([right]), maxTurns: 3, ...options });
  }
  override async setupState(state: State): Promise<void> {
    state.guesses = [];
  }
  override envResponse(messages: readonly Message[], state: State): Message[] {
    (state.guesses as string[]).push(textOf(messages));
    if (textOf(messages) === "4") state.final_env_response = [{ role: "user", content: "right" }];
    return [{ role: "user", content: `not ${textOf(messages)}` }];
  }
}

const four = () => scripted(() => response("4"));
function priced(text: string): ModelResponse {
  const billed = { input_tokens: 10, output_tokens: 4, cached_input_tokens: 8 };
  return { ...response(text), usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 14, reasoning_tokens: 0, billed } };
}
const single = (rubric: Rubric) => () => new SingleTurnEnv({ dataset, rubric });
const fails = (thrown: () => Error) => () => scripted(() => thrown());

const CASES: readonly Case[] = [
  { name: "one turn", load: single(new Rubric([right])), client: four, check: ({ summaries }) => expect(summaries[0]?.reward).toBe(1) },
  { name: "one turn, many rollouts", load: single(new Rubric([right])), client: () => scripted((_, call) => response(call % 3 === 0 ? "4" : "5")), count: 16 },
  { name: "several turns", load: () => new Guessing(), client: () => scripted(({ prompt }) => response(String(prompt.length), {}, prompt.length)), count: 3 },
  {
    name: "a final word of the environment",
    load: () => new Guessing(),
    client: () => scripted(({ prompt }) => response(prompt.length > 2 ? "4" : "3", { reasoning_content: "hm" })),
    fields: () => ({ stateColumns: ["guesses", "trajectory", "edgewise_turns", "nothing"] }),
  },
  {
    name: "tools",
    load: () =>
      new ToolEnv({
        dataset,
        rubric: new Rubric([right]),
        maxTurns: 4,
        tools: [
          {
            name: "add",
            description: "Adds.",
            parameters: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
            run: ({ a }: { a?: unknown }) => String(Number(a) + 2),
          } as never,
        ],
      }),
    client: () =>
      scripted(({ prompt, tools }) => {
        expect(tools.map(({ name }) => name)).toEqual(["add"]);
        const last = prompt.at(-1);
        if (last?.role === "tool") return response(textOf(prompt));
        return response("", { tool_calls: [{ id: "c", name: "add", arguments: '{"a": 2}' }], finish_reason: "tool_calls" });
      }),
    count: 2,
  },
  {
    name: "rewards of a group",
    load: single(
      new Rubric([
        right,
        groupReward(function shortest({ completions }) {
          const lengths = completions.map((completion) => textOf(completion as Message[]).length);
          return lengths.map((length) => length === Math.min(...lengths));
        }),
      ]),
    ),
    client: () => scripted((_, call) => response("4".repeat(call + 1))),
    count: 3,
    fields: () => ({ stateColumns: ["advantage"] }),
  },
  {
    name: "a fault of the environment",
    load: () =>
      Object.assign(new Guessing(), {
        envResponse: () => {
          throw new TypeError("no such guess", { cause: new RangeError("deep") });
        },
      }),
    client: () => scripted(() => response("3")),
    count: 2,
  },
  {
    name: "a fault of a reward function",
    load: single(
      new Rubric([
        {
          name: "bad",
          fn: () => {
            throw new Error("cannot score");
          },
        },
      ]),
    ),
    client: four,
    count: 2,
  },
  {
    name: "a tool's error class",
    load: () =>
      Object.assign(new Guessing(), {
        envResponse: () => {
          throw new ToolCallError("broken tool");
        },
      }),
    client: () => scripted(() => response("3")),
  },
  {
    name: "a server's refusal of one request",
    load: single(new Rubric([right])),
    client: fails(
      () => new EdgewiseError("bad_request", "400 no", { hint: "ask otherwise", cause: Object.assign(new Error("Bad request"), { name: "BadRequestError" }) }),
    ),
  },
  {
    name: "an error with its class's name",
    load: single(new Rubric([right])),
    client: fails(() => new ModelError("x", { code: "invalid_response", cause: new TypeError("y") })),
  },
  { name: "a fault of a client", load: single(new Rubric([right])), client: fails(() => new RangeError("not of the catalogue")) },
  {
    name: "a prompt that is too long",
    load: () => new Guessing(),
    client: () => scripted(({ prompt }) => (prompt.length > 2 ? new OverlongPromptError("too long") : response("1"))),
  },
  {
    name: "a refusal that ends the run",
    load: single(new Rubric([right])),
    client: fails(() => new EdgewiseError("auth_failed", "401", { hint: "a key" })),
    count: 3,
    check: ({ fatal }) => expect(fatal?.code).toBe("auth_failed"),
  },
  {
    name: "attempts again",
    load: single(new Rubric([right])),
    client: () => scripted((_, call) => (call < 2 ? new EdgewiseError("provider_error", "500") : response("4"))),
    fields: () => ({ maxRetries: 3 }),
  },
  { name: "independent scores", load: single(new Rubric([right])), client: four, count: 3, fields: () => ({ independent: true }) },
  {
    name: "a scoring turn",
    load: single(new Rubric([right])),
    client: four,
    count: 3,
    fields: () => ({ scoringTurn: () => new Promise((resolve) => setTimeout(resolve, 20)) }),
  },
  {
    name: "scores that take a while",
    load: single(new Rubric([{ name: "slow", fn: () => new Promise<number>((resolve) => setTimeout(() => resolve(1), 700)) }])),
    client: four,
    count: 2,
  },
  { name: "no scores", load: () => new SingleTurnEnv({ dataset, rubric: new Rubric([right]), scoreRollouts: false }), client: four },
  {
    name: "a state that is no JSON",
    load: () =>
      Object.assign(new Guessing(), {
        setupState: async (state: State) => void Object.assign(state, { guesses: [], map: new Map([["a", new Date(0)]]), fn: () => 1, big: 1n }),
      }),
    client: () => scripted(() => response("4")),
    fields: () => ({ stateColumns: ["map", "guesses"] }),
  },
  {
    name: "a state column that is no JSON",
    saysMore: true,
    load: () => Object.assign(new Guessing(), { setupState: async (state: State) => void Object.assign(state, { guesses: [], big: 1n }) }),
    client: () => scripted(() => response("4")),
    fields: () => ({ stateColumns: ["big", "guesses"] }),
  },
  { name: "an answer larger than a row", load: single(new Rubric([right])), client: () => scripted(() => response("x".repeat(2 * 1024 * 1024))) },
  {
    name: "an answer larger than what is kept",
    saysMore: true,
    load: single(new Rubric([right])),
    client: () => scripted(() => response("x".repeat(5 * 1024 * 1024))),
  },
  {
    name: "an example that the environment changes",
    load: () =>
      Object.assign(new Guessing(), {
        setupState: async (state: State) => {
          state.guesses = [];
          state.prompt = [...state.prompt, { role: "user", content: "more" }];
          state.answer = "5";
          state.info = { other: true };
        },
      }),
    client: () => scripted(() => response("5")),
  },
  {
    name: "a judge",
    load: ({ client }) => {
      const judgeClient = client({ base_url: "https://judge.example/v1", api_key_var: "JUDGE_KEY" });
      const rubric = new JudgeRubric(
        [
          async function approved({ judge, prompt, completion, answer, state }: never) {
            return (await (judge as (...all: unknown[]) => Promise<string>)(prompt, completion, answer, state)) === "yes";
          },
        ] as never,
        { judgeClient },
      );
      return new SingleTurnEnv({ dataset, rubric });
    },
    client: four,
    judge: () => scripted(() => response("yes")),
    count: 3,
    check: ({ lines }) => expect(JSON.parse(lines[0] ?? "").judge_usage).toEqual({ requests: 1, input_tokens: 5, output_tokens: 2 }),
  },
  {
    name: "what answers cost, of those that its server was asked for",
    load: () => new Guessing(),
    client: () => scripted(({ prompt }) => priced(prompt.length > 2 ? "4" : "5")),
    fields: () => ({ price: { input_usd_per_mtok: 1_000, output_usd_per_mtok: 2_000, cached_input_usd_per_mtok: 100 } }),
    // One of two answers: 10 tokens, 8 of them at $100, and 4 at $2,000 a million.
    check: ({ lines }) => expect(JSON.parse(lines[0] ?? "").usage_cost).toEqual({ input_usd: 0.0028, output_usd: 0.008, total_usd: 0.0108 }),
  },
  {
    name: "what judges saw and said, asked with the state, without it, and by the environment itself",
    load: ({ client }) => {
      const judgeClient = client({ base_url: "https://judge.example/v1", api_key_var: "JUDGE_KEY" });
      const rubric = new JudgeRubric(
        [
          async ({ judge, prompt, completion, answer, state }: RewardContext & JudgeObjects) => (await judge(prompt, completion, answer, state)) === "yes",
          async ({ judge, prompt, completion }: RewardContext & JudgeObjects) => (await judge(prompt, completion, "without")) === "yes",
          async ({ judgeClient: own, state }: RewardContext & JudgeObjects) => {
            const { message } = await own.getResponse({
              prompt: [{ role: "user", content: "fair?" }],
              model: "j",
              sampling_args: {},
              tools: [],
              state,
              signal: null,
            });
            return message.content === "yes";
          },
        ].map((fn, at) => ({ name: `asks_${at}`, fn })),
        { judgeClient, judgePrompt: "{answer}|{response}" },
      );
      return new SingleTurnEnv({ dataset, rubric });
    },
    client: four,
    count: 2,
    fields: () => ({ stateColumns: ["judge_response"] }),
    judge: () => scripted(() => response("yes")),
    check: ({ lines }) => {
      for (const line of lines) {
        expect(JSON.parse(line)).toMatchObject({ reward: 3, judge_usage: { requests: 3 } });
        expect(JSON.parse(line).judge_response).toEqual({ "4|4": "yes", "without|4": "yes", "fair?": "yes" });
      }
    },
  },
  {
    name: "calls that the cache answered, of the model and of judges",
    load: () => new Guessing(),
    client: () => scripted(({ prompt }) => response(prompt.length > 2 ? "4" : "5")),
    check: ({ lines }) => expect(JSON.parse(lines[0] ?? "").cache_usage).toEqual({ calls: 2, cached: 1, input_tokens: 5, output_tokens: 2 }),
  },
];

/** Every other answer is from the cache. */
function halfCached(client: Scripted, cache: CacheMeter): Client {
  let calls = 0;
  return {
    ...client,
    getResponse: async (request) => {
      const cached = calls++ % 2 === 1;
      const answer = await client.getResponse(request);
      if (!cached) return answer;
      cache.tookKept(request.state, "model", answer.usage);
      return { ...answer, cached };
    },
  };
}

/** As the executor's judges are: made by the host, counted by the state that a request names. */
function contextOf(judge: Scripted | undefined, state_columns: readonly string[]): { context: LoadContext; judges: JudgeMeter; cache: CacheMeter } {
  const judges = new JudgeMeter();
  const cache = new CacheMeter();
  const client: LoadContext["client"] = () => {
    judges.open();
    const asked: Client = {
      type: "scripted",
      getResponse: async (request) => {
        const answer = await (judge as Scripted).getResponse(request);
        judges.count(request.state, answer.usage);
        cache.tookKept(request.state, "judges", answer.usage);
        return { ...answer, cached: true };
      },
    };
    return countedBy(cache, "judges", notedJudges({ state_columns }, asked));
  };
  return { context: { datasets: memoryDatasets(""), client }, judges, cache };
}

describe("an environment behind a wall has the same rows as inside", () => {
  it.each(CASES)("$name", async ({ load, client, count = 1, fields = () => ({}), judge, check, saysMore }) => {
    const definition = define(load);
    const given: Partial<UnitOptions> = fields();
    const outcomes: UnitOutcome[] = [];
    for (const offered of [offeredDefinition(definition), walled(definition, {}, { sleep: atOnce }).offered]) {
      const { context, judges, cache } = contextOf(judge?.(), given.stateColumns ?? []);
      const hosted = await offered.load({}, context);
      const model = client();
      outcomes.push(await play(hosted, model, count, { judges, cache, client: countedBy(cache, "model", halfCached(model, cache)), ...fields() }));
    }
    const [inside, behind] = outcomes as [UnitOutcome, UnitOutcome];
    expect(behind.lines.map(timelessLine)).toEqual(inside.lines.map(timelessLine));
    const { firstErrors, ...facts } = behind;
    expect({ ...facts, lines: [] }).toEqual({ ...inside, firstErrors: undefined, lines: [] });
    if (saysMore !== true) expect(firstErrors).toEqual(inside.firstErrors);
    check?.(behind);
  });
});
