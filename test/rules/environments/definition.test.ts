import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment, type LoadContext } from "../../../src/environments/definition/definition.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { ensureKeys, MissingKeyError } from "../../../src/environments/definition/keys.ts";
import { environmentDigest } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { integer } from "../../../src/environments/definition/setting.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { scriptedClient } from "../../support/clients/scripted-client.ts";

let seen: Record<string, unknown> = {};
const search = defineEnvironment({
  id: "search",
  version: "1.0.0",
  description: "Looks things up.",
  args: z.object({ depth: z.int().min(1).default(2), together: z.boolean().default(false) }),
  keys: ["SERPER_API_KEY", "BRAVE_KEY"],
  load({ depth, together }, { keys, client }) {
    seen = { depth, keys, client };
    const rubric = together ? new Rubric([{ name: "rank", fn: groupReward(({ states }) => states.map(() => 0)) }]) : new Rubric();
    return new ToolEnv({ dataset: [{ question: "q" }], maxTurns: depth, rubric });
  },
});
const SECRETS: Readonly<Record<string, string>> = { SERPER_API_KEY: " s-1 ", BRAVE_KEY: "b-2", OPENAI_API_KEY: "model", OTHER: "x" };
const key = (name: string): string | null => SECRETS[name] ?? null;
const context: LoadContext = { datasets: memoryDatasets(), key };

describe("keys of an environment", () => {
  it("reach it when they are declared, and no others do", () => {
    const asked: string[] = [];
    search.load({}, { ...context, key: (name) => key(asked[asked.push(name) - 1] ?? "") });
    expect(seen.keys).toEqual({ SERPER_API_KEY: "s-1", BRAVE_KEY: "b-2" });
    expect(asked.sort()).toEqual(["BRAVE_KEY", "SERPER_API_KEY"]);
  });

  it("that are missing are named all at once, at creation and at loading", () => {
    const none = (): null => null;
    const missing = expect.objectContaining({ code: "missing_key", keys: ["SERPER_API_KEY", "BRAVE_KEY"] });
    expect(() => search.check({ env_args: {} }, none)).toThrow(missing);
    expect(() => search.load({}, { ...context, key: none })).toThrow(missing);
    expect(new MissingKeyError(["A", "B"]).message).toBe("the environment needs keys that are not set: A, B");
  });

  it("are refused when they are the model's", () => {
    expect(search.check({ env_args: {}, model_keys: ["BRAVE_KEY"] }, key)).toEqual({
      option: "api_key_var",
      message: expect.stringMatching(/search declares BRAVE_KEY/),
    });
  });

  it("must have names that a key variable may have", () => {
    const define = (name: string) => () => defineEnvironment({ ...search, args: z.object({}), keys: [name], load: () => new SingleTurnEnv({ dataset: [] }) });
    for (const name of ["lower", "EDGEWISE_TOKEN", "A B", ""]) expect(define(name)).toThrow(/cannot be the name of a key variable/);
  });

  it("come from the variables of the process where nobody says otherwise", () => {
    process.env.EDGEWISE_TEST_KEY = "value";
    try {
      expect(ensureKeys(["EDGEWISE_TEST_KEY"])).toEqual({ EDGEWISE_TEST_KEY: "value" });
      expect(() => ensureKeys(["EDGEWISE_TEST_KEY", "EDGEWISE_NO_KEY", "EDGEWISE_NO_KEY_2"])).toThrow(/EDGEWISE_NO_KEY, EDGEWISE_NO_KEY_2$/);
    } finally {
      delete process.env.EDGEWISE_TEST_KEY;
    }
  });
});

describe("models that an environment calls itself", () => {
  it("are reached through clients that the host binds to their keys", () => {
    const bound = { type: "bound", getResponse: () => Promise.reject(new Error("not called")) };
    search.load({}, { ...context, client: ({ api_key_var }) => ({ ...bound, type: `bound to ${api_key_var}` }) });
    const client = (seen.client as (endpoint: object) => { type: string })({ base_url: "https://judge.example", api_key_var: "JUDGE_KEY" });
    expect(client.type).toBe("bound to JUDGE_KEY");
  });

  it("are refused where the host has none", () => {
    search.load({}, context);
    expect(seen.client).toThrow(/no model to call/);
  });
});

describe("what keeps a run from using an environment", () => {
  const check = (request: Omit<Parameters<typeof search.check>[0], "env_args">, env_args = {}) => search.check({ env_args, ...request }, key);

  it("is nothing", () => {
    expect(check({ extra_env_kwargs: { max_turns: 20 } })).toBeNull();
  });

  it("is an argument, by name", () => {
    expect(check({}, { depth: 0 })).toMatchObject({ option: "env_args", message: expect.stringMatching(/argument depth: /) });
    expect(check({}, { width: 1 })).toMatchObject({ option: "env_args", message: expect.stringMatching(/unknown argument width \(it takes depth/) });
    expect(check({}, { deph: 1 })?.message).toContain("unknown argument deph (did you mean depth?)");
  });

  it("is an option that the class does not take, with those it takes", () => {
    const problem = check({ extra_env_kwargs: { max_turn: 20 } });
    expect(problem?.option).toBe("extra_env_kwargs");
    expect(problem?.message).toMatch(/search has no option max_turn \(it takes .*max_turns \(an integer\).*timeout_seconds \(a number or null\)/);
  });

  it("is an option of another kind", () => {
    expect(check({ extra_env_kwargs: { max_turns: "20" } })?.message).toMatch(/option max_turns is "20", not an integer/);
    expect(check({ extra_env_kwargs: { max_turns: 1.5 } })?.message).toMatch(/max_turns is 1.5/);
  });

  it("is scoring that needs a whole group", () => {
    expect(check({ independent_scoring: true })).toBeNull();
    expect(check({ independent_scoring: true }, { together: true })).toMatchObject({ option: "independent_scoring" });
  });
});

describe("options set after loading", () => {
  it("are set by their serialised names", () => {
    const environment = search.load({}, context, {
      max_turns: 20,
      timeout_seconds: 1.5,
      system_prompt: "Be brief.",
      max_total_completion_tokens: 100,
    }) as ToolEnv;
    expect(environment).toMatchObject({ maxTurns: 20, timeoutSeconds: 1.5, systemPrompt: "Be brief.", maxTotalCompletionTokens: 100 });
    environment.setKwargs({ timeout_seconds: null, max_seq_len: null, pass_threshold: 0.75 });
    expect(environment).toMatchObject({ timeoutSeconds: null, maxSeqLen: null, passThreshold: 0.75 });
  });

  it("are a class's own beside those of its parents", () => {
    class Paced extends SingleTurnEnv {
      pace = 1;
      override settings() {
        return {
          ...super.settings(),
          pace: integer((value) => {
            if (value < 1) throw new TypeError("is below 1");
            this.pace = value;
          }),
        };
      }
    }
    const paced = new Paced({ dataset: [] });
    paced.setKwargs({ pace: 3, score_rollouts: false });
    expect([paced.pace, paced.scoreRollouts]).toEqual([3, false]);
    expect(() => paced.setKwargs({ pace: 0 })).toThrow(/option pace is below 1/);
  });

  it("change the environment's digest, and their absence does not", async () => {
    const digest = (extra?: Record<string, number>): Promise<string> => environmentDigest(search, {}, extra);
    expect(await digest({})).toBe(await digest());
    expect(await digest({ max_turns: 20 })).not.toBe(await digest());
  });
});

it("a loader's environment knows its id, version and arguments", () => {
  const environment: Environment = search.load({ depth: 3 }, context);
  expect(environment).toMatchObject({ id: "search", version: "1.0.0", args: { depth: 3 } });
});

describe("an environment that tries to read a file while it runs", () => {
  // As the Worker answers: its file system is empty.
  const read = (): never => {
    throw Object.assign(new Error("no such file or directory, readAll '/data/rows.json'"), { code: "ENOENT" });
  };

  it("is told that there are none, while it is loaded", () => {
    const reading = defineEnvironment({ id: "reading", version: "1.0.0", description: "Reads.", args: z.object({}), load: read });
    expect(reading.check({ env_args: {} })?.message).toMatch(/rows\.json.*cannot read local files while they run: data comes by reference/);
  });

  it("and in a rollout, on its row", async () => {
    const environment = new SingleTurnEnv({ dataset: [{ question: "q" }] });
    environment.setupState = async () => read();
    const { outputs } = await environment.evaluate(scriptedClient("x"), "m");
    expect(outputs[0]?.error).toMatchObject({ code: "environment_error", error_chain_repr: expect.stringMatching(/cannot read local files while they run/) });
  });
});
