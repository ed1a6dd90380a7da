import { describe, expect, it } from "vitest";
import type { Grant, SandboxRequest } from "../../../durable-objects/run/protocol.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { SandboxName } from "../../../src/config/sandbox-names.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { SandboxCreationError } from "../../../src/errors/rollout-errors.ts";
import { GrantSandboxes } from "../../../src/executor/grant-sandboxes.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";
import { clientPortsOfExecutor, grantFor } from "../../support/run/executor-ports.ts";

/** What an executor has for grants of one run, with drivers in memory. */
function executor({ answer = "ok" as "ok" | "lost", usual = "local" as SandboxName | null } = {}) {
  const drivers = new Map<SandboxName, ScriptedSandbox>();
  const driver = (name: SandboxName): ScriptedSandbox => {
    const known = drivers.get(name) ?? new ScriptedSandbox();
    drivers.set(name, known);
    return known;
  };
  const noted: SandboxRequest[] = [];
  const said: string[] = [];
  const run = {
    sandbox: async (request: SandboxRequest) => {
      noted.push(request);
      return { kind: answer };
    },
  };
  const ports = clientPortsOfExecutor({ run: () => run as never, usualSandbox: usual, sandboxes: driver, sleep: () => new Promise(() => undefined) });
  const under = (epoch: number, config: Partial<RunConfig> = {}, changes: Partial<Grant> = {}): GrantSandboxes =>
    new GrantSandboxes(ports, ports.fetch, { ...grantFor({ attended: true, ...config }), epoch, ...changes }, (message) => said.push(message));
  return { driver, noted, said, under };
}

describe("the sandboxes of a grant", () => {
  it("are the run's, or the environment's wish, or the usual ones, each driver told to the run before its first", async () => {
    const { driver, noted, under } = executor();
    const of = under(3).for([]);
    expect(of()).toBe(of("local"));
    await of().create(SPEC);
    await of().create(SPEC);
    await of("e2b").create(SPEC);
    await under(4, { sandbox: "prime" }).for([])("e2b").create(SPEC);
    expect(noted.map(({ epoch, driver: name }) => [epoch, name])).toEqual([
      [3, "local"],
      [3, "e2b"],
      [4, "prime"],
    ]);
    expect(driver("local").created[1]?.spec.labels).toEqual(expect.arrayContaining(["edgewise", "edgewise-run-0000abcd", "edgewise-grant-1-3"]));
  });

  it("are none where the run allows none, the key is the environment's, nobody said whose, or the grant is over", async () => {
    const { under } = executor();
    expect(() => under(1, { attended: false }).for([])()).toThrow(/does not allow it/);
    expect(() => under(1).for(["PRIME_API_KEY"])("prime")).toThrow(/PRIME_API_KEY as a key of its own/);
    expect(() => executor({ usual: null }).under(1).for([])()).toThrow(/say which/);
    const lost = executor({ answer: "lost" });
    await expect(lost.under(1).for([])().create(SPEC)).rejects.toThrow(SandboxCreationError);
    expect(lost.driver("local").created).toEqual([]);
  });

  it("that killed executors left are ended by the next one, and said so", async () => {
    const { driver, said, under } = executor();
    for (const epoch of [1, 2, 5])
      await under(epoch)
        .for([])()
        .create({ ...SPEC, name: `of-${epoch}` });
    const looks = (turns: boolean) => under(4, {}, { sandboxes: { drivers: ["local"], live: [2], turns } });
    await looks(true).removeLeftovers();
    await under(4).removeLeftovers();
    expect(driver("local").running).toHaveLength(3);
    await looks(false).removeLeftovers();
    expect([driver("local").running.map((id) => id.slice(0, 4)), said]).toEqual([["of-2", "of-5"], ["sandboxes of local that were left over are ended: 1"]]);
  });

  it("are looked for once more at the end, for a moment, and what cannot be ended is told", async () => {
    const { driver, said, under } = executor();
    await under(1).for([])().create(SPEC);
    const last = () => under(9, {}, { sandboxes: { drivers: ["local", "e2b"], live: [], turns: false } });
    driver("e2b").list = () => Promise.reject(new TypeError("no network"));
    await last().removeLast();
    expect(driver("local").running).toEqual([]);
    expect(said.filter((text) => text.includes("no network"))).toEqual([
      "sandboxes of e2b that are left over could not be ended, and end by their own time limit: no network",
    ]);
  });
});
