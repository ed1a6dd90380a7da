import { createClient } from "../../src/clients/create-client.ts";
import { sleep } from "../../src/clients/transport/sleep.ts";
import { runUnit } from "../../src/environments/unit/run-unit.ts";
import { SingleTurnEnv } from "../../src/environments/kinds/single-turn-env.ts";
import type { Client, RolloutInput } from "../../src/rollouts/types.ts";
import { extractBoxedAnswer } from "../../src/parsers/extract.ts";
import { MaybeThinkParser } from "../../src/parsers/think-parser.ts";
import { Rubric } from "../../src/rubrics/rubric.ts";
import type { RewardContext } from "../../src/rubrics/reward-function.ts";
import { type Measure, median } from "../measure.ts";
import type { Scenario } from "../scenario.ts";
import { inProcess } from "../../src/environments/hosted/in-process.ts";

const CALLS = 4_000;
const ROUNDS = 7;
const QUESTION =
  "Janet's ducks lay 16 eggs per day. She eats three for breakfast and bakes muffins with four. She sells the rest for $2 each. How much does she make a day?";
const ANSWER = "She uses 3 + 4 = 7 eggs and sells 16 - 7 = 9 of them, so she makes 9 * 2 = 18 dollars a day. The answer is \\boxed{18}.";

/** What a server would send; the same text each time, so that only the library differs between the two ways. */
const BODY = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: ANSWER } }],
  usage: { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 },
});

/** What the library adds to a single-turn rollout, next to calling its client directly with the same prompt. No network: the answer is there at once. */
export const overhead: Scenario = async () => {
  const client = createClient(
    "openai_chat_completions",
    { base_url: "http://model.invalid/v1", api_key: "EMPTY" },
    { fetch: () => Promise.resolve(new Response(BODY, { headers: { "content-type": "application/json" } })) },
  );
  const direct: number[] = [];
  const rollout: number[] = [];
  // Turn by turn, so that both see the same machine; the first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const times = [await microsecondsEach(() => callDirectly(client)), await microsecondsEach(() => play(client))] as const;
    if (round === 0) continue;
    direct.push(times[0]);
    rollout.push(times[1]);
  }
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "overhead", name, value, unit });
  const [call, whole] = [median(direct), median(rollout)];
  return [
    measure("client called directly, answer at once", call, "µs of CPU"),
    measure("single-turn rollout with the same client: scored, its row written", whole, "µs of CPU"),
    measure("the library's part", whole - call, "µs of CPU"),
    measure("rollout beside direct call", whole / call, "ratio"),
  ];
};

/** Of processor time: what else the machine does changes it little, and nothing here waits. */
async function microsecondsEach(work: () => Promise<void>): Promise<number> {
  const begin = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) await work();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / CALLS;
}

const input: RolloutInput = { example_id: 0, prompt: [{ role: "user", content: QUESTION }], task: "default", answer: "18" };
const SAMPLING = { max_tokens: 512, temperature: 0.7 };

async function callDirectly(client: Client): Promise<void> {
  const { message } = await client.getResponse({ prompt: input.prompt, model: "m", sampling_args: SAMPLING, tools: [], state: {}, signal: null });
  if (message.content !== ANSWER) throw new Error("the client gave another answer");
}

const correct = ({ parser, completion, answer }: RewardContext): boolean => parser.parseAnswer(completion) === answer;
const parser = new MaybeThinkParser(extractBoxedAnswer);
const environment = inProcess(new SingleTurnEnv({ dataset: async function* () {}, parser, rubric: new Rubric([correct], { parser }) }));
const { signal } = new AbortController();

async function play(client: Client): Promise<void> {
  const outcome = await runUnit(environment, input, {
    unit: 0,
    rollouts: [0],
    kept: [],
    rolloutsPerExample: 1,
    client,
    model: "m",
    sampling_args: SAMPLING,
    maxRetries: 0,
    independent: false,
    stateColumns: [],
    signal,
    deadlineMs: null,
    now: Date.now,
    sleep,
    random: Math.random,
  });
  if (outcome.summaries[0]?.reward !== 1) throw new Error(`the rollout was not scored: ${outcome.lines.join()}`);
}
