import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pythonPlace } from "../../../../src/cli/python/find-python.ts";
import { interpreterOf } from "../../../../src/cli/python/interpreter.ts";
import { environmentAt, installedEnvironment, trustLine } from "../../../../src/cli/python/python-environment.ts";
import { supportOf } from "../../../../src/cli/python/supported-versions.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-python-"));
  write("environments/sums/sums.py", "def load_environment(): ...\n");
  write("environments/sums/pyproject.toml", '[project]\nname = "sums"\ndependencies = ["verifiers", "sympy"]\n');
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
};

const GOOD = { version: [3, 11, 7], verifiers: "0.1.14", module: null, moduleVersion: null, missing: [] };
/** A program that answers as Python would, and keeps what it was asked beside itself. */
function fake(path: string, answer: object | string): string {
  const own = join(cwd, path);
  const says = typeof answer === "string" ? `echo '${answer}' >&2; exit 1` : `echo noise; echo '${JSON.stringify({ executable: own, ...GOOD, ...answer })}'`;
  write(path, `#!/bin/sh\necho "$@" > "$0.asked"\n${says}\n`);
  chmodSync(own, 0o755);
  return own;
}
const place = () => pythonPlace("sums", { cwd }) ?? expect.unreachable();
const told: string[] = [];
const chosen = async (python?: string, env: Record<string, string> = {}) =>
  await interpreterOf(place(), { cwd, python, env: { PATH: join(cwd, "bin"), ...env }, tell: (line) => told.push(line) });
const refusal = async (work: Promise<unknown>) =>
  await work.then(
    () => expect.unreachable(),
    (error: { message: string; hints: readonly string[]; exitCode: number }) => error,
  );

describe.skipIf(process.platform === "win32")("the interpreter of an environment", () => {
  it("is the one that is named: a program, one on the PATH, or a virtual environment's folder", async () => {
    const own = fake("else/where/py", {});
    fake("environments/sums/.venv/bin/python", {});
    expect((await chosen("else/where/py")).executable).toBe(own);
    expect((await chosen(own)).executable).toBe(own);
    const venv = fake("my-venv/bin/python", {});
    expect((await chosen("my-venv")).executable).toBe(venv);
    expect(await refusal(chosen("environments"))).toMatchObject({
      exitCode: 2,
      message: `--python: ${join(cwd, "environments")} is a folder, and no virtual environment`,
    });
    const gone = await refusal(chosen("gone/python"));
    expect(gone.message).toContain("sums is Python (environments/sums), and --python gone/python cannot be used: ");
  });

  it("is that of its folder before the active one, where it is installed before uv, uv before one that merely is there", async () => {
    const bare = fake("bin/python3", {});
    expect((await chosen()).executable).toBe(bare);
    const active = fake("active/bin/python", {});
    const VIRTUAL_ENV = join(cwd, "active");
    expect((await chosen(undefined, { VIRTUAL_ENV })).executable).toBe(active);
    fake("bin/uv", { executable: join(cwd, "environments/sums/.venv/bin/python") });
    told.length = 0;
    expect((await chosen(undefined, { VIRTUAL_ENV })).executable).toBe(join(cwd, "environments/sums/.venv/bin/python"));
    expect(told).toEqual(["uv prepares what sums needs (uv run --project environments/sums) …"]);
    fake("active/bin/python", { module: "/site-packages/sums.py" });
    expect((await chosen(undefined, { VIRTUAL_ENV })).executable).toBe(active);
    const own = fake("environments/sums/.venv/bin/python", {});
    expect((await chosen(undefined, { VIRTUAL_ENV })).executable).toBe(own);
  });

  it("that is not there, or too old, is said with what to install", async () => {
    expect(await refusal(chosen())).toMatchObject({
      exitCode: 2,
      message: "sums is Python (environments/sums), and there is no Python on the PATH",
      hints: [expect.stringMatching(/python\.org.*--python PATH/)],
    });
    const path = fake("bin/python3", { version: [3, 9, 2] });
    expect((await refusal(chosen())).message).toBe(`sums is Python, and ${path} is Python 3.9.2: 3.10 or later is needed`);
    fake("bin/python3", "dyld: no library");
    expect((await refusal(chosen())).message).toContain("python3 on the PATH cannot be used: dyld: no library");
  });

  it("without the library, with another release of it, or without what the environment needs is refused with the command that installs it", async () => {
    const path = fake("bin/python3", { verifiers: null, missing: ["verifiers", "sympy"] });
    expect(await refusal(chosen())).toMatchObject({
      exitCode: 2,
      message: `sums is written for the library verifiers, which ${path} has not`,
      hints: [`${path} -m pip install -e environments/sums 'verifiers<0.4'`, expect.stringContaining("--python PATH")],
    });
    fake("bin/python3", { verifiers: "0.4.0" });
    expect(await refusal(chosen())).toMatchObject({
      message: `verifiers 0.4.0 of ${path} is too new: environments are run with 0.1.10 to 0.3`,
      hints: [`${path} -m pip install 'verifiers>=0.1.10,<0.4'`, expect.anything()],
    });
    fake("bin/python3", { verifiers: "0.1.3.post1" });
    expect((await refusal(chosen())).message).toContain("is too old");
    fake("bin/python3", { missing: ["sympy"] });
    expect(await refusal(chosen())).toMatchObject({
      message: `sums needs sympy, which ${path} has not`,
      hints: [`${path} -m pip install -e environments/sums`, expect.anything()],
    });
  });

  it("has an environment that is installed in it, by its module", async () => {
    const path = fake("bin/python3", { module: "/site-packages/word_count/__init__.py" });
    const asking = { cwd, env: { PATH: join(cwd, "bin") }, python: undefined, tell: () => undefined };
    const found = await installedEnvironment("word-count", asking);
    expect(found).toMatchObject({ id: "word-count", target: "word-count", module: "word_count", folder: null, interpreter: { executable: path } });
    fake("bin/python3", {});
    expect(await installedEnvironment("word-count", asking)).toBeNull();
    expect(await installedEnvironment("owner/word-count", asking)).toBeNull();
  });

  it("is told with the environment, and that nothing is between that and this machine", async () => {
    fake("bin/python3", {});
    const environment = await environmentAt(place(), { cwd, env: { PATH: join(cwd, "bin") }, python: undefined, tell: () => undefined });
    expect(trustLine(environment, cwd)).toBe(
      "sums is Python (environments/sums) and not walled in: its code runs here with your rights, by bin/python3 (Python 3.11, verifiers 0.1.14)",
    );
  });
});

describe("a release of verifiers", () => {
  it.each([
    ["0.1.9", "older"],
    ["0.0.9", "older"],
    ["0.1.10", "supported"],
    ["0.1.14.dev3", "supported"],
    ["0.2.0rc1", "supported"],
    ["0.3.1", "supported"],
    ["0.4.0", "newer"],
    ["1.0", "newer"],
  ])("%s is %s", (version, support) => {
    expect(supportOf(version)).toBe(support);
  });
});
