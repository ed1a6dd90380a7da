import { describe, expect, it } from "vitest";
import { readTask, whyNotRun } from "../../../src/benchmarks/benchmark-task.ts";
import { answerOf, checkVerifier, passes } from "../../../src/benchmarks/verify.ts";
import type { Json, JsonObject } from "../../../src/config/plan/run-config.ts";

const row = (verifier: JsonObject): JsonObject => ({ task_id: "t", instruction: "?", verifier });
const verifier = (name: string, expected: Json, params: JsonObject = {}) => {
  const task = readTask(row({ kind: "in_process", function: name, expected, params }), 0);
  checkVerifier(task);
  return task.verifier as Parameters<typeof passes>[1];
};
const said = (text: string) => ({ text, calls: [] });

describe("a verifier function of a benchmark", () => {
  it("compares stripped texts, looks for one, or for a pattern; case is ignored where that is asked for", () => {
    expect(passes(said(" Paris \n"), verifier("exact_match", "Paris"))).toBe(true);
    expect(passes(said("paris"), verifier("exact_match", "Paris"))).toBe(false);
    expect(passes(said("paris"), verifier("exact_match", "Paris", { ignore_case: true }))).toBe(true);
    expect(passes(said("42"), verifier("exact_match", 42))).toBe(true);
    expect(passes(said("It is Paris."), verifier("contains", "Paris"))).toBe(true);
    expect(passes(said("It is paris."), verifier("contains", "Paris"))).toBe(false);
    expect(passes(said("so: 42!"), verifier("regex_match", "\\b\\d{2}!"))).toBe(true);
    expect(passes(said("YES"), verifier("regex_match", "^yes$", { ignore_case: true }))).toBe(true);
    expect(passes(said("no"), verifier("regex_match", null, { pattern: "yes" }))).toBe(false);
    for (const name of ["contains", "regex_match"]) expect(() => verifier(name, "")).toThrow(/task t: verifier.expected is empty/);
  });

  it("takes no longer for a hostile pattern, and refuses by name one that it cannot bound", () => {
    expect(passes(said(`${"a".repeat(50_000)}!`), verifier("regex_match", "^(a+)+$"))).toBe(false);
    for (const pattern of ["(?=a)b", "(a)\\1", "("]) {
      expect(() => verifier("regex_match", pattern)).toThrow(
        expect.objectContaining({ code: "dataset_unreadable", message: expect.stringContaining("task t: the pattern") }),
      );
    }
  });

  it("compares tool calls whatever the order of their arguments, made or written down", () => {
    const wanted: JsonObject[] = [
      { name: "add", arguments: { a: 1, b: 2 } },
      { name: "stop", arguments: {} },
    ];
    const calls = [
      { name: "stop", arguments: "{}" },
      { name: "add", arguments: '{"b": 2, "a": 1}' },
    ];
    expect(passes({ text: "", calls }, verifier("tool_calls_match", wanted))).toBe(true);
    expect(passes({ text: "", calls }, verifier("tool_calls_match", wanted, { ordered: true }))).toBe(false);
    expect(passes({ text: "", calls: calls.slice(1) }, verifier("tool_calls_match", wanted))).toBe(false);
    expect(passes(said(`\`\`\`json\n${JSON.stringify(wanted)}\n\`\`\``), verifier("tool_calls_match", wanted))).toBe(true);
    expect(passes(said("I would add."), verifier("tool_calls_match", wanted))).toBe(false);
    expect(() => verifier("tool_calls_match", "add")).toThrow(/must be a list of/);
  });

  it("compares one action as EvSys has them: fields that are wanted, a place within some pixels", () => {
    const wanted = { tool: "computer", action: "click", coordinate: [100, 200], ref: "ok" };
    const answer = (more: JsonObject) => said(`I click.\n${JSON.stringify({ ...wanted, text: "any", ...more })}`);
    const compare = (more: JsonObject, params: JsonObject = {}) => passes(answer(more), verifier("tool_calls_match", wanted, params));
    expect([compare({}), compare({ coordinate: [125, 175] }), compare({ coordinate: [126, 200] }), compare({ coordinate: "there" })]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([compare({ coordinate: [126, 200] }, { coordinate_tolerance: 30 }), compare({ ref: "no" }), compare({ action: "type" })]).toEqual([
      true,
      false,
      false,
    ]);
    expect(passes(answer({}), verifier("tool_calls_match", JSON.stringify(wanted)))).toBe(true);
    expect(passes(said("I click."), verifier("tool_calls_match", wanted))).toBe(false);
  });

  it("looks at the last answer, whose content may be parts or none", () => {
    expect(answerOf([])).toEqual({ text: "", calls: [] });
    expect(answerOf([{ role: "assistant", content: [{ type: "text", text: "a" }] }])).toMatchObject({ text: "a" });
    expect(answerOf([{ role: "assistant", content: null }])).toMatchObject({ text: "" });
  });
});

describe("a task of a benchmark", () => {
  it("may be written with the names that EvSys itself writes", () => {
    const read = readTask(
      { task_id: "v", instruction: "?", system_prompt: "S", verifier: { kind: "in_process", fn_name: "contains", expected: "a", params: null } },
      0,
    );
    expect(read).toMatchObject({ system_prompt: "S", metadata: {}, verifier: { function: "contains", params: {} } });
    expect(readTask(row({ kind: "llm_judge", judge_model: "m", rubric: "r" }), 0).verifier).toMatchObject({ model: "m" });
    expect(() => readTask(row({ kind: "in_process", fn_name: "bfcl_match" }), 0)).toThrow(/verifier\.function/);
  });

  it("is refused by its number and field, and one with images by name", () => {
    expect(() => readTask({ task_id: "a" }, 3)).toThrow(/benchmark task 3 \(a\): instruction: .*; verifier: /);
    expect(() => readTask(row({ kind: "in_process", function: "sum", expected: 1 }), 0)).toThrow(/verifier\.function/);
    expect(() => readTask({ ...row({ kind: "e2b" }), images: ["a.png"] }, 0)).toThrow(/has images/);
  });

  it("that nothing here can verify says why", () => {
    expect(whyNotRun(readTask(row({ kind: "e2b", dockerfile: "FROM x" }), 0), true)).toContain("needs a container");
    const judged = readTask(row({ kind: "llm_judge", rubric: "Is it kind?" }), 0);
    expect([whyNotRun(judged, false), whyNotRun(judged, true)]).toEqual([expect.stringContaining("judge_base_url"), null]);
  });
});
