import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Outcome, runInProcess } from "../../../support/cli/cli-in-process.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-env-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const env = (...args: readonly string[]): Promise<Outcome> => runInProcess(["env", ...args], { cwd });
const json = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(cwd, ...path), "utf8"));
const write = (content: string, ...path: readonly string[]): void => writeFileSync(join(cwd, ...path), content);

describe("env init", () => {
  it("makes the project's files modules and has them checked, where nothing says how", async () => {
    const { code, out } = await env("init", "my-sums");
    expect(code).toBe(0);
    expect(out).toContain("wrote tsconfig.json");
    expect(json("package.json")).toEqual({ private: true, type: "module" });
    expect(json("tsconfig.json")).toMatchObject({ compilerOptions: { module: "nodenext", strict: true }, include: ["environments/**/*.ts"] });
  });

  it("adds the type to a package.json that has none, and changes nothing else", async () => {
    write('{\n\t"name": "mine",\n\t"dependencies": {\n\t\t"edgewise": "0.1.0"\n\t}\n}\n', "package.json");
    write("{}", "tsconfig.json");
    await env("init", "my-sums");
    expect(readFileSync(join(cwd, "package.json"), "utf8")).toBe(
      '{\n\t"name": "mine",\n\t"dependencies": {\n\t\t"edgewise": "0.1.0"\n\t},\n\t"type": "module"\n}\n',
    );
    expect(readFileSync(join(cwd, "tsconfig.json"), "utf8")).toBe("{}");
  });

  it("leaves a project of the other type alone: the environment's own folder says what it is", async () => {
    write('{"type": "commonjs"}', "package.json");
    await env("init", "my-sums");
    expect(json("package.json")).toEqual({ type: "commonjs" });
    expect(json("environments", "my_sums", "package.json")).toEqual({ private: true, type: "module" });
  });

  it("names a package.json that cannot be read, before it writes anything", async () => {
    write("{", "package.json");
    const { code, err } = await env("init", "my-sums");
    expect([code, existsSync(join(cwd, "environments"))]).toEqual([2, false]);
    expect(err).toContain("package.json cannot be read");
  });
});

describe("env test", () => {
  it("says what is not there", async () => {
    expect(await env("test")).toMatchObject({ code: 2, err: expect.stringContaining("there is no test in ./environments") });
    await env("init", "my-sums");
    expect(await env("test", "other")).toMatchObject({ code: 2, err: expect.stringContaining("It has my_sums.") });
  });

  it("names the place of what cannot be compiled, and leaves nothing behind", async () => {
    const folder = ["environments", "odd"];
    mkdirSync(join(cwd, ...folder), { recursive: true });
    write("export default 1;", ...folder, "odd.ts");
    write('import { x } from "./nowhere.ts";\nx();', ...folder, "odd.test.ts");
    const { code, err } = await env("test", "odd");
    expect(code).toBe(2);
    expect(err).toMatch(/odd\.test\.ts:1:19: Could not resolve "\.\/nowhere\.ts"/);
    expect(readdirSync(join(cwd, ...folder)).sort()).toEqual(["odd.test.ts", "odd.ts"]);
  });

  it("ends with 1 where a test fails, 0 where all pass", async () => {
    const folder = ["environments", "plain"];
    mkdirSync(join(cwd, ...folder), { recursive: true });
    write("export default 1;", ...folder, "plain.ts");
    const test = (wanted: number): string => `import test from "node:test"; import assert from "node:assert"; test("t", () => assert.equal(1, ${wanted}));`;
    write(test(1), ...folder, "plain.test.ts");
    expect((await env("test", "./environments/plain")).code).toBe(0);
    write(test(2), ...folder, "plain.test.ts");
    expect((await env("test", "./environments/plain/plain.ts")).code).toBe(1);
  }, 30_000);
});

describe("env list", () => {
  it("shows environments in Python with what their projects say, and runs nothing of them", async () => {
    mkdirSync(join(cwd, "environments", "word_count"), { recursive: true });
    write("raise SystemExit(9)\ndef load_environment(): ...\n", "environments", "word_count", "word_count.py");
    write(
      '[project]\nname = "word-count"\nversion = "1.2.0"\ndescription = "Counts words."\n[tool.verifiers.eval]\nnum_examples = 7\n',
      "environments",
      "word_count",
      "pyproject.toml",
    );
    mkdirSync(join(cwd, "environments", "gsm8k"));
    write("def load_environment(): ...\n", "environments", "gsm8k", "gsm8k.py");
    const { out } = await env("list");
    const at = out.indexOf("word-count 1.2.0 (environments/word_count, in Python)");
    expect(out.slice(at, at + 4)).toEqual(["word-count 1.2.0 (environments/word_count, in Python)", "  Counts words.", "  by default -n 7", ""]);
    const listed = JSON.parse((await env("list", "-o", "json")).out.join("")) as { id: string; path: string | null }[];
    expect(listed.filter(({ id }) => id === "gsm8k")).toEqual([expect.objectContaining({ path: join(cwd, "environments/gsm8k"), language: "python" })]);
  });
});
