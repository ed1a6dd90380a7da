import { describe, expect, it } from "vitest";
import { OverlongPromptError } from "../../../src/clients/overlong-prompt-error.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { nestedTiming } from "../../../src/rollouts/state/time-marks.ts";
import type { Client, Message, ModelRequest, ModelResponse, State, TrajectoryStep } from "../../../src/rollouts/types.ts";
import { incrementUsage } from "../../../src/rollouts/state/usage.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";

/** Answers in turn; an Error in the list is thrown. */
function clientOf(...answers: (string | Error)[]): Client & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    type: "scripted",
    requests,
    async getResponse(request) {
      requests.push(request);
      request.onBegin?.();
      const answer = answers[requests.length - 1] ?? "more";
      if (answer instanceof Error) throw answer;
      return response(answer, requests.length);
    },
  };
}

function response(content: string, turn: number): ModelResponse {
  const finish_reason = content.endsWith("…") ? "length" : "stop";
  return {
    id: "r",
    created: 0,
    model: "m",
    usage: { prompt_tokens: 100 * turn, completion_tokens: 10, total_tokens: 100 * turn + 10, reasoning_tokens: 0 },
    message: { role: "assistant", content, finish_reason, is_truncated: finish_reason === "length", tokens: null },
  };
}

const rows = async function* () {
  yield { question: "start" };
};

class Dialogue extends MultiTurnEnv {
  readonly events: string[] = [];
  answer: (state: State) => Message[] = () => [{ role: "user", content: "go on" }];
  constructor(options: Partial<MultiTurnOptions> = {}) {
    super({ dataset: rows, ...options });
    this.onCleanup("note", (state) => {
      this.events.push(`cleanup completion=${state.completion === null ? "unrendered" : "rendered"} reward=${state.reward}`);
    });
  }
  override envResponse(_messages: readonly Message[], state: State): Message[] | Promise<Message[]> {
    this.events.push("env");
    return this.answer(state);
  }
}

const live = (): AbortSignal => new AbortController().signal;

async function play(environment: MultiTurnEnv, client: Client, signal = live()): Promise<State> {
  const state = environment.initState(
    { example_id: 0, prompt: [{ role: "user", content: "start" }], task: "t" },
    { client, model: "m", sampling_args: { max_tokens: null }, now: 1_000 },
  );
  let clock = 5_000;
  return await environment.rollout(state, { signal, now: () => (clock += 100) });
}

describe("the loop", () => {
  it("asks the environment between turns, never after the last one", async () => {
    const environment = new Dialogue({ maxTurns: 3 });
    const client = clientOf("a", "b", "c");
    const state = await play(environment, client);
    expect(environment.events.filter((event) => event === "env")).toHaveLength(2);
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", is_completed: true, is_truncated: false, error: null });
    expect(state.completion?.map(({ content }) => content)).toEqual(["a", "go on", "b", "go on", "c"]);
    expect(client.requests[1]?.prompt.map(({ content }) => content)).toEqual(["start", "a", "go on"]);
    expect(state.usage).toEqual({ input_tokens: 600, output_tokens: 30 });
    expect(state.prompt).toEqual([{ role: "user", content: "start" }]);
  });

  it("cleans up once, before the completion is rendered and before anything is scored", async () => {
    const environment = new Dialogue({ maxTurns: 1 });
    await play(environment, clientOf("a"));
    expect(environment.events).toEqual(["cleanup completion=unrendered reward=null"]);
  });

  it("ends without a call when the environment sets its final word, which is part of the completion", async () => {
    const environment = new Dialogue();
    environment.answer = (state) => {
      state.final_env_response = [{ role: "user", content: "over" }];
      return [];
    };
    const client = clientOf("a");
    const state = await play(environment, client);
    expect(client.requests).toHaveLength(1);
    expect(state.stop_condition).toBe("has_final_env_response");
    expect(state.completion?.map(({ content }) => content)).toEqual(["a", "over"]);
  });

  it("counts time from the first permit, so that waiting for one is not the rollout's", async () => {
    const state = await play(new Dialogue({ maxTurns: 1 }), clientOf("a"));
    // Every look at this clock takes 100 ms: both ends of the setup, what comes before the call, the call, the end of its waiting, the permit, the answer, the end.
    expect(state.timing).toEqual({ start_time: 5.6, generation_ms: 200, total_ms: 200, scoring_ms: 0 });
    expect(nestedTiming(state)).toEqual({
      start_time: 5.6,
      setup: { start: 5.1, end: 5.2, duration: 0.1 },
      generation: { start: 5.6, end: 5.8, duration: 0.2 },
      scoring: { start: 0, end: 0, duration: 0 },
      model: { spans: [{ start: 5.6, end: 5.7, duration: 0.1 }], duration: 0.1 },
      env: { spans: [], duration: 0 },
      total: 0.2,
      overhead: 0,
    });
  });

  it("a single turn that went well ends with max_turns_reached", async () => {
    const state = await play(new SingleTurnEnv({ dataset: rows }), clientOf("a"));
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", is_truncated: false });
    expect(state.completion).toEqual([{ role: "assistant", content: "a" }]);
  });

  it("marks a rollout truncated when any of its answers was", async () => {
    expect((await play(new Dialogue({ maxTurns: 2 }), clientOf("cut…", "whole"))).is_truncated).toBe(true);
  });
});

describe("stop conditions", () => {
  it("are asked by priority, then by name", async () => {
    const asked: string[] = [];
    const environment = new Dialogue({ maxTurns: 1 });
    const note = (name: string, priority?: number): void => environment.onStop(name, () => asked.push(name) < 0, priority === undefined ? {} : { priority });
    note("zeta");
    note("alpha");
    note("first", 200);
    note("last", -1);
    await play(environment, clientOf("a"));
    // `zeta` and `last` come after `max_turns_reached`, which ends the second round.
    expect(asked).toEqual(["first", "alpha", "zeta", "last", "first", "alpha"]);
  });

  it("end a rollout that has written its fill", async () => {
    const state = await play(new Dialogue({ maxTotalCompletionTokens: 20 }), clientOf());
    expect([state.stop_condition, state.trajectory.length]).toEqual(["max_total_completion_tokens_reached", 2]);
  });
});

describe("what goes wrong in a rollout", () => {
  it("is its outcome: a refused call", async () => {
    const state = await play(
      new Dialogue(),
      clientOf("a", new EdgewiseError("provider_error", "HTTP 500", { cause: Object.assign(new Error("boom"), { name: "InternalServerError" }) })),
    );
    expect(state).toMatchObject({
      stop_condition: "has_error",
      error: { code: "provider_error", chain: [{ name: "ModelError" }, { name: "InternalServerError", message: "boom" }] },
    });
    expect(state.completion?.map(({ content }) => content)).toEqual(["a"]);
  });

  it("is its outcome: a bug in the environment, before the first turn or later", async () => {
    class Broken extends Dialogue {
      override async setupState(): Promise<void> {
        throw new TypeError("no such column");
      }
    }
    const client = clientOf();
    expect(await play(new Broken(), client)).toMatchObject({
      error: { code: "environment_error", chain: [{ name: "EnvironmentError" }, { name: "TypeError" }] },
      completion: [],
    });
    expect(client.requests).toHaveLength(0);
    const environment = new Dialogue();
    environment.onStop("bad", () => {
      throw new Error("cannot tell");
    });
    expect(await play(environment, client)).toMatchObject({ error: { message: "cannot tell" }, stop_condition: "has_error" });
  });

  it("is no error when the prompt is too long", async () => {
    const state = await play(new Dialogue(), clientOf("a", new OverlongPromptError("context length")));
    expect(state).toMatchObject({ error: null, stop_condition: "prompt_too_long", prompt_too_long: true, is_truncated: true });
  });

  it("is a timeout when a deadline ended it, with the completion so far", async () => {
    const controller = new AbortController();
    const environment = new Dialogue();
    environment.answer = () => {
      controller.abort(new EdgewiseError("timeout", "too late"));
      return [];
    };
    const state = await play(environment, clientOf("a"), controller.signal);
    expect(state).toMatchObject({ error: { code: "timeout", message: "too late" }, stop_condition: "has_error" });
    expect(environment.events.at(-1)).toMatch(/cleanup/);
  });

  it("is nothing when it was cancelled: cleaned up, and rejected with the reason", async () => {
    const controller = new AbortController();
    const environment = new Dialogue();
    environment.answer = () => {
      controller.abort(new Error("stop"));
      return [{ role: "user", content: "x" }];
    };
    await expect(play(environment, clientOf("a"), controller.signal)).rejects.toThrow("stop");
    expect(environment.events).toEqual(["env", "cleanup completion=unrendered reward=null"]);
  });
});

describe("every conversation", () => {
  it("has num_turns as its last metric, without weight", async () => {
    const environment = new Dialogue({ maxTurns: 2 });
    const state = await play(environment, clientOf("a", "b"));
    await environment.rubric.scoreGroup([state], { now: () => 0 });
    expect(state).toMatchObject({ reward: 0, metrics: { num_turns: 2 } });
    expect(environment.metricNames()).toEqual(["num_turns"]);
  });

  it("sends the environment's sampling arguments under the run's, shallowly merged", async () => {
    const environment = new Dialogue({ maxTurns: 1, samplingArgs: { top_p: 0.5, extra_body: { a: 1 } } });
    const client = clientOf("a");
    await play(environment, client);
    expect(client.requests[0]?.sampling_args).toEqual({ n: 1, top_p: 0.5, extra_body: { a: 1 }, max_tokens: null });
    expect(environment.mergeSamplingArgs({ extra_body: { b: 2 } })).toMatchObject({ extra_body: { b: 2 } });
  });
});

describe("what an environment may do beside the loop", () => {
  it("call a model itself, whose tokens count", async () => {
    const environment = new Dialogue({ maxTurns: 2 });
    const other = clientOf("the other says hi");
    const answers: Message[][] = [];
    environment.envResponse = async (_messages: readonly Message[], state: State) => {
      const { message } = await environment.getModelResponse(state, [{ role: "user", content: "speak" }], { client: other, model: "other" });
      answers.push([{ role: "user", content: String(message.content) }]);
      return answers.at(-1) ?? [];
    };
    const state = await play(environment, clientOf("a", "b"));
    expect(other.requests[0]).toMatchObject({ model: "other", prompt: [{ content: "speak" }] });
    expect(state.completion?.map(({ content }) => content)).toEqual(["a", "the other says hi", "b"]);
    // Whoever serves the other one bills for it: the first one's bill is of its own answers.
    expect(state.usage).toEqual({ input_tokens: 400, output_tokens: 30, billed: { input_tokens: 300, output_tokens: 20 } });
    expect(state.trajectory).toHaveLength(2);
  });

  it("count tokens by hand, never less than none", () => {
    const state = new Dialogue().initState({ example_id: 0, prompt: [], task: "t" }, { client: null, model: "m", sampling_args: {}, now: 0 });
    incrementUsage(state, { input_tokens: 3 });
    incrementUsage(state, { input_tokens: 1, output_tokens: 2 });
    expect(state.usage).toEqual({ input_tokens: 4, output_tokens: 2 });
    expect(() => incrementUsage(state, { output_tokens: -1 })).toThrow(RangeError);
    expect(() => incrementUsage(state, { output_tokens: Number.NaN })).toThrow(RangeError);
  });

  it("decide the end of a rollout beside its conditions", async () => {
    class Own extends Dialogue {
      override async isCompleted(state: State): Promise<boolean> {
        return (await super.isCompleted(state)) || state.trajectory.length >= 2;
      }
    }
    const state = await play(new Own({ maxTurns: 3 }), clientOf("a", "b", "c"));
    expect([state.is_completed, state.trajectory.length, state.stop_condition]).toEqual([true, 2, null]);
    expect((await play(new Own({ maxTurns: 1 }), clientOf("a"))).stop_condition).toBe("max_turns_reached");
  });

  it("shape prompt, steps and completion", async () => {
    class Forgetful extends Dialogue {
      override async getPromptMessages(state: State): Promise<Message[]> {
        return (await super.getPromptMessages(state)).slice(-1);
      }
      override async addTrajectoryStep(state: State, step: TrajectoryStep): Promise<void> {
        await super.addTrajectoryStep(state, { ...step, extras: { turn: state.trajectory.length } });
      }
      override renderCompletion(state: State): Message[] {
        return state.trajectory.flatMap(({ completion }) => completion);
      }
    }
    const client = clientOf("a", "b");
    const state = await play(new Forgetful({ maxTurns: 2 }), client);
    expect(client.requests.map(({ prompt }) => prompt.map(({ content }) => content))).toEqual([["start"], ["go on"]]);
    expect(state.trajectory.map(({ extras }) => extras)).toEqual([{ turn: 0 }, { turn: 1 }]);
    expect(state.completion?.map(({ content }) => content)).toEqual(["a", "b"]);
  });

  it("answer with a text, which is a message of its own", async () => {
    const environment = new Dialogue({ maxTurns: 2 });
    environment.envResponse = () => "a text" as unknown as Message[];
    expect((await play(environment, clientOf("a", "b"))).completion?.[1]).toEqual({ role: "text", content: "a text" });
  });
});
