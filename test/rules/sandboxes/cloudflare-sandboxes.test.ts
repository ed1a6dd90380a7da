import { describe, expect, it } from "vitest";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../../src/errors/rollout-errors.ts";
import { CloudflareSandbox } from "../../../src/sandboxes/cloudflare/cloudflare-sandbox.ts";
import type { DriverHost } from "../../../src/sandboxes/driver.ts";
import { driverProblem } from "../../../src/sandboxes/drivers.ts";
import { sandboxConformance } from "../../support/environments/sandbox-conformance.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";
import { ContainerNamespace } from "../../support/sandboxes/container-namespace.ts";

sandboxConformance("Cloudflare, by the methods of its SDK", () => new CloudflareSandbox(new ContainerNamespace()));

const options = { timeoutSeconds: 10 };

describe("a container of Cloudflare's", () => {
  const both = () => {
    const containers = new ContainerNamespace();
    return { containers, sandbox: new CloudflareSandbox(containers) };
  };

  it("falls asleep when its environment says, and one that slept is no sandbox any more", async () => {
    const { containers, sandbox } = both();
    const id = await sandbox.create(SPEC);
    expect(containers.configured).toEqual([{ sandboxName: { name: id, normalizeId: true }, sleepAfter: "5m" }]);
    containers.sleep(id);
    await expect(sandbox.execute(id, "true", options)).rejects.toThrow(`there is no sandbox ${id} any more`);
    await expect(sandbox.ready(id)).rejects.toThrow(SandboxNotReadyError);
    await sandbox.delete([id]);
  });

  it("has the image that it is deployed with, and no GPU", async () => {
    const { sandbox } = both();
    await expect(sandbox.create({ ...SPEC, docker_image: "ubuntu:24.04" })).rejects.toThrow(/not ubuntu:24.04/);
    await expect(sandbox.create({ ...SPEC, gpu_count: 1 })).rejects.toThrow(SandboxCreationError);
  });

  it("that cannot be had is told as a creation that failed, and one that fails later as a sandbox", async () => {
    const { containers, sandbox } = both();
    containers.failing = 1;
    await expect(sandbox.create(SPEC)).rejects.toThrow(/cannot be had: There is no container instance/);
    const id = await sandbox.create({ ...SPEC, environment_vars: { QUOTED: `it's "so" $HOME\nand on` } });
    expect((await sandbox.execute(id, 'printf %s "$QUOTED"', options)).stdout).toBe(`it's "so" $HOME\nand on`);
    containers.failing = 1;
    await expect(sandbox.execute(id, "true", options)).rejects.toThrow(SandboxError);
    await sandbox.delete([id]);
  });

  it("needs a binding, which is named where it is not there", async () => {
    const host = { env: {}, key: async () => null } as Partial<DriverHost> as DriverHost;
    expect(await driverProblem("cloudflare", host)).toMatch(/no binding SANDBOXES/);
    expect(await driverProblem("cloudflare", { ...host, env: { SANDBOXES: new ContainerNamespace() } })).toBeNull();
  });
});
