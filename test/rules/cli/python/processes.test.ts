import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { EnvironmentProcess } from "../../../../src/cli/python/environment-process.ts";
import { readLine } from "../../../../src/cli/python/first-line.ts";
import { startOf } from "../../../../src/cli/state/processes.ts";
import type { CliError } from "../../../../src/cli/terminal/cli-error.ts";
import { until } from "../../../support/cli/cli-process.ts";

const STAND_IN = fileURLToPath(new URL("../../../support/python/stand-in-server.ts", import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), "edgewise-processes-"));

interface Told {
  readonly process: EnvironmentProcess;
  readonly deaths: string[];
  readonly given: CliError[];
}
const started: EnvironmentProcess[] = [];
function processOf(how: string, { silentMs = 60_000, env = {} }: { silentMs?: number; env?: Record<string, string> } = {}): Told {
  const deaths: string[] = [];
  const given: CliError[] = [];
  const process_ = new EnvironmentProcess({
    name: "my-env",
    executable: process.execPath,
    args: ["--disable-warning=ExperimentalWarning", STAND_IN, "my-env"],
    cwd,
    env: { PATH: process.env.PATH ?? "", STAND_IN: how, ...env },
    token: "t",
    silentMs,
    onDeath: (line) => deaths.push(line),
    onGivenUp: (error) => given.push(error),
    hintsFor: () => ["what to type"],
  });
  started.push(process_);
  return { process: process_, deaths, given };
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.end()));
});

const asked = async (url: string): Promise<{ readonly args: readonly string[]; readonly env: Record<string, string> }> => (await fetch(url)).json() as never;
const serves = async (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.ok,
    () => false,
  );

describe("the process of an environment", () => {
  it("says where it serves, whatever is printed before, and has no variables but those it is given", async () => {
    const { process: own } = processOf("chats");
    const { args, env } = await asked(await own.start());
    expect(args).toEqual(["my-env", "--port", "0", "--with-parent"]);
    expect(
      Object.keys(env)
        .filter((name) => !["_", "PWD", "SHLVL", "OLDPWD"].includes(name))
        .sort(),
    ).toEqual(["PATH", "STAND_IN"]);
  });

  it("that cannot start says why, and is not started again", async () => {
    const failing = processOf("fails");
    await expect(failing.process.start()).rejects.toMatchObject({
      message: "my-env: its process could not be started: No module named 'sympy'",
      hints: ["pip install sympy", "what to type"],
    });
    const crashing = processOf("crashes");
    await expect(crashing.process.start()).rejects.toMatchObject({
      message: expect.stringContaining("exit code 1: RuntimeError: no"),
      hints: ["Traceback (most recent call last):", "what to type"],
    });
    expect([...failing.deaths, ...failing.given, ...crashing.deaths, ...crashing.given]).toEqual([]);
  });

  it("is started again at the same address when it is killed", async () => {
    const { process: own, deaths } = processOf("serves");
    const url = await own.start();
    const first = own.pid ?? 0;
    process.kill(first, "SIGKILL");
    await until(() => deaths.length === 1 && own.pid !== first, 20_000);
    await until(() => serves(url), 20_000);
    expect(deaths).toEqual([expect.stringMatching(/^warning: the process of my-env ended \(SIGKILL\) and is started again; /)]);
  });

  it("that answers nobody is killed and started again", { timeout: 60_000 }, async () => {
    const { process: own, deaths } = processOf("hangs", { silentMs: 1000 });
    await own.start();
    const first = own.pid;
    await until(() => own.pid !== first && deaths.length >= 2, 40_000);
    expect(deaths.slice(0, 2)).toEqual(["warning: the process of my-env has answered nobody for 1 s and is ended", expect.stringContaining("ended (SIGKILL)")]);
  });

  it("takes with it what it has started, when it is ended and when it is killed", async () => {
    const file = join(cwd, "child");
    for (const end of [(own: EnvironmentProcess) => own.end(), async (own: EnvironmentProcess) => void process.kill(own.pid ?? 0, "SIGKILL")]) {
      const { process: own } = processOf("has a child", { env: { STAND_IN_CHILD: file } });
      await own.start();
      const child = Number(readFileSync(file, "utf8"));
      expect(startOf(child)).not.toBeNull();
      await end(own);
      await until(() => startOf(child) === null, 20_000);
      await own.end();
    }
    rmSync(file);
  });

  it("is ended for good, also while it starts", async () => {
    const { process: own, deaths, given } = processOf("serves");
    const starting = own.start();
    await own.end();
    await expect(starting).rejects.toThrow();
    const { process: other } = processOf("serves");
    const url = await other.start();
    await other.end();
    expect(await serves(url)).toBe(false);
    expect([...deaths, ...given]).toEqual([]);
  });
});

describe("a line of an environment's process", () => {
  it("is ours where it says where it serves, or why it does not; anything else is some module's", () => {
    expect(readLine('{"edgewise_env":1,"url":"http://127.0.0.1:9/base/","environment":"e","pid":3}')).toEqual({
      kind: "started",
      url: "http://127.0.0.1:9/base",
    });
    expect(readLine('{"edgewise_env":1,"error":{"code":"c","message":"m"}}')).toEqual({ kind: "failed", message: "m", hint: null });
    for (const line of ["hello", "{}", '{"edgewise_env":2,"url":"http://x"}', '{"edgewise_env":1}']) expect(readLine(line)).toBeNull();
  });
});
