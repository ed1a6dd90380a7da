import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../../src/clients/create-client.ts";
import { EndpointPause } from "../../../src/clients/endpoint-pause.ts";
import { Gate } from "../../../src/clients/gate.ts";
import { Storm } from "../../../src/clients/storm.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { type EnvResponse, MultiTurnEnv, type MultiTurnOptions } from "../../../src/environments/kinds/multi-turn-env.ts";
import type { UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { STORM_MS } from "../../../src/limits.ts";
import type { Client, State } from "../../../src/rollouts/types.ts";
import { completion } from "../../support/clients/scripted-endpoint.ts";
import { playedUnit } from "../../support/run/played-unit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class Talk extends MultiTurnEnv {
  constructor(options: Partial<MultiTurnOptions>) {
    super({ dataset: [{ question: "q" }], ...options });
  }
  override envResponse(): EnvResponse | Promise<EnvResponse> {
    return "go on";
  }
}

const ok = (): Response => Response.json(completion("a"));
const refusal = (headers: Record<string, string> = {}): Response => Response.json({ error: { message: "slow down" } }, { status: 429, headers });

/** A real client of a server that answers after a second, in whatever way `answer` says for each request from 1. */
function clientOf(answer: (request: number) => Response | Promise<Response>, gate = new Gate(0)): Client {
  let requests = 0;
  const clock = { now: Date.now, sleep, random: () => 0 };
  return createClient(
    "openai_chat_completions",
    { base_url: "http://10.0.0.1/v1", api_key: "EMPTY" },
    {
      ...clock,
      gate,
      pause: new EndpointPause(clock),
      storm: new Storm(Date.now, STORM_MS),
      fetch: async (_url, init) => {
        const request = ++requests;
        await sleep(1_000, init?.signal ?? null);
        return await answer(request);
      },
    },
  );
}

async function play(env: Talk, client: Client, ms: number): Promise<State> {
  const state = env.initState(
    { example_id: 0, prompt: [{ role: "user", content: "q" }], task: "t" },
    { client, model: "m", sampling_args: {}, now: Date.now() },
  );
  const played = env.rollout(state, { signal: new AbortController().signal, now: Date.now, sleep });
  await vi.advanceTimersByTimeAsync(ms);
  expect(state.is_completed).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  return await played;
}

describe("the time of a rollout", () => {
  it("stands still while a later turn waits for its permit: neither its limit nor its length has that in it", async () => {
    const gate = new Gate(1);
    // Between the first turn and the second somebody else has the only permit, for a minute.
    const client = clientOf(async (request) => {
      if (request === 1) void gate.enter().then(async () => sleep(60_000).then(() => gate.leave()));
      return ok();
    }, gate);
    const state = await play(new Talk({ maxTurns: 3, timeoutSeconds: 5 }), client, 70_000);
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", timed_out: false, error: null });
    expect(state.timing.generation_ms).toBe(3_000);
  });

  it("stands still in a pause that the endpoint asks for", async () => {
    const client = clientOf((request) => (request === 2 ? refusal({ "retry-after": "120" }) : ok()));
    const state = await play(new Talk({ maxTurns: 3, timeoutSeconds: 5 }), client, 130_000);
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", error: null });
    // The attempt that was refused took its second.
    expect(state.timing.generation_ms).toBe(4_000);
  });

  it("stands still between the refusals of a storm, and goes on with each attempt", async () => {
    const client = clientOf((request) => (request >= 2 && request < 12 ? refusal() : ok()));
    const state = await play(new Talk({ maxTurns: 3, timeoutSeconds: 20 }), client, 120_000);
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", error: null });
    expect(state.timing.generation_ms).toBe(13_000);
  });

  it("is over for what the model and the environment do themselves, whatever was waited before", async () => {
    const client = clientOf((request) => (request === 2 ? refusal({ "retry-after": "120" }) : ok()));
    const state = await play(new Talk({ maxTurns: 30, timeoutSeconds: 5 }), client, 130_000);
    expect(state).toMatchObject({ stop_condition: "timeout_reached", timed_out: true, error: null });
    expect(state.timing.generation_ms).toBe(5_000);
    expect(state.trajectory).toHaveLength(3);
  });

  it("goes on while one of several calls is under way", async () => {
    class Asking extends Talk {
      override async envResponse(): Promise<string> {
        await Promise.all([this.getModelResponse(this.current, []), this.getModelResponse(this.current, [])]);
        return "go on";
      }
      current: State = undefined as never;
      override async setupState(state: State): Promise<void> {
        this.current = state;
      }
    }
    // Of the two one is refused, and waits for nine seconds after its own.
    const client = clientOf(async (request) => {
      if (request === 2) return Response.json({ error: { message: "slow" } }, { status: 500 });
      if (request === 3) await sleep(20_000);
      return ok();
    });
    const state = await play(new Asking({ maxTurns: 2, timeoutSeconds: 60 }), client, 40_000);
    expect(state.stop_condition).toBe("max_turns_reached");
    expect(state.timing.generation_ms).toBe(1_000 + 21_000 + 1_000);
  });
});

describe("the time of a unit", () => {
  const unit = (client: Client, rollouts: number, deadlineMs: number): Promise<UnitOutcome> =>
    playedUnit(new Talk({ maxTurns: 3 }), client, rollouts, deadlineMs);
  const errorsOf = ({ summaries }: UnitOutcome): (string | null)[] => summaries.map(({ error }) => error);

  it("stands still while all that it asks waits: a long pause ends no unit", async () => {
    const client = clientOf((request) => (request === 2 || request === 5 ? refusal({ "retry-after": "300" }) : ok()));
    const played = unit(client, 2, 60_000);
    await vi.advanceTimersByTimeAsync(700_000);
    expect(errorsOf(await played)).toEqual([null, null]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is over at its own length for a server that hangs after a pause", async () => {
    const client = clientOf((request) => (request === 2 ? refusal({ "retry-after": "300" }) : request < 2 ? ok() : new Promise<Response>(() => undefined)));
    const played = unit(client, 1, 60_000);
    let over = false;
    void played.then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(302_000 + 57_000);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(errorsOf(await played)).toEqual(["timeout"]);
  });
});
