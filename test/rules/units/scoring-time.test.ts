import { describe, expect, it } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { runUnit, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { Client } from "../../../src/rollouts/types.ts";
import type { RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

const never = new Promise<never>(() => undefined);

/** A model that answers at once, or not at all. */
const model = (answers: boolean): Client => ({
  type: "scripted",
  async getResponse({ model, signal, onBegin }) {
    onBegin?.();
    if (!answers) await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    return { id: "r", created: 0, model, usage: null, message: { role: "assistant", content: "4", finish_reason: "stop", is_truncated: false, tokens: null } };
  },
});

/** One rollout that is scored by a function which waits: a judge, a service. */
function unit(
  judged: (signal: AbortSignal) => Promise<boolean>,
  client: Client,
  limits: { deadlineMs: number | null; signal?: AbortSignal; scoringTurn?: () => Promise<void> },
): Promise<UnitOutcome> {
  const rubric = new Rubric([{ name: "judged", fn: ({ signal }: RewardContext) => judged(signal) }]);
  const environment = new SingleTurnEnv({ dataset: async function* () {}, rubric });
  return runUnit(
    inProcess(environment),
    { example_id: 0, prompt: [{ role: "user", content: "2+2" }], task: "t", answer: "4" },
    {
      unit: 0,
      rollouts: [0],
      kept: [],
      rolloutsPerExample: 1,
      client,
      model: "m",
      sampling_args: {},
      maxRetries: 0,
      independent: false,
      stateColumns: [],
      signal: new AbortController().signal,
      now: Date.now,
      sleep,
      random: Math.random,
      ...limits,
    },
  );
}

describe("a function that waits", () => {
  it("has some grace after the deadline: the rollout is a timeout, and its score is still there", async () => {
    const slow = async (signal: AbortSignal): Promise<boolean> => {
      await sleep(20, signal);
      return true;
    };
    const { summaries } = await unit(slow, model(false), { deadlineMs: 30 });
    expect(summaries).toMatchObject([{ error: "timeout", reward: 1, metrics: { judged: 1 } }]);
  });

  it("is asked without its turn when the deadline has come: what is generated is not lost", async () => {
    const { summaries } = await unit(async () => true, model(true), { deadlineMs: 30, scoringTurn: () => never });
    expect(summaries).toMatchObject([{ error: null, reward: 1, metrics: { judged: 1 } }]);
  });

  it("is not asked when the executor stops before its turn", async () => {
    const stop = new AbortController();
    let asked = false;
    const judged = async (): Promise<boolean> => (asked = true);
    const scoringTurn = (): Promise<void> => {
      stop.abort("the executor stops");
      return Promise.reject(stop.signal.reason);
    };
    const outcome = await unit(judged, model(true), { deadlineMs: null, signal: stop.signal, scoringTurn });
    expect([outcome.aborted, outcome.lines, asked]).toEqual([true, [], false]);
  });

  it.each([[null], [60_000]])("is let go when the executor stops, with a deadline of %s", async (deadlineMs) => {
    const stop = new AbortController();
    let reason: unknown = null;
    const endless = (signal: AbortSignal): Promise<boolean> => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
      });
      stop.abort("the executor stops");
      return never;
    };
    expect((await unit(endless, model(true), { deadlineMs, signal: stop.signal })).aborted).toBe(true);
    expect(reason).toBe("the executor stops");
  });
});
