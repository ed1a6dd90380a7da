import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { loggerOf } from "../../../src/logging/logger.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { completionBody } from "../../support/model-server/model-answers.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun } from "../support/runs.ts";
import { pause, run, service, setVars, STEADY } from "../support/service.ts";

/** Rewards of a test wait for each other, so that their prints are made at the same time. */
let together = Promise.withResolvers<void>();
let inside = 0;

const talkative = defineEnvironment({
  id: "talkative",
  version: "1.0.0",
  description: "Says what it does.",
  args: z.object({ name: z.string(), lines: z.int().default(1), wait: z.int().default(1) }),
  keys: ["SPOKEN"],
  load({ name, lines, wait }, { keys }) {
    console.log("%s loads", name);
    const rubric = new Rubric([
      {
        name: "scored",
        fn: async ({ answer }) => {
          if (++inside >= wait) together.resolve();
          await together.promise;
          await pause(1);
          for (let line = 0; line < lines; line++) console.warn(`${name} scores`, { answer, line });
          return 1;
        },
      },
    ]);
    const environment = new SingleTurnEnv({
      dataset: async function* () {
        console.info(`${name} reads with ${keys.SPOKEN}\nand goes on`);
        yield { question: "q", answer: name };
      },
      rubric,
    });
    environment.onTeardown("said", async () => {
      await pause(1);
      loggerOf("mine").error(`${name} ends`);
      console.debug(`${name} in detail`);
    });
    return environment;
  },
});

const model = {
  fetch: async (_url: string, init: RequestInit): Promise<Response> => {
    const body = completionBody(
      { n: 1, model: (JSON.parse(String(init.body)) as { model: string }).model, content: "a", usage: { prompt_tokens: 5, completion_tokens: 1 } },
      null,
    );
    return new Response(body, { headers: { "content-type": "application/json" } });
  },
};

let fleet: Fleet;
let notes = 0;
beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-model", SPOKEN: "spoken-by-none" });
  registerEnvironments([talkative]);
  together = Promise.withResolvers<void>();
  inside = 0;
  notes = 0;
  const onRun = ({ method, send }: { method: string; send: () => Promise<unknown> }): Promise<unknown> => {
    if (method === "note") notes++;
    return send();
  };
  fleet = new Fleet({ model, executors: 1, onRun });
});
afterEach(async () => {
  await fleet.close();
  await reset();
});
afterAll(() => registerEnvironments([]));

const start = (env_args: { name: string; lines?: number; wait?: number }, more: object = {}) =>
  createRun({ env_id: "talkative", env_version: "1.0.0", num_examples: 1, env_args, max_concurrent: 2, ...more });

const printed = async (runId: string): Promise<string[]> =>
  ((await run(runId).logTail(10_000)) ?? []).filter(({ message }) => message.startsWith("[env] ")).map(({ level, message }) => `${level} ${message}`);

describe("what the code of an environment prints", () => {
  it("stands in the log of the run that it printed for, also when two print in one executor at the same time", async () => {
    const first = await start({ name: "one", wait: 2 });
    const second = await start({ name: "two", wait: 2 });
    await Promise.all([fleet.settled(first.run_id), fleet.settled(second.run_id)]);
    expect(fleet.executors.length).toBe(1);
    for (const [runId, name] of [
      [first.run_id, "one"],
      [second.run_id, "two"],
    ] as const) {
      const lines = await printed(runId);
      expect([...new Set(lines)]).toEqual([
        `INFO [env] ${name} loads`,
        `INFO [env] ${name} reads with [secret]`,
        "INFO [env] and goes on",
        `ERROR [env] ERROR mine: ${name} ends`,
        `WARNING [env] ${name} scores { answer: '${name}', line: 0 }`,
      ]);
    }
  });

  it("has its debug lines in a verbose run", async () => {
    const config = await start({ name: "one" }, { verbose: true });
    await fleet.settled(config.run_id);
    expect(await printed(config.run_id)).toContain("DEBUG [env] one in detail");
  });

  it("costs a call for many lines, and is left out beyond a bound, which is said", async () => {
    const config = await start({ name: "one", lines: 3_000 });
    await fleet.settled(config.run_id);
    const lines = await printed(config.run_id);
    expect(lines.filter((line) => line.includes("one scores")).length).toBeGreaterThan(900);
    expect(lines.length).toBe(1_001);
    expect(lines.at(-1)).toBe("WARNING [env] further lines are left out: an executor keeps 1000 of a run");
    expect(notes).toBeLessThan(20);
  });
});
