import { describe, expect, it } from "vitest";
import { readTask, whyNotRun } from "../../../src/benchmarks/benchmark-task.ts";
import { harborTask } from "../../../src/benchmarks/harbor-task.ts";

const TOML = '[agent]\ntimeout_sec = 600.0\n[metadata]\nlevel = "easy"\n';

describe("a task folder of Harbor", () => {
  it("is a task of a benchmark where a function is named that verifies it", () => {
    const verifier = JSON.stringify({ fn_name: "exact_match", expected: "4", params: {} });
    const task = readTask(harborTask({ name: "sum", taskToml: TOML, instruction: "2 + 2?", verifier }), 0);
    expect(task).toMatchObject({
      task_id: "sum",
      instruction: "2 + 2?",
      metadata: { level: "easy" },
      verifier: { kind: "in_process", function: "exact_match" },
    });
    expect(whyNotRun(task, false)).toBeNull();
    expect(harborTask({ name: "sum", taskToml: '[task]\nname = "org/sum"', instruction: "?", verifier })).toMatchObject({ task_id: "org/sum" });
  });

  it("needs a container without one, and what cannot be read is told by task and file", () => {
    const task = readTask(harborTask({ name: "shell", taskToml: TOML, instruction: "Mend it.", verifier: null }), 0);
    expect(whyNotRun(task, true)).toContain("(harbor) needs a container");
    expect(() => harborTask({ name: "bad", taskToml: "a = ", instruction: "?", verifier: null })).toThrow(/Harbor task bad: task\.toml/);
    expect(() => harborTask({ name: "bad", taskToml: "", instruction: "?", verifier: "{" })).toThrow(/Harbor task bad: evsys_verifier\.json/);
  });
});
