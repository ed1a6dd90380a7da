import { describe, expect, it } from "vitest";
import { MultiTurnEnv, type MultiTurnOptions } from "../../src/environments/multi-turn-env.ts";
import { stepTokens } from "../../src/rollouts/step-tokens.ts";
import type { ResponseTokens, RolloutInput, State } from "../../src/rollouts/types.ts";
import { scriptedClient } from "../support/scripted-client.ts";

const INPUT: RolloutInput = { example_id: 0, prompt: [{ role: "user", content: "q" }], task: "t" };

class Talk extends MultiTurnEnv {
  answer: (state: State) => Promise<string> = async () => "go on";
  readonly cleaned: string[] = [];
  constructor(options: Partial<MultiTurnOptions> = {}) {
    super({ dataset: [{ question: "q" }], ...options });
    this.onCleanup("note", (state) => void this.cleaned.push(String(state.stop_condition)));
  }
  override envResponse(_messages: unknown, state: State): Promise<string> {
    return this.answer(state);
  }
}

/** A sleep that ends when it is told to. */
function handClock() {
  const waiting: (() => void)[] = [];
  const asked: number[] = [];
  const sleep = (ms: number, signal?: AbortSignal | null): Promise<void> =>
    new Promise((resolve, reject) => {
      asked.push(ms);
      waiting.push(resolve);
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  return { sleep, asked, ring: () => waiting.splice(0).map((resolve) => resolve()) };
}
const play = (env: Talk, client = scriptedClient("a"), sleep = handClock().sleep): Promise<State> => {
  const state = env.initState(INPUT, { client, model: "m", sampling_args: {}, now: 0 });
  return env.rollout(state, { signal: new AbortController().signal, now: () => 0, sleep });
};

describe("the time of a rollout", () => {
  it("is no error when it is over: the rollout ends with what there is, cleaned up, not truncated", async () => {
    const { sleep, asked, ring } = handClock();
    const env = new Talk({ timeoutSeconds: 2 });
    env.answer = () => {
      ring();
      return new Promise(() => undefined);
    };
    const state = await play(env, scriptedClient("a"), sleep);
    expect(asked).toEqual([2_000]);
    expect(state).toMatchObject({ timed_out: true, stop_condition: "timeout_reached", error: null, is_truncated: false, is_completed: true });
    expect(state.completion).toEqual([{ role: "assistant", content: "a" }]);
    expect(env.cleaned).toEqual(["timeout_reached"]);
  });

  it("ends a call of the model that is under way", async () => {
    const { sleep, ring } = handClock();
    const client = {
      type: "deaf",
      getResponse: (request: { signal: AbortSignal | null; onBegin?: () => void }) => {
        request.onBegin?.();
        const ended = new Promise<never>((_resolve, reject) => request.signal?.addEventListener("abort", () => reject(request.signal?.reason)));
        ring();
        return ended;
      },
    };
    expect(await play(new Talk({ timeoutSeconds: 1 }), client as never, sleep)).toMatchObject({ stop_condition: "timeout_reached", completion: [] });
  });

  it("begins with the first permit, and is not asked for without a limit", async () => {
    const { sleep, asked } = handClock();
    await play(new Talk({ maxTurns: 1 }), scriptedClient("a"), sleep);
    await play(new Talk({ maxTurns: 1, timeoutSeconds: 0 }), scriptedClient("a"), sleep);
    expect(asked).toEqual([]);
    await play(new Talk({ maxTurns: 2, timeoutSeconds: 3 }), scriptedClient("a"), sleep);
    expect(asked).toEqual([3_000]);
  });
});

describe("tokens of a turn", () => {
  const tokens = (prompt: number, completion: number): ResponseTokens => ({
    prompt_ids: Array.from({ length: prompt }, (_, index) => index),
    prompt_mask: new Array<number>(prompt).fill(0),
    completion_ids: Array.from({ length: completion }, (_, index) => 100 + index),
    completion_mask: new Array<number>(completion).fill(1),
    completion_logprobs: new Array<number>(completion).fill(-0.5),
  });
  const shape = (prompt: number, completion: number, most: number | null) => {
    const step = stepTokens(tokens(prompt, completion), most);
    return [
      step?.prompt_ids.length,
      step?.prompt_mask.length,
      step?.completion_ids.length,
      step?.completion_logprobs.length,
      step?.overlong_prompt,
      step?.is_truncated,
    ];
  };

  it("are kept whole without a limit and within it", () => {
    expect(shape(3, 4, null)).toEqual([3, 3, 4, 4, false, false]);
    expect(shape(3, 4, 7)).toEqual([3, 3, 4, 4, false, false]);
    expect(stepTokens(null, 5)).toBeNull();
  });

  it("are cut where they reach over it", () => {
    expect(shape(3, 4, 5)).toEqual([3, 3, 2, 2, false, true]);
  });

  it("have no answer where the prompt alone is too long", () => {
    expect(shape(6, 4, 5)).toEqual([5, 5, 0, 0, true, true]);
  });

  it("stand in the trajectory, and make the rollout truncated when they were cut", async () => {
    const state = await play(new Talk({ maxTurns: 1, maxSeqLen: 5 }), scriptedClient({ content: "a", tokens: tokens(3, 4) }));
    expect(state.trajectory[0]).toMatchObject({ is_truncated: true, tokens: { completion_ids: [100, 101], completion_mask: [1, 1] } });
    expect(state.is_truncated).toBe(true);
  });
});
