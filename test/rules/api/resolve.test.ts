import { describe, expect, it } from "vitest";
import { NEWEST_TABLE } from "../../../src/prices/tables.ts";
import { type EnvironmentFacts, type RunRequest, resolveRun, type UnnamedConfig } from "../../../src/api/creation/resolve.ts";
import { foldSamplingArgs } from "../../../src/config/options/sampling.ts";

const environment: EnvironmentFacts = { id: "reverse-text", version: "0.2.0", description: "", source: "0.2.0", defaults: {}, check: () => null };
const resolution = (request: RunRequest, more: Partial<Parameters<typeof resolveRun>[1]> = {}) =>
  resolveRun(request, { environment, attended: false, baseUrl: "https://models.example/v1", keyVar: "PRIME_API_KEY", ...more });

function resolved(...args: Parameters<typeof resolution>): UnnamedConfig {
  const outcome = resolution(...args);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.issues));
  return outcome.config;
}

describe("sampling arguments", () => {
  it("always have max_tokens, if only as null, and temperature only when given", () => {
    expect(foldSamplingArgs({})).toEqual({ max_tokens: null });
    expect(foldSamplingArgs({ top_p: 0.9 }, { temperature: 0 })).toEqual({ top_p: 0.9, max_tokens: null, temperature: 0 });
  });
  it("given explicitly win over flags, null included", () => {
    expect(foldSamplingArgs({ max_tokens: 7, temperature: 1 }, { max_tokens: 96, temperature: 0 })).toEqual({ max_tokens: 7, temperature: 1 });
    expect(foldSamplingArgs({ max_tokens: null }, { max_tokens: 96 })).toEqual({ max_tokens: null });
  });
  it("are not changed in place", () => {
    const given = {};
    foldSamplingArgs(given, { max_tokens: 1 });
    expect(given).toEqual({});
  });
});

describe("a resolved run", () => {
  it("has the shape of rows that its environment writes itself, unless a folder that is gone on with says otherwise", () => {
    const own = { environment: { ...environment, results_shape: "0.1.14" as const } };
    expect(resolved({}).results_shape).toBeUndefined();
    expect(resolved({}, own).results_shape).toBe("0.1.14");
    expect(resolved({ results_shape: "0.1.9" }, own).results_shape).toBe("0.1.9");
    expect(resolved({ results_shape: "0.1.13" }, own)).not.toHaveProperty("results_shape");
  });
  it("is shuffled when it is asked for, by seed 0 unless another is named; a seed alone is refused", () => {
    expect(resolved({})).not.toHaveProperty("shuffle_seed");
    expect(resolved({ shuffle: true }).shuffle_seed).toBe(0);
    expect(resolved({ shuffle: true, shuffle_seed: 7 }).shuffle_seed).toBe(7);
    expect(resolution({ shuffle_seed: 7 })).toMatchObject({ ok: false, issues: [{ loc: ["body", "eval_config", "shuffle_seed"] }] });
  });
  it("has a default for everything", () => {
    expect(resolved({})).toEqual({
      version: 1,
      name: null,
      env_id: "reverse-text",
      env_version: "0.2.0",
      env_args: {},
      model: "openai/gpt-4.1-mini",
      base_url: "https://models.example/v1",
      api_key_var: "PRIME_API_KEY",
      api_client_type: "openai_chat_completions",
      num_examples: 5,
      rollouts_per_example: 3,
      max_concurrent: 32,
      sampling_args: { max_tokens: null },
      independent_scoring: false,
      max_retries: 0,
      timeout_minutes: 120,
      state_columns: [],
      order_seed: 0,
      prices: { version: 1, table: NEWEST_TABLE.date, given: [] },
      hosted: {},
      attended: false,
    });
  });

  it("is priced by the newest table, and before it by what it was given", () => {
    const price = { model: "m-*", input_usd_per_mtok: 1, output_usd_per_mtok: 2 };
    const given = [
      { ...price, api_base_url: "https://a.example/v1" },
      { ...price, cached_input_usd_per_mtok: 0 },
    ];
    expect(resolved({ prices: given }).prices).toEqual({
      version: 1,
      table: NEWEST_TABLE.date,
      given: [
        { ...price, url: "https://a.example/v1" },
        { ...price, cached_input_usd_per_mtok: 0 },
      ],
    });
  });

  it("plays examples in the order of the data set where that is asked for", () => {
    expect(resolved({ order: "data" })).not.toHaveProperty("order_seed");
    expect(resolved({ order: "permuted" }).order_seed).toBe(0);
  });

  it("takes the environment's numbers where the request has none", () => {
    const withDefaults = { ...environment, defaults: { num_examples: -1, rollouts_per_example: 1 } };
    expect(resolved({ num_examples: 7 }, { environment: withDefaults })).toMatchObject({ num_examples: 7, rollouts_per_example: 1 });
    expect(resolved({}, { environment: withDefaults })).toMatchObject({ num_examples: -1 });
  });

  it("has no time limit when somebody attends to it, unless asked for", () => {
    expect(resolved({}, { attended: true })).toMatchObject({ timeout_minutes: null, attended: true });
    expect(resolved({ timeout_minutes: 9 }, { attended: true })).toMatchObject({ timeout_minutes: 9 });
  });

  it("keeps 0 and negative numbers, drops empty columns and blank names", () => {
    expect(resolved({ num_examples: 0, max_concurrent: -1, state_columns: ["", " a "], name: " " })).toMatchObject({
      num_examples: 0,
      max_concurrent: -1,
      state_columns: ["a"],
      name: null,
    });
  });

  it("is refused when its results folder could not be named on disk", () => {
    expect(resolution({ model: "é".repeat(130) })).toEqual({
      ok: false,
      issues: [{ loc: ["body", "inference_model"], msg: expect.stringContaining("too long") }],
    });
    expect(resolution({ model: "m".repeat(200) }).ok).toBe(true);
  });
});
