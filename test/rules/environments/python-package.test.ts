import { execFile, execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** A Python with `verifiers`. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
const PACKAGE = join(import.meta.dirname, "../../../python");

function whyNot(): string | null {
  if (PYTHON === "") return "EDGEWISE_TEST_PYTHON is not set";
  try {
    execFileSync(PYTHON, ["-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('verifiers') is None)"], { stdio: "ignore" });
    return null;
  } catch {
    return `${PYTHON} has no verifiers`;
  }
}

const reason = whyNot();
if (reason !== null) console.log(`skipped: ${reason} (the Python package's own tests)`);

describe.skipIf(reason !== null)("the Python package", () => {
  const modules = readdirSync(join(PACKAGE, "tests")).filter((name) => /^test_\w+\.py$/.test(name));

  it.each(modules)("passes its own tests: %s", { timeout: 600_000 }, async (name) => {
    const run = promisify(execFile)(PYTHON, ["-m", "unittest", `tests.${name.replace(/\.py$/, "")}`], { cwd: PACKAGE, maxBuffer: 1e8 });
    const { stderr } = await run.catch((failed: { stderr: string }) => failed);
    expect(stderr).toMatch(/\nOK( \(skipped=\d+\))?\s*$/);
  });
});
