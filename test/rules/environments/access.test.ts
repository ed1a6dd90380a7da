import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Access } from "../../../src/environments/definition/access.ts";
import { defineEnvironment, type DefinitionOptions } from "../../../src/environments/definition/definition.ts";
import { EnvGroup } from "../../../src/environments/kinds/env-group.ts";
import { offeredDefinition } from "../../../src/environments/definition/offered.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { COMMAND_SECRET, openDoor } from "../../support/door/fake-ports.ts";

const dataset = [{ question: "q" }];
const define = (id: string, load: DefinitionOptions<z.ZodObject>["load"], access?: readonly Access[]) =>
  defineEnvironment({ id, version: "1.0.0", description: id, args: z.object({}), load, ...(access === undefined ? {} : { access }) });

/** A driver whose sandboxes are machines of their own. */
class Machines extends ScriptedSandbox {
  readonly access = "instances";
}
const plain = define("plain", () => new SingleTurnEnv({ dataset }));
const boxed = define("boxed", () => new SandboxEnv({ dataset, sandbox: new ScriptedSandbox() }));
const machines = define("machines", () => new SandboxEnv({ dataset, sandbox: new Machines() }));
const grouped = define("grouped", () => new EnvGroup({ envs: [new SingleTurnEnv({ dataset }), new SandboxEnv({ dataset, sandbox: new ScriptedSandbox() })] }));
const declared = define("declared", () => new SingleTurnEnv({ dataset }), ["instances"]);
const ALL = [plain, boxed, machines, grouped, declared];

/** Status of a creation, and the fields that it is refused for with what is said of them. */
async function answer(id: string, eval_config: JsonObject, headers: Record<string, string> = {}) {
  const door = openDoor({}, undefined, undefined, ALL.map(offeredDefinition));
  const response = await door.call("POST", "/hosted-evaluations", { environment_ids: [id], inference_model: "m", eval_config }, headers);
  const { detail = [] } = (await response.json()) as { detail?: { loc: string[]; msg: string }[] };
  return { status: response.status, refused: detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`) };
}

describe("a run whose environment asks for more than models and data", () => {
  it.each([
    ["boxed", "allow_sandbox_access"],
    ["grouped", "allow_sandbox_access"],
    ["machines", "allow_instances_access"],
    ["declared", "allow_instances_access"],
  ])("of %s is refused without %s, which the refusal names, and made with it", async (id, flag) => {
    const other = flag === "allow_sandbox_access" ? "allow_instances_access" : "allow_sandbox_access";
    for (const given of [{}, { [flag]: false }, { [other]: true, allow_tunnel_access: true }]) {
      const { status, refused } = await answer(id, given);
      expect([status, refused]).toEqual([
        422,
        [expect.stringMatching(`^${flag}: environment ${id} asks for .*: set ${flag} \\(--${flag.replaceAll("_", "-")}\\)$`)],
      ]);
    }
    expect(await answer(id, { [flag]: true })).toEqual({ status: 200, refused: [] });
  });

  it("is not asked for anything where its environment asks for nothing, or a person sits at its terminal", async () => {
    expect((await answer("plain", {})).status).toBe(200);
    expect((await answer("boxed", {}, { "x-edgewise-attended": COMMAND_SECRET })).status).toBe(200);
  });

  it("may be described and tried without a word", () => {
    expect(boxed.check({ env_args: {} })).toBeNull();
  });
});
