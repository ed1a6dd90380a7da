import { describe, expect, it } from "vitest";
import { z } from "zod";
import { namedSandbox, type SandboxChoice } from "../../../src/config/sandbox-names.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { defineEnvironment, type LoaderContext } from "../../../src/environments/definition/definition.ts";
import { loadEnvironment } from "../../../src/environments/definition/load.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { Sandbox } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { usualSandbox } from "../../../src/sandboxes/choice.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { openDoor } from "../../support/door/fake-ports.ts";

const dataset = [{ question: "q" }];
const NONE = { local: "no bwrap", docker: "no engine", prime: "no PRIME_API_KEY", e2b: "no E2B_API_KEY", cloudflare: "no binding" };
const choice = (changes: Partial<SandboxChoice> = {}): SandboxChoice => ({
  chosen: null,
  usual: "local",
  problems: { ...NONE, local: null, e2b: null },
  ...changes,
});

const define = (id: string, make: (sandbox: LoaderContext["sandbox"]) => Sandbox, keys: readonly string[] = []) =>
  defineEnvironment({
    id,
    version: "1",
    description: "",
    args: z.object({}),
    keys,
    load: (_, { sandbox }) => new SandboxEnv({ dataset, sandbox: make(sandbox) }),
  });

describe("whose sandboxes an environment gets", () => {
  it.each<[string, SandboxChoice, string | undefined, unknown]>([
    ["the usual ones", choice(), undefined, { name: "local" }],
    ["those that it asks for", choice(), "e2b", { name: "e2b" }],
    ["those that the run chose, whatever it asks for", choice({ chosen: "local", usual: null }), "e2b", { name: "local" }],
    ["none that cannot be had, with what is missing", choice(), "prime", { problem: "sandboxes of prime cannot be had: no PRIME_API_KEY" }],
    ["none that there are not", choice(), "modal", { problem: expect.stringContaining("known are local, docker, prime, e2b, cloudflare") }],
    [
      "a question where there are several and none is usual",
      choice({ usual: null }),
      undefined,
      { problem: expect.stringContaining("local and e2b: say which") },
    ],
    [
      "a list of what is missing where there are none",
      choice({ usual: null, problems: NONE }),
      undefined,
      { problem: expect.stringContaining("e2b: no E2B_API_KEY") },
    ],
  ])("%s", (_, of, wanted, named) => {
    expect(namedSandbox(of, wanted)).toEqual(named);
  });

  it("are usually those of one's own machine, or those that the service says", () => {
    expect([usualSandbox({ LOCAL: "1" }), usualSandbox({}), usualSandbox({ SANDBOX: " e2b " }), usualSandbox({ LOCAL: "1", SANDBOX: "e2c" })]).toEqual([
      "local",
      null,
      "e2b",
      null,
    ]);
  });
});

describe("an environment that asks for a sandbox in its loader", () => {
  const usual = define("usual", (sandbox) => sandbox());
  const wishing = define("wishing", (sandbox) => sandbox("prime"));
  const paying = define("paying", (sandbox) => sandbox("e2b"), ["E2B_API_KEY"]);

  it("gets the one that its host has, under the name that it asks for", async () => {
    const scripted = new ScriptedSandbox();
    const named: (string | undefined)[] = [];
    const sandbox = (name?: string): Sandbox => {
      named.push(name);
      return scripted;
    };
    const context = { datasets: memoryDatasets(""), sandbox };
    expect((usual.load({}, context) as SandboxEnv).sandbox).toBe(scripted);
    wishing.load({}, context);
    expect(named).toEqual([undefined, "prime"]);
  });

  it("needs a run that allows sandboxes, however it is made", () => {
    const hidden = defineEnvironment({
      ...{ id: "hidden", version: "1", description: "", args: z.object({}) },
      load: (_, { sandbox }) => {
        sandbox();
        return new SingleTurnEnv({ dataset });
      },
    });
    expect(hidden.check({ env_args: {}, allowed: [] })).toMatchObject({ option: "allow_sandbox_access" });
    expect(hidden.check({ env_args: {}, allowed: ["sandbox"] })).toBeNull();
  });

  it("is told where there are none, and by whom", async () => {
    const { sandbox } = usual.load({}, { datasets: memoryDatasets("") }) as SandboxEnv;
    await expect(sandbox.create({} as never)).rejects.toThrow("this host gives environments no sandbox");
    expect(wishing.check({ env_args: {}, sandbox: choice() })).toEqual({ option: "sandbox", message: "sandboxes of prime cannot be had: no PRIME_API_KEY" });
    await expect(loadEnvironment("usual")).rejects.toThrow("there is no environment");
  });

  it("is refused sandboxes that are paid for with a key that it has itself", () => {
    const said = paying.check({ env_args: {}, sandbox: choice() }, () => "value");
    expect(said).toMatchObject({ option: "sandbox", message: expect.stringContaining("has E2B_API_KEY as a key of its own") as string });
    expect(define("given", (sandbox) => sandbox("e2b")).check({ env_args: {}, sandbox: choice(), secrets: { E2B_API_KEY: "value" } })).toMatchObject({
      option: "sandbox",
    });
    expect(paying.check({ env_args: {}, sandbox: choice({ chosen: "local" }) }, () => "value")).toBeNull();
  });

  it("can do nothing with it before rollouts run", async () => {
    const tried: Promise<string>[] = [];
    const eager = define("eager", (sandbox) => {
      const made = sandbox();
      tried.push(made.create({} as never));
      return made;
    });
    expect(eager.check({ env_args: {}, sandbox: choice() })).toBeNull();
    await expect(tried[0]).rejects.toThrow("sandboxes are made when rollouts run");
  });

  /** Status of a creation, and the fields that it is refused for with what is said of them. */
  async function answer(id: string, eval_config: JsonObject, secrets: Record<string, string> = {}) {
    const door = openDoor({}, secrets, undefined, [usual, wishing].map(offeredDefinition));
    const body = { environment_ids: [id], inference_model: "m", eval_config: { allow_sandbox_access: true, ...eval_config } };
    const response = await door.call("POST", "/hosted-evaluations", body);
    const { detail = [], evaluation_id = "" } = (await response.json()) as { detail?: { loc: string[]; msg: string }[]; evaluation_id?: string };
    return {
      status: response.status,
      door,
      refused: detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`),
      config: door.runs.get(evaluation_id)?.state?.config,
    };
  }
  const KEY = { PRIME_API_KEY: "sk-0123456789" };

  it("has its run refused at creation where they cannot be had, with what is missing", async () => {
    expect(await answer("wishing", { api_key_var: "MODEL_API_KEY" }, { MODEL_API_KEY: "sk-9876543210" })).toMatchObject({
      status: 422,
      refused: ["sandbox: sandboxes of prime cannot be had: PRIME_API_KEY is not set"],
    });
    expect(await answer("usual", { sandbox: "cloudflare" }, KEY)).toMatchObject({
      status: 422,
      refused: ["sandbox: sandboxes of cloudflare cannot be had: no binding"],
    });
    expect(await answer("usual", { sandbox: "e2c" }, KEY)).toMatchObject({
      status: 422,
      refused: ["sandbox: there are no such sandboxes (did you mean e2b?); known are local, docker, prime, e2b, cloudflare"],
    });
  });

  it("has its run made with those that were chosen, which are no part of what it measures", async () => {
    expect(await answer("wishing", { sandbox: "local" }, KEY)).toMatchObject({ status: 200, config: { sandbox: "local" } });
    const { config, status } = await answer("usual", {}, KEY);
    expect([status, config === undefined || "sandbox" in config]).toEqual([200, false]);
  });
});
