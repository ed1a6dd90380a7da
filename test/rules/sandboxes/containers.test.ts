import { spawnSync } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import { Containers } from "../../../src/cli/sandboxes/containers.ts";
import { ownFolder } from "../../../src/cli/sandboxes/folders.ts";
import { LocalSandboxes } from "../../../src/cli/sandboxes/local-sandboxes.ts";
import { LocalSandbox } from "../../../src/sandboxes/local/local-sandbox.ts";
import { parentOf } from "../../support/environments/local-sandboxes.ts";
import { sandboxConformance } from "../../support/environments/sandbox-conformance.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";
import { StandInEngine } from "../../support/environments/stand-in-engine.ts";

const shell = process.platform === "linux" && spawnSync("setsid", ["--version"]).status === 0;
if (!shell) console.log("skipped: there is no setsid for the stand-in of a container engine");

describe.runIf(shell)("containers, by a program that stands in for Docker's", () => {
  const engine = new StandInEngine();
  const machine = () => {
    const sandboxes = new LocalSandboxes([new Containers({ folder: ownFolder, env: engine.env })]);
    return { sandboxes, driver: new LocalSandbox(parentOf(sandboxes), { wall: "docker" }) };
  };
  const { driver, sandboxes } = machine();
  afterAll(async () => {
    await sandboxes.close();
    engine.remove();
  });

  sandboxConformance("containers", () => driver);

  it("are asked for with their walls, and no value of a variable is a word of the command", async () => {
    const spec = {
      ...SPEC,
      docker_image: "ubuntu:24.04",
      memory_gb: 1.5,
      cpu_cores: 2,
      gpu_count: 1,
      environment_vars: { SECRET: "the value" },
      labels: ["mine"],
    };
    const id = await driver.create(spec);
    expect((await driver.execute(id, 'echo "$SECRET"', { timeoutSeconds: 10 })).stdout).toBe("the value\n");
    await driver.delete([id]);
    const words = engine.asked.find((each) => each[0] === "run" && each.includes(id)) ?? [];
    expect(words.join(" ")).toContain(
      "--label mine --network none --memory 1610612736b --memory-swap 1610612736b --cpus 2 --pids-limit 512 --cap-drop ALL --security-opt no-new-privileges",
    );
    expect([words.includes("ubuntu:24.04"), words.join(" ").includes("--gpus 1"), engine.asked.some((each) => each.join(" ").includes("the value"))]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("of owners that are no more are removed, and nobody else's", async () => {
    const own = await driver.create(SPEC);
    await sandboxes.sweep();
    expect((await driver.execute(own, "echo on", { timeoutSeconds: 10 })).stdout).toBe("on\n");
    await driver.delete([own]);
    expect(engine.asked.filter(([verb]) => verb === "ps").length).toBeGreaterThan(0);
  });

  it("are not there where the program is, and its engine is not", async () => {
    engine.stop();
    const { driver: none, sandboxes: without } = machine();
    await expect(none.create(SPEC)).rejects.toThrow(/docker is installed, and its engine does not answer/);
    await without.close();
  });
});
