import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../../src/errors/rollout-errors.ts";
import type { DriverHost } from "../../../src/sandboxes/driver.ts";
import { driverProblem } from "../../../src/sandboxes/drivers.ts";
import { E2bSandbox } from "../../../src/sandboxes/e2b/e2b-sandbox.ts";
import { PrimeSandbox } from "../../../src/sandboxes/prime/prime-sandbox.ts";
import { sandboxConformance } from "../../support/environments/sandbox-conformance.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";
import { E2bProvider } from "../../support/sandboxes/e2b-provider.ts";
import { PrimeProvider } from "../../support/sandboxes/prime-provider.ts";

/** What the scripted providers have in common. */
type Provider = Pick<E2bProvider, "fetch" | "key" | "failing">;

const host = ({ fetch, key }: Pick<Provider, "fetch" | "key">, changes: Partial<DriverHost> = {}): DriverHost => ({
  env: {},
  key: async (name) => (name.endsWith("_API_KEY") ? key : null),
  fetch,
  sleep: async () => undefined,
  now: Date.now,
  ...changes,
});
const e2b = (provider: Provider = new E2bProvider()): Sandbox => new E2bSandbox(host(provider));
const prime = (provider: Provider = new PrimeProvider()): Sandbox => new PrimeSandbox(host(provider));

sandboxConformance("E2B, as its package speaks with it", () => e2b());
sandboxConformance("Prime, as its package speaks with it", () => prime());

const options = { timeoutSeconds: 10 };

describe.each<readonly [string, () => Provider, (provider: Provider) => Sandbox]>([
  ["E2B", () => new E2bProvider(), e2b],
  ["Prime", () => new PrimeProvider(), prime],
])("a provider of sandboxes elsewhere: %s", (_, make, open) => {
  const both = () => {
    const provider = make();
    return { provider, sandbox: open(provider) };
  };

  it("is asked again for what may be done twice where it is busy, and not for what it refuses", async () => {
    const { provider, sandbox } = both();
    const id = await sandbox.create(SPEC);
    await sandbox.writeFile(id, "a/b", Uint8Array.of(1));
    provider.failing = [503, 429, 502];
    expect(await sandbox.readFile(id, "a/b")).toEqual(Uint8Array.of(1));
    provider.failing = [403];
    await expect(sandbox.readFile(id, "a/b")).rejects.toThrow(/403: not now/);
    // Whether a command ran that was answered with nothing is not known.
    provider.failing = [503];
    await expect(sandbox.execute(id, "true", options)).rejects.toThrow(SandboxError);
    await sandbox.delete([id]);
  });

  it("goes on with a sandbox that another executor made", async () => {
    const { provider, sandbox } = both();
    const id = await sandbox.create(SPEC);
    const other = open(provider);
    await other.ready(id);
    expect((await other.execute(id, "echo here", options)).stdout).toBe("here\n");
    await other.delete([id]);
    await expect(sandbox.ready(id)).rejects.toThrow(SandboxNotReadyError);
  });

  it("is not left for an address that a sandbox names in the provider's place", async () => {
    const { provider, sandbox } = both();
    const id = await sandbox.create(SPEC);
    const fetch: Provider["fetch"] = async (url, init) => {
      if (!/\/(files|download)\?/.test(url)) return provider.fetch(url, init);
      return init?.redirect === "manual" ? new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }) : new Response("elsewhere");
    };
    await expect(open({ key: provider.key, failing: [], fetch }).readFile(id, "/a")).rejects.toThrow(/answered 302/);
    await sandbox.delete([id]);
  });

  it("that refuses a creation is told as one, without its key", async () => {
    const { provider, sandbox } = both();
    provider.failing = [402];
    const refused = await sandbox.create(SPEC).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(SandboxCreationError);
    expect(String(refused)).not.toContain(provider.key);
  });

  it("ends what a command that took too long had started, too", async () => {
    const { sandbox } = both();
    const id = await sandbox.create(SPEC);
    await expect(sandbox.execute(id, "(sleep 1.2; touch late) & sleep 30; true", { timeoutSeconds: 0.3 })).rejects.toThrow("longer than 0.3 s");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await expect(sandbox.readFile(id, "late")).rejects.toThrow(SandboxError);
    await sandbox.delete([id]);
  });

  it("says how a signal ended a command as a shell does", async () => {
    const { sandbox } = both();
    const id = await sandbox.create(SPEC);
    expect((await sandbox.execute(id, "kill -9 $$", options)).exit_code).toBe(137);
    await sandbox.delete([id]);
  });
});

describe("what providers are told", () => {
  it("is a template of E2B's and no image, which it has none of", async () => {
    const provider = new E2bProvider();
    const sandbox = e2b(provider);
    await expect(sandbox.create({ ...SPEC, docker_image: "ubuntu:24.04" })).rejects.toThrow(/from templates, not from the image ubuntu/);
    await expect(sandbox.create({ ...SPEC, gpu_count: 1 })).rejects.toThrow(/no sandboxes with GPUs/);
    const ids = [await sandbox.create(SPEC), await sandbox.create({ ...SPEC, advanced_configs: { template: "mine" } })];
    expect(provider.creations).toMatchObject([
      { templateID: "base", timeout: 300, metadata: { conformance: "label" }, envVars: { GREETING: "hello" } },
      { templateID: "mine" },
    ]);
    await sandbox.delete(ids);
  });

  it("is what Prime makes a machine of, for the team of its key", async () => {
    const provider = new PrimeProvider();
    const sandbox = new PrimeSandbox(host(provider, { key: async (name) => (name === "PRIME_TEAM_ID" ? "team-1" : provider.key) }));
    const id = await sandbox.create({ ...SPEC, gpu_count: 1, start_command: "serve", advanced_configs: { gpu_type: "H100", other: 1 } });
    expect(provider.creations[0]).toMatchObject({
      ...{ name: "conformance", docker_image: "python:3.11-slim", memory_gb: 1, timeout_minutes: 5, vm: true, team_id: "team-1", gpu_type: "H100" },
      ...{ labels: ["conformance"], start_command: { executable: "/bin/sh", args: ["-c", "serve"] }, advanced_configs: { other: 1 } },
    });
    // A pass that counts no more is asked for again.
    await sandbox.execute(id, "true", options);
    provider.ended.add(`pass-of-${id}-1`);
    expect((await sandbox.execute(id, "echo on", options)).stdout).toBe("on\n");
    await expect(sandbox.expose()).rejects.toThrow(/no port reachable/);
    await sandbox.delete([id]);
  });

  it("needs a key, which is named where it is not there", async () => {
    const none = host({ fetch: () => Promise.reject(new Error("no network")), key: "" }, { key: async () => null });
    expect([await driverProblem("e2b", none), await driverProblem("prime", none), await driverProblem("e2b", { ...none, key: async () => "k" })]).toEqual([
      expect.stringContaining("E2B_API_KEY is not set"),
      expect.stringContaining("PRIME_API_KEY is not set"),
      null,
    ]);
  });
});
