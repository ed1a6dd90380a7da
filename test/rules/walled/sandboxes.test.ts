import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineEnvironment, type LoadContext } from "../../../src/environments/definition/definition.ts";
import { NoSandboxError } from "../../../src/environments/sandbox/asked-for.ts";
import { type Sandbox, CommandTimedOut } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { MAX_SANDBOX_FILE_BYTES, MAX_WALLED_SANDBOXES } from "../../../src/limits.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";
import { SandboxCreationError } from "../../../src/errors/rollout-errors.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { ProcessSandbox } from "../../support/environments/process-sandbox.ts";
import { sandboxConformance } from "../../support/environments/sandbox-conformance.ts";
import { SPEC } from "../../support/environments/sandbox-spec.ts";
import { memoryChannels } from "../../support/walled/memory-channels.ts";
import { openSession } from "../../../src/environment-session/session.ts";
import { lines, run } from "../../support/walled/both.ts";
import { errorsOf } from "../../support/walled/lying.ts";
import { response, scripted } from "../../support/walled/units.ts";
import { walled } from "../../support/walled/walled.ts";
import { Conversation } from "../../../src/walled/conversation.ts";

const dataset = [{ question: "q" }];

/** A sandbox as code behind a wall has it, whose host has `driver`. */
function behind(driver: Sandbox | ((name?: string) => Sandbox)) {
  let given: Sandbox | undefined;
  const definition = defineEnvironment({
    ...{ id: "boxed", version: "1", description: "", args: z.object({}) },
    load: (_, { sandbox }) => {
      given = sandbox("prime");
      return new SandboxEnv({ dataset, sandbox: given });
    },
  });
  const context: LoadContext = { datasets: memoryDatasets(""), sandbox: typeof driver === "function" ? driver : () => driver };
  const all = walled(definition);
  return { definition, context, all, load: async () => ({ hosted: await all.offered.load({}, context), sandbox: given as Sandbox }) };
}

/** Opened when it is first used, since the suite opens it at once. */
function lazily(open: () => Promise<Sandbox>): Sandbox {
  let opened: Promise<Sandbox> | undefined;
  const method =
    (name: keyof Sandbox) =>
    async (...args: unknown[]): Promise<unknown> => {
      opened ??= open();
      return ((await opened)[name] as (...all: unknown[]) => Promise<unknown>)(...args);
    };
  const names = ["create", "ready", "execute", "start", "job", "stop", "writeFile", "readFile", "expose", "delete"] as const;
  return Object.fromEntries(names.map((name) => [name, method(name)])) as unknown as Sandbox;
}
sandboxConformance("an environment behind a wall", () => lazily(async () => (await behind(new ProcessSandbox()).load()).sandbox));

describe("an environment with a sandbox behind a wall", () => {
  const call = { tool_calls: [{ id: "1", name: "bash", arguments: '{"command": "ls"}' }] };
  const model = () => scripted(({ prompt }) => (prompt.length > 2 ? response("done") : response("", call)));

  it("has the same rows as inside, and ends its sandboxes", async () => {
    const rows: string[][] = [];
    for (const isWalled of [false, true]) {
      const driver = new ScriptedSandbox({ execute: (command) => `ran ${command}` });
      const { all, context, definition } = behind(driver);
      const hosted = isWalled ? await all.offered.load({}, context) : inProcess(definition.load({}, context));
      const outcome = await run(hosted, model(), 2, {});
      rows.push(lines(outcome).map((line) => line.replace(/"sandbox_[a-z_]+":[0-9.e-]+/g, "")));
      await hosted.teardown();
      expect([driver.created.length, driver.running]).toEqual([2, []]);
    }
    expect(rows[1]).toEqual(rows[0]);
    expect(rows[0]?.[0]).toContain("ran ls");
  });

  it("is told what failed as it is inside, so that its rollout is drawn again", async () => {
    const { hosted, sandbox } = await behind(new ScriptedSandbox({ failures: { create: 9 }, execute: () => ({ timeout: true }) })).load();
    await expect(sandbox.create(SPEC)).rejects.toThrow(SandboxCreationError);
    const other = await behind(new ScriptedSandbox({ execute: () => ({ timeout: true }) })).load();
    await expect(other.sandbox.execute(await other.sandbox.create(SPEC), "x", { timeoutSeconds: 1 })).rejects.toThrow(CommandTimedOut);
    const refused = await behind(() => {
      throw new NoSandboxError("gone");
    }).load();
    await expect(refused.sandbox.create(SPEC)).rejects.toThrow(SandboxCreationError);
    await hosted.teardown();
  });

  it("names whose it would rather have, and the host decides", async () => {
    const named: (string | undefined)[] = [];
    const { sandbox } = await behind((name) => {
      named.push(name);
      return new ScriptedSandbox();
    }).load();
    await sandbox.create(SPEC);
    expect(named).toEqual(["prime"]);
  });

  it("has so many at once and no more, and files of a size", async () => {
    const driver = new ScriptedSandbox();
    const { sandbox } = await behind(driver).load();
    const ids = await Promise.all(Array.from({ length: MAX_WALLED_SANDBOXES }, () => sandbox.create(SPEC)));
    await expect(sandbox.create(SPEC)).rejects.toThrow(/256 sandboxes at most at once/);
    await sandbox.delete(ids.slice(0, 1));
    const id = await sandbox.create(SPEC);
    await expect(sandbox.writeFile(id, "big", new Uint8Array(MAX_SANDBOX_FILE_BYTES + 1))).rejects.toThrow(/at most/);
    const large = new Uint8Array(MAX_SANDBOX_FILE_BYTES).fill(7);
    await sandbox.writeFile(id, "large", large);
    expect(await sandbox.readFile(id, "large")).toEqual(large);
  });

  it("that is cut off has its sandboxes ended for it, and one that is torn down ends its own", async () => {
    for (const ends of ["breaks", "closes"] as const) {
      const driver = new ScriptedSandbox();
      const { definition, context } = behind(driver);
      const channels = memoryChannels();
      openSession(() => definition, channels.environment);
      const ask = { id: "boxed", context, args: {}, hosts: [], now: Date.now, onEnd: () => undefined };
      const conversation = new Conversation(channels.engine, ask);
      await conversation.ask({ type: "open", v: 1, args: {}, extra: {}, rubric: null, keys: {}, variables: {} }, "opened");
      channels.engine.onBatch([{ type: "sandbox", call: 1, driver: null, request: { op: "create", spec: SPEC } }]);
      await expect.poll(() => driver.running.length).toBe(1);
      if (ends === "breaks") channels.breaks();
      else await conversation.ask({ type: "close" }, "closed");
      conversation.end({ code: "environment_failed", message: "over" });
      if (ends === "breaks") await expect.poll(() => driver.running).toEqual([]);
      else expect(driver.running).toEqual(["conformance-0"]);
    }
  });

  it.each([
    ["no operation", { op: "fork", id: "x" }],
    ["a command that goes on for days", { op: "execute", id: "x", command: "true", timeout_seconds: 90_000, working_dir: null }],
    ["a machine of another size", { op: "create", spec: { ...SPEC, gpu_count: 64 } }],
    ["a port that there is not", { op: "expose", id: "x", port: 70_000 }],
    ["more than a file", { op: "write", id: "x", path: "y", content: "A".repeat(4 * Math.ceil(MAX_SANDBOX_FILE_BYTES / 3) + 1) }],
  ])("that asks for %s has broken the protocol", async (_, request) => {
    const { all, context } = behind(new ScriptedSandbox());
    const hosted = await all.offered.load({}, context);
    all.channels[0]?.engine.onBatch([{ type: "sandbox", call: 1, driver: null, request }]);
    expect(errorsOf(await run(hosted, model(), 1, {}))[0]).toMatchObject({ code: null });
    expect(all.channels).toHaveLength(2);
  });
});
