import { describe, expect, it } from "vitest";
import { MultiTurnEnv, type MultiTurnOptions } from "../../../src/environments/kinds/multi-turn-env.ts";
import { stepTokens } from "../../../src/rollouts/state/step-tokens.ts";
import { isInfrastructureError, ROLLOUT_ERRORS } from "../../../src/errors/codes.ts";
import type { Client, ModelRequest, ResponseTokens, RolloutInput, State } from "../../../src/rollouts/types.ts";
import { scriptedClient } from "../../support/clients/scripted-client.ts";

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
const play = (env: Talk, client: Client = scriptedClient("a"), sleep = handClock().sleep): Promise<State> => {
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

  /** A model whose call number `silent` does not end before the rollout's time does; `begins`: but has begun to answer. */
  function slow({ begins, silent = 1 }: { begins: boolean; silent?: number }) {
    const { sleep, ring } = handClock();
    const scripted = scriptedClient("a");
    const asked: ModelRequest[] = [];
    const client: Client = {
      type: "slow",
      getResponse: (request) => {
        asked.push(request);
        if (asked.length !== silent) return scripted.getResponse(request);
        request.onBegin?.();
        if (begins) request.onAnswer?.();
        const ended = new Promise<never>((_resolve, reject) => request.signal?.addEventListener("abort", () => reject(request.signal?.reason)));
        ring();
        return ended;
      },
    };
    return { client, sleep, asked };
  }

  it("ends a call of the model that is under way: one that writes has its outcome, as in verifiers", async () => {
    const { client, sleep } = slow({ begins: true });
    const state = await play(new Talk({ timeoutSeconds: 1 }), client, sleep);
    expect(state).toMatchObject({ stop_condition: "timeout_reached", timed_out: true, error: null, completion: [], is_truncated: false });
  });

  it("before anything was answered is an error of the infrastructure: a server that says nothing is no outcome of a model", async () => {
    const { client, sleep } = slow({ begins: false });
    const env = new Talk({ timeoutSeconds: 1 });
    const state = await play(env, client, sleep);
    expect(state).toMatchObject({ stop_condition: "has_error", timed_out: true, error: { code: "timeout" }, completion: [], is_completed: true });
    expect(state.error?.message).toContain("no answer had begun after the 1 s");
    expect(env.cleaned).toEqual(["has_error"]);
    expect([isInfrastructureError("timeout"), ROLLOUT_ERRORS.timeout.rollout]).toEqual([true, true]);
  });

  it("after a turn that was answered keeps that turn, whatever the next one did", async () => {
    const { client, sleep } = slow({ begins: false, silent: 2 });
    const state = await play(new Talk({ timeoutSeconds: 1 }), client, sleep);
    expect(state).toMatchObject({ stop_condition: "timeout_reached", error: null });
    expect(state.trajectory).toHaveLength(1);
  });

  it("has answers asked for in pieces, and only there", async () => {
    for (const [timeoutSeconds, visibly] of [
      [2, true],
      [null, false],
      [0, false],
    ] as const) {
      const client = scriptedClient("a");
      await play(new Talk({ maxTurns: 1, timeoutSeconds }), client);
      expect(client.requests[0]?.visibly).toBe(visibly);
    }
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
