import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment, type DefinitionOptions } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { registerIsolated } from "../../../src/offering/isolated-modules.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { Fleet } from "../support/fleet.ts";
import { CREATION, Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { type ModelOptions, neverAnswer, ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, until } from "../support/service.ts";

/** What a hosted evaluation may fail by (docs/failure-modes.md): each is told to whoever sees only its answer or the run's `error_message`, with what to do. */
const dataset = [{ question: "one" }, { question: "two" }];
const define = (id: string, load: DefinitionOptions<z.ZodObject>["load"], keys: readonly string[] = []) =>
  defineEnvironment({ id, version: "1.0.0", description: id, args: z.object({}), keys, load });
const facts = (id: string) => ({ id, version: "1.0.0", description: id, defaults: {}, keys: [], source: "x" });

const ISOLATED = [{ facts: facts("imports-what-is-not-there"), code: async () => ({ text: 'import pad from "left-pad"; export default pad;', map: "" }) }];
const ENVIRONMENTS = [
  define("breaks-loading", () => {
    throw new Error("no table of answers");
  }),
  define(
    "breaks-reading",
    () =>
      new SingleTurnEnv({
        dataset: () => {
          throw new Error("the rows are gone");
        },
      }),
  ),
  define(
    "scores-wrongly",
    () =>
      new SingleTurnEnv({
        dataset,
        rubric: new Rubric([
          {
            name: "judged",
            fn: () => {
              throw new Error("answer is undefined");
            },
          },
        ]),
      }),
  ),
  define("overwrites-a-field", () => new SingleTurnEnv({ dataset, rubric: new Rubric([{ name: "reward", fn: () => 1 }]) })),
  define("boxed", () => new SandboxEnv({ dataset, sandbox: new ScriptedSandbox() })),
  define("searches", () => new SingleTurnEnv({ dataset }), ["SEARCH_API_KEY"]),
];

let fleet: Fleet;
let door: Door;
let model: ScriptedModel;
beforeEach(() => {
  setVars(STEADY);
  deploy();
  Object.assign(service, { KEY_VARS: "*_API_KEY,MODELS_API_KEY@models.example", REFUSALS_MS: "1", OUTAGE_MS: "1" });
  registerEnvironments(ENVIRONMENTS);
  registerIsolated(ISOLATED);
  door = new Door();
});
afterEach(async () => {
  restoreClock();
  await fleet.close();
  undeploy();
  await reset();
});
afterAll(() => {
  registerEnvironments([]);
  registerIsolated([]);
  for (const name of ["REFUSALS_MS", "OUTAGE_MS"]) delete (service as unknown as Record<string, unknown>)[name];
});
const begin = (options: ModelOptions = {}): void => {
  model = new ScriptedModel({ latencyMs: 1, ...options });
  fleet = new Fleet({ model, haste: 100 });
};

/** Status and words of what a creation came to: of its answer where it is refused, else of the run when it has ended. */
async function outcome(
  environment: string,
  more: object = {},
  meanwhile: (id: string) => Promise<void> = async () => undefined,
): Promise<readonly [unknown, string]> {
  const body = { ...CREATION, environment_ids: [environment], eval_config: { ...CREATION.eval_config, num_examples: 2, ...more } };
  const response = await door.call(OWNER_TOKEN, "POST", "/hosted-evaluations", body);
  if (!response.ok) return [response.status, await response.text()];
  const { evaluation_id: id } = await response.json<{ evaluation_id: string }>();
  await meanwhile(id);
  await fleet.settled(id);
  const { status, error_message } = await door.json<{ status: string; error_message: string }>(OWNER_TOKEN, "GET", `/evaluations/${id}`);
  return [status, error_message];
}

it.each([
  ["imports-what-is-not-there", 422, /could not be loaded: No such module .*left-pad.*Mend the environment's code/],
  ["breaks-loading", 422, /could not be loaded: no table of answers.*Mend the environment's code/],
  ["breaks-reading", "FAILED", /environment_failed: .*the rows are gone.*Mend the environment's code/],
  ["scores-wrongly", "FAILED", /all_rollouts_failed: .*scorer_error \(2\).*mend/i],
  ["overwrites-a-field", "FAILED", /metric_name_reserved: .*reward.*Rename the reward function/],
] as const)("errors of the environment's code: %s ends %s, and says what breaks and what to do", async (environment, status, words) => {
  begin();
  expect(await outcome(environment)).toEqual([status, expect.stringMatching(words)]);
});

it("missing permissions: refused before anything is made, naming the flag", async () => {
  begin();
  expect(await outcome("boxed")).toEqual([
    422,
    expect.stringMatching(/asks for a sandbox, and the run does not allow it: set allow_sandbox_access \(--allow-sandbox-access\)/),
  ]);
  expect(model.total).toBe(0);
});

it("missing secrets: refused before anything is made, naming the key", async () => {
  begin();
  expect(await outcome("searches")).toEqual([422, expect.stringMatching(/SEARCH_API_KEY.*wrangler secret put/)]);
  expect(await outcome("reverse-text", { api_key_var: "OTHER_API_KEY", api_base_url: "https://api.openai.com/v1" })).toEqual([
    422,
    expect.stringMatching(/OTHER_API_KEY is not set.*wrangler secret put OTHER_API_KEY/),
  ]);
});

it("timeouts: the run ends TIMEOUT with what it has, and says how it goes on", async () => {
  begin({ reply: (call) => (call.example === 0 ? null : neverAnswer()) });
  const ended = await outcome("reverse-text", { timeout_minutes: 1 }, async (id) => {
    await until("one unit done", async () => ((await run(id).view())?.units.done ?? 0) > 0);
    skip(60_000);
    await run(id).poke();
  });
  expect(ended).toEqual(["TIMEOUT", expect.stringMatching(/time limit of 1 minutes; results so far are kept\. Resume it, with a larger timeout_minutes/)]);
});

it.each([
  ["a key that the provider refuses", { kind: "status", status: 401 }, "FAILED", /auth_failed: .*MODELS_API_KEY/],
  ["a provider that fails", { kind: "status", status: 500 }, "FAILED", /(?:endpoint_unavailable|all_rollouts_failed): .*resume/],
] as const)("inference issues: %s", async (_, fault, status, words) => {
  begin({ reply: () => fault as never });
  expect(await outcome("reverse-text")).toEqual([status, expect.stringMatching(words)]);
});
