import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasPythonToo, mustHoldLoader, pythonPlace, pythonPlacesIn } from "../../../../src/cli/python/find-python.ts";
import { readProject } from "../../../../src/cli/python/python-project.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-python-"));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
};
const LOADER = "import verifiers as vf\ndef load_environment(**kwargs):\n    ...\n";

describe("an environment in Python", () => {
  it("is found by its id in the folder of environments, with - or _, and keeps the id that was typed", () => {
    write("environments/word_count/word_count.py", LOADER);
    const folder = join(cwd, "environments/word_count");
    expect(pythonPlace("word-count", { cwd })).toEqual({ id: "word-count", target: folder, module: "word_count", folder, project: null });
    expect(pythonPlace("word_count", { cwd })?.id).toBe("word_count");
    write("mine/word-count/word_count.py", LOADER);
    expect(pythonPlace("word-count", { cwd, envDir: "mine" })?.target).toBe(join(cwd, "mine/word-count"));
    expect(pythonPlace("other", { cwd })).toBeNull();
  });

  it("is found by its path, and called as its project says, else as its folder or file", () => {
    write("some/where/sums.py", LOADER);
    write("some/where/pyproject.toml", '[project]\nname = "my_sums"\nversion = "1.2.0"\n');
    expect(pythonPlace("./some/where", { cwd })).toMatchObject({ id: "my-sums", module: "sums", project: { version: "1.2.0" } });
    write("one_file.py", LOADER);
    expect(pythonPlace("one_file.py", { cwd })).toEqual({ id: "one-file", target: join(cwd, "one_file.py"), module: "one_file", folder: null, project: null });
    expect(pythonPlace("./one_file.py", { cwd })?.target).toBe(join(cwd, "one_file.py"));
  });

  it.each(["e/e.py", "e/e/__init__.py", "e/src/e.py", "e/src/e/__init__.py", "e/__init__.py", "e/other_name.py"])("may lie in its folder as %s", (file) => {
    write(file, LOADER);
    expect(pythonPlace("./e", { cwd })?.target).toBe(join(cwd, "e"));
  });

  it("is taken for none where nothing, or more than one module defines load_environment", () => {
    write("e/a.py", LOADER);
    write("e/b.py", LOADER);
    expect(pythonPlace("./e", { cwd })).toBeNull();
    write("f/test_f.py", "from f import load_environment\n");
    expect(pythonPlace("./f", { cwd })).toBeNull();
    expect(pythonPlace("./none", { cwd })).toBeNull();
  });

  it("comes after TypeScript of its folder, unless Python is asked for", () => {
    write("environments/both/both.py", LOADER);
    write("environments/both/both.ts", "export default 1;");
    expect(pythonPlace("both", { cwd })).toBeNull();
    expect(pythonPlace("./environments/both", { cwd })).toBeNull();
    expect(pythonPlace("both", { cwd, asked: true })?.target).toBe(join(cwd, "environments/both"));
    expect(hasPythonToo(join(cwd, "environments/both"))).toBe(true);
    expect(pythonPlacesIn(cwd)).toEqual([]);
  });

  it("that is named and is none is refused with where it was looked for", () => {
    write("e/pyproject.toml", '[project]\nname = "e"\n');
    expect(() => mustHoldLoader("./e", cwd)).toThrow("has a pyproject.toml, and no module with load_environment");
    write("plain.py", "x = 1\n");
    expect(() => pythonPlace("plain.py", { cwd })).toThrow("has no load_environment");
    expect(() => pythonPlace("gone.py", { cwd })).toThrow(`there is no environment at ${join(cwd, "gone.py")}`);
    write("f/f.py", LOADER);
    write("f/pyproject.toml", "[project\n");
    expect(() => pythonPlace("./f", { cwd })).toThrow(/pyproject\.toml cannot be read: .*:1:/);
  });

  it("is listed with others of its folder by its name", () => {
    write("environments/zebra/zebra.py", LOADER);
    write("environments/ant_hill/ant_hill.py", LOADER);
    write("environments/docs/readme.py", "x = 1\n");
    expect(pythonPlacesIn(cwd).map(({ id }) => id)).toEqual(["ant-hill", "zebra"]);
    expect(pythonPlacesIn(cwd, "elsewhere")).toEqual([]);
  });
});

describe("a pyproject.toml", () => {
  it("says what is evaluated by default, which packages and which variables are needed", () => {
    write(
      "pyproject.toml",
      `[project]
name = "e"
description = "Counts."
dependencies = ["verifiers>=0.1.9", "math-verify[antlr4]==0.8", "pywin32; sys_platform == 'win32'"]
[tool.verifiers.eval]
num_examples = 20
rollouts_per_example = "many"
[tool.edgewise]
env_vars = ["JUDGE_API_KEY", 3]
`,
    );
    expect(readProject(cwd)).toEqual({
      file: join(cwd, "pyproject.toml"),
      name: "e",
      version: null,
      description: "Counts.",
      packages: ["verifiers", "math-verify"],
      defaults: { num_examples: 20 },
      variables: ["JUDGE_API_KEY"],
    });
    expect(readProject(join(cwd, "none"))).toBeNull();
  });
});
