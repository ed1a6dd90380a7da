import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { MIB } from "../../../src/limits.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, restoreClock, setVars, STEADY } from "../support/service.ts";

/** Examples before the data set waits: one more than a part has, each of which is a chunk. */
const FIRST = 17;
const ALL = 20;
/** Resolved by the first request of the model; the data set goes on then. */
let asked = Promise.withResolvers<void>();
/** How often the data set was begun, and environments torn down. */
let [readings, torn] = [0, 0];

const slow = defineEnvironment({
  id: "slow-data",
  version: "1.0.0",
  description: "Whose data set goes on when the model was asked for the first time.",
  args: z.object({}),
  load: () => {
    const environment = new SingleTurnEnv({
      rubric: new Rubric([{ name: "scored", fn: () => 1 }]),
      async *dataset() {
        readings++;
        for (let row = 0; row < ALL; row++) {
          if (row === FIRST) await asked.promise;
          yield { question: `question ${row}`, answer: "a", info: { filler: "x".repeat(MIB) } };
        }
      },
    });
    environment.onTeardown("count", () => {
      torn++;
    });
    return environment;
  },
});
let fleet: Fleet;

beforeAll(() => registerEnvironments([slow]));
afterAll(() => registerEnvironments([]));
beforeEach(() => {
  asked = Promise.withResolvers<void>();
  [readings, torn] = [0, 0];
  setVars(STEADY);
});
afterEach(async () => {
  asked.resolve();
  await fleet.close();
  restoreClock();
  await reset();
});

it("asks the model before all examples are read, with one executor, and ends with all of them", async () => {
  const reply = (): string => {
    asked.resolve();
    return "a";
  };
  fleet = new Fleet({ model: new ScriptedModel({ reply }), executors: 1 });
  const config = await createRun({ env_id: "slow-data", num_examples: -1 });
  const view = await fleet.settled(config.run_id);
  expect(view).toMatchObject({ status: "COMPLETED", units: { total: ALL, done: ALL }, grants: 3 });
  expect([readings, torn]).toEqual([1, 2]);
  await expectComplete(config, ALL);
});

it("reads on where its only executor died after the first part", async () => {
  // Reading takes as long as the machine is busy: a lease that is too short for it lapses again and again.
  setVars({ ...QUICK, LEASE_MS: "4000", BEAT_MS: "500" });
  let first = true;
  fleet = new Fleet({
    model: new ScriptedModel({
      reply: () => {
        asked.resolve();
        return "a";
      },
    }),
    executors: 1,
    onRun: async ({ by, method, send }) => {
      const answer = await send();
      if (method !== "prepared" || !first) return answer;
      first = false;
      by.kill();
      return answer;
    },
  });
  const config = await createRun({ env_id: "slow-data", num_examples: ALL });
  expect(await fleet.settled(config.run_id)).toMatchObject({ status: "COMPLETED", units: { total: ALL, done: ALL } });
  expect(readings).toBe(2);
  await expectComplete(config, ALL);
});
