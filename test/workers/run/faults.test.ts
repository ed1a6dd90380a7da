import { abortAllDurableObjects, evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ClaimAnswer, CommitAnswer, CommitCall, CommitUnit } from "../../../durable-objects/run/protocol.ts";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { type Call, Fleet, type FleetOptions, type Invocation, NEVER } from "../support/fleet.ts";
import { createRun, essenceOf, expectComplete, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, rawRun, STEADY, setVars, until } from "../support/service.ts";

const unitsOf = (call: unknown): CommitUnit[] => JSON.parse((call as CommitCall).units) as CommitUnit[];

/** Whatever happens on the way, a run ends with the rows of one that nothing happened to. */
const SHAPE = { num_examples: 24, rollouts_per_example: 2, max_concurrent: 8 } as const;
const ROLLOUTS = SHAPE.num_examples * SHAPE.rollouts_per_example;

let fleet: Fleet;
let model: ScriptedModel;
let undisturbed: readonly JsonObject[];

function begin(options: Partial<FleetOptions> = {}): Promise<RunConfig> {
  model = new ScriptedModel({ latencyMs: 10 });
  fleet = new Fleet({ model, executors: 2, ...options });
  return createRun(SHAPE);
}

async function end(config: RunConfig): Promise<readonly JsonObject[]> {
  await fleet.settled(config.run_id);
  return (await expectComplete(config)).map(essenceOf);
}

/** True for the first call that `test` accepts, false ever after. */
function once(test: (call: Call) => boolean): (call: Call) => boolean {
  let done = false;
  return (call) => {
    if (done || !test(call)) return false;
    done = true;
    return true;
  };
}
const isSegment = ({ method, args: [key] }: Call): boolean => method === "create" && String(key).includes("/segments/");

// However busy the machine, nothing lapses but where a test is about it.
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet.close();
  await reset();
});
beforeAll(async () => {
  setVars(STEADY);
  undisturbed = await end(await begin());
  expect(model.total).toBe(ROLLOUTS);
  expect(new Set(undisturbed.map(({ reward }) => reward)).size).toBeGreaterThan(2);
  await fleet.close();
  await reset();
});

describe("a run ends the same", () => {
  it("when every message of the queue is delivered three times", async () => {
    const config = await begin({ deliveries: 3, executors: 6 });
    expect(await end(config)).toEqual(undisturbed);
    expect(model.total).toBe(ROLLOUTS);
    expect(model.peak).toBeLessThanOrEqual(SHAPE.max_concurrent);
  });

  it("when an executor dies between writing a segment and committing it", async () => {
    setVars(QUICK);
    const first = once(({ method }) => method === "commit");
    let lost = 0;
    const config = await begin({
      onRun: (call) => {
        if (first(call)) {
          lost = unitsOf(call.args[0]).length;
          call.by.kill();
          return NEVER;
        }
        return call.send();
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(lost).toBeGreaterThan(0);
    expect(fleet.executors.filter(({ lives }) => !lives).length).toBeGreaterThan(0);
    expect(model.total).toBeGreaterThanOrEqual(ROLLOUTS + lost * SHAPE.rollouts_per_example);
    expect((await viewOf(config.run_id)).lapses).toBeGreaterThan(0);
  });

  it("when the Run is evicted between a segment and its commit, every time", async () => {
    let evictions = 0;
    const config = await begin({
      onRun: async (call) => {
        if (call.method === "commit") {
          evictions++;
          await evictDurableObject(rawRun(config.run_id));
        }
        return call.send();
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(evictions).toBeGreaterThan(0);
    expect(model.total).toBe(ROLLOUTS);
  });

  it("when each put of a segment fails the first time", async () => {
    const seen = new Set<unknown>();
    const config = await begin({
      onStore: (call) => {
        if (!isSegment(call) || seen.has(call.args[0])) return call.send();
        seen.add(call.args[0]);
        throw new Error("R2 is busy");
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(seen.size).toBeGreaterThan(0);
    expect(model.total).toBe(ROLLOUTS);
  });

  it("when each put of a segment takes effect and fails", async () => {
    const seen = new Set<unknown>();
    const config = await begin({
      onStore: async (call) => {
        const answer = await call.send();
        if (!isSegment(call) || seen.has(call.args[0])) return answer;
        seen.add(call.args[0]);
        throw new Error("the connection was lost");
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(seen.size).toBeGreaterThan(0);
    expect(model.total).toBe(ROLLOUTS);
  });

  it.each([
    ["inputs are pinned", "create", "/inputs/"],
    ["results are written", "put", "/results.jsonl"],
    ["metadata is written", "put", "/metadata.json"],
  ])("when R2 fails once while %s", async (_, method, part) => {
    const first = once((call) => call.method === method && String(call.args[0]).includes(part));
    let failures = 0;
    const config = await begin({
      onStore: (call) => {
        if (!first(call)) return call.send();
        failures++;
        throw new Error("R2 is busy");
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(failures).toBe(1);
  });
});

describe("the late commit of a slow executor", () => {
  it("is refused as stale when its lease has ended and its units are with another", async () => {
    setVars(QUICK);
    let slow: Invocation | null = null;
    let late: Promise<unknown> | null = null;
    const taken = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    let held: readonly number[] = [];
    const config = await begin({
      // The commits of a second one wait as well; a third takes what the slow one held.
      executors: 3,
      onRun: async (call) => {
        if (slow === null && call.method === "commit") {
          slow = call.by;
          held = unitsOf(call.args[0]).map(({ unit }) => unit);
          // Nothing of this executor gets through any more, except this one call, much later.
          late = taken.promise.then(call.send);
          late.finally(answered.resolve).catch(() => undefined);
          return late;
        }
        if (call.by === slow) throw new Error("no network");
        if (slow !== null && call.method === "commit") await answered.promise;
        const answer = await call.send();
        if (call.method === "claim" && slow !== null) {
          const block = answer as ClaimAnswer;
          if (block.kind === "block" && held.some((unit) => unit >= block.lo && unit < block.hi)) taken.resolve();
        }
        return answer;
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    const { verdicts } = (await late) as unknown as Extract<CommitAnswer, { kind: "committed" }>;
    expect(verdicts.length).toBe(held.length);
    expect(verdicts).toContain("stale");
    expect(verdicts).not.toContain("accepted");
    expect((await viewOf(config.run_id)).lapses).toBeGreaterThan(0);
  });
});

describe("a Durable Object that is reset in the middle of a transaction", () => {
  it("has done nothing of it", async () => {
    const first = once(({ method }) => method === "commit");
    let before: unknown = null;
    const config = await begin({
      onRun: async (call) => {
        if (!first(call)) return call.send();
        before = await numbers(config.run_id);
        await runInDurableObject(rawRun(config.run_id), (_, state) => breakNext(state));
        const failure = await call.send().then(
          () => null,
          (thrown: unknown) => String(thrown),
        );
        expect(failure).toContain("power cut");
        expect(await numbers(config.run_id)).toEqual(before);
        throw new Error("the object was reset");
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(before).not.toBeNull();
    expect(model.total).toBe(ROLLOUTS);
  });

  const numbers = async (runId: string): Promise<unknown> => {
    const { units, totals, seq } = await viewOf(runId);
    return { units, totals, seq };
  };
  /** The next transaction writes everything it has to, and ends with the object instead of its commit. */
  function breakNext(state: DurableObjectState): void {
    const real = state.storage.transactionSync.bind(state.storage);
    state.storage.transactionSync = (work) =>
      real(() => {
        const result = work();
        state.abort("power cut");
        return result;
      });
  }
});

const METHODS = ["join", "prepared", "claim", "commit", "beat", "leave", "window", "finalised"] as const;

describe.each(METHODS)("a run ends the same when the Durable Objects are reset", (method) => {
  it.each(["before", "during", "after"] as const)(`%s the first ${method}`, async (when) => {
    // Whose answer to a join is lost leaves its grant to lapse.
    setVars(QUICK);
    const first = once((call) => call.method === method);
    const came = Promise.withResolvers<void>();
    let resets = 0;
    const config = await begin({
      // A beat comes only where neither a claim nor a commit has done for it: nothing is answered before.
      onFetch: async ({ send }) => {
        if (method === "beat") await came.promise;
        return send();
      },
      onRun: async (call) => {
        if (!first(call)) return call.send();
        resets++;
        came.resolve();
        if (when === "before") await abortAllDurableObjects();
        const sent = call.send();
        // The answer of a call that was cut off is an error nobody may be told of.
        sent.catch(() => undefined);
        if (when === "after") await sent;
        if (when !== "before") await abortAllDurableObjects();
        if (when === "after") throw new Error("the object was reset");
        return sent;
      },
    });
    expect(await end(config)).toEqual(undisturbed);
    expect(resets).toBe(1);
  });
});

describe("a run whose only executor died", () => {
  it("goes on by its own alarm, with nobody asking", async () => {
    setVars(QUICK);
    const first = once(({ method }) => method === "commit");
    const config = await begin({
      executors: 1,
      onRun: (call) => {
        if (!first(call)) return call.send();
        call.by.kill();
        return NEVER;
      },
    });
    await until("the executor to die", async () => fleet.executors[0]?.lives === false);
    // No call reaches the run from here on until its alarm has found the lease over and told the Dispatcher.
    await until("another executor", async () => fleet.executors.length > 1);
    expect(await end(config)).toEqual(undisturbed);
  });
});
