import { describe, expect, it } from "vitest";
import { z } from "zod";
import { evalConfigShape, resumeShape } from "../../../src/config/options/option-schemas.ts";
import { parseOptionText } from "../../../src/config/options/option-text.ts";
import type { Option } from "../../../src/config/options/option.ts";
import { locationOf, longFlag, OPTION_NAMES, OPTIONS } from "../../../src/config/options/options.ts";

describe("the table of options", () => {
  it("has no flag twice", () => {
    const letters = OPTION_NAMES.map((name): Option => OPTIONS[name]).flatMap(({ short }) => (short === null ? [] : [short]));
    expect(new Set(letters).size).toBe(letters.length);
    expect(letters).toEqual(expect.arrayContaining([..."mbknrctTSasoRid"]));
  });

  it("has defaults that its own schemas take", () => {
    for (const name of OPTION_NAMES) {
      const { schema, default: value }: Option = OPTIONS[name];
      if (value !== undefined) expect(schema.safeParse(value).success, name).toBe(true);
    }
  });

  it("has the defaults of verifiers", () => {
    expect(OPTIONS.model.default).toBe("openai/gpt-4.1-mini");
    expect([OPTIONS.num_examples.default, OPTIONS.rollouts_per_example.default, OPTIONS.max_concurrent.default, OPTIONS.max_retries.default]).toEqual([
      5, 3, 32, 0,
    ]);
  });

  it("names flags and places", () => {
    expect(longFlag("rollouts_per_example")).toBe("--rollouts-per-example");
    expect(locationOf("model")).toEqual(["body", "inference_model"]);
    expect(locationOf("num_examples")).toEqual(["body", "eval_config", "num_examples"]);
    expect(locationOf("disable_tui")).toEqual(["body", "disable_tui"]);
  });

  it("gives the schema of a creation: every field optional, no other allowed", () => {
    const schema = z.strictObject(evalConfigShape());
    expect(schema.safeParse({}).success).toBe(true);
    expect(schema.safeParse({ num_examples: -1, sampling_args: { stop: ["\n"], seed: null } }).success).toBe(true);
    for (const name of ["max_tokens", "no_save", "output_dir", "numexamples"]) expect(schema.safeParse({ [name]: 1 }).success, name).toBe(false);
  });

  it("gives the fields of a resume, exactly those marked", () => {
    const marked = OPTION_NAMES.filter((name) => OPTIONS[name].resume);
    expect(Object.keys(resumeShape()).sort()).toEqual([...marked].sort());
  });
});

describe("the text after a flag", () => {
  it.each([
    ["num_examples", "-1", -1],
    ["max_concurrent", "+8", 8],
    ["temperature", ".5", 0.5],
    ["temperature", "1e-3", 0.001],
    ["env_args", '{"dataset": "a.jsonl"}', { dataset: "a.jsonl" }],
    ["state_columns", " a, b,,c ", ["a", "b", "c"]],
    ["model", "org/model", "org/model"],
    ["api_base_url", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"],
  ] as const)("--%s %s", (name, text, value) => {
    expect(parseOptionText(name, text)).toEqual({ ok: true, value });
  });

  it.each([
    ["num_examples", "5.0"],
    ["num_examples", "five"],
    ["num_examples", ""],
    ["num_examples", "99999999999999999999"],
    ["rollouts_per_example", "0"],
    ["rollouts_per_example", "100000"],
    ["max_tokens", "0"],
    ["temperature", "-0.1"],
    ["temperature", "NaN"],
    ["temperature", "1e999"],
    ["timeout_minutes", "0"],
    ["timeout_minutes", "1441"],
    ["max_retries", "-1"],
    ["env_args", "[1]"],
    ["env_args", "{'a': 1}"],
    ["sampling_args", "null"],
    ["model", "  "],
    ["model", "a\nb"],
    ["api_base_url", "localhost:8000"],
    ["api_base_url", "https://user:password@host/v1"],
    ["api_key_var", "EDGEWISE_TOKEN"],
    ["api_key_var", "sk-1234"],
    ["api_client_type", "nemorl_chat_completions"],
  ] as const)("--%s %j is refused with a reason", (name, text) => {
    const parsed = parseOptionText(name, text);
    expect(parsed.ok).toBe(false);
    expect(!parsed.ok && parsed.msg.length).toBeGreaterThan(5);
  });

  it.each([
    ["num_examples", "-3", "must be at least -1"],
    ["max_cost", "1e400", "is larger than any number can be"],
    ["temperature", "200", "must be at most 100"],
    ["timeout", "0", "must be more than 0"],
  ] as const)("--%s %s is told the bound in words: %s", (name, text, msg) => {
    expect(parseOptionText(name, text)).toEqual({ ok: false, msg });
  });
});
