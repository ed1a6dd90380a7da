import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { costOf, type GivenPrice, type RunPrices } from "../../../src/prices/price.ts";
import { batchPriceOf, priceOf, priceOfRun, timesAsDear } from "../../../src/prices/price-of.ts";
import { NEWEST_TABLE, TABLES } from "../../../src/prices/tables.ts";

const OPENAI = "https://api.openai.com/v1";
const prices = (...given: GivenPrice[]): RunPrices => ({ version: 1, table: NEWEST_TABLE.date, given });
const at = (base_url: string, model: string, ...given: GivenPrice[]) => priceOf(prices(...given), { base_url, model });
const MINI = { input_usd_per_mtok: 0.4, output_usd_per_mtok: 1.6, cached_input_usd_per_mtok: 0.1 };
const OWN = { input_usd_per_mtok: 7, output_usd_per_mtok: 9 };

describe("the price of a model", () => {
  it("is its provider's, by its name and those of its dated snapshots", () => {
    for (const model of ["gpt-4.1-mini", "gpt-4.1-mini-2025-04-14"]) expect(at(OPENAI, model), model).toEqual(MINI);
    for (const model of ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"])
      expect(at("https://api.anthropic.com", model), model).toEqual({ input_usd_per_mtok: 3, output_usd_per_mtok: 15, cached_input_usd_per_mtok: 0.3 });
    expect(at(OPENAI, "gpt-4o-2024-05-13")).toEqual({ input_usd_per_mtok: 5, output_usd_per_mtok: 15 });
    expect(at(OPENAI, "gpt-4o-2024-08-06")).toEqual(at(OPENAI, "gpt-4o"));
  });

  it("is nobody's guess: other names, fine-tuned models and what the table lacks have none", () => {
    for (const model of [
      "gpt-4.1-mini-2025",
      "gpt-4.1-mini-2025-13-40",
      "gpt-4.1-mini-search",
      "ft:gpt-4.1-mini-2025-04-14:acme::1",
      "GPT-4.1-mini",
      "gpt",
      "",
      "*",
    ])
      expect(at(OPENAI, model), model).toBeNull();
    expect(priceOf({ version: 1, table: "1999-01-01", given: [] }, { base_url: OPENAI, model: "gpt-4.1-mini" })).toBeNull();
  });

  it("is not that of another host that serves a model of the same name", () => {
    const others = [
      "http://127.0.0.1:8000/v1",
      "https://api.openai.com.evil.example/v1",
      "https://evil.example/api.openai.com/v1",
      "https://api.openai.com@evil.example/v1",
    ];
    const near = ["http://api.openai.com/v1", "https://api.openai.com:8443/v1", "https://eu.api.openai.com/v1", "embedded", "workers-ai", "no address"];
    for (const base_url of [...others, ...near, "https://openrouter.ai/api/v1"]) expect(at(base_url, "gpt-4.1-mini"), base_url).toBeNull();
    for (const base_url of ["https://API.openai.com./v1", "https://api.openai.com:443/v1/", "https://api.openai.com"])
      expect(at(base_url, "gpt-4.1-mini"), base_url).toEqual(MINI);
  });

  it("is what a person gave before all, the first that fits: at an address, at any, of all models that a pattern names", () => {
    const given: GivenPrice[] = [
      { model: "gpt-4.1-*", url: `${OPENAI}/`, ...OWN },
      { model: "qwen*", input_usd_per_mtok: 0, output_usd_per_mtok: 0 },
      { model: "*", url: "http://127.0.0.1:8000/v1", input_usd_per_mtok: 1, output_usd_per_mtok: 2, cached_input_usd_per_mtok: 0.5 },
    ];
    expect(at("https://API.openai.com/v1", "gpt-4.1-mini", ...given)).toEqual(OWN);
    expect(at("https://api.openai.com/v2", "gpt-4.1-mini", ...given)).toEqual(MINI);
    expect(at("http://anywhere.example", "qwen3", ...given)).toEqual({ input_usd_per_mtok: 0, output_usd_per_mtok: 0 });
    expect(at("http://127.0.0.1:8000/v1/", "llama", ...given)).toEqual({ input_usd_per_mtok: 1, output_usd_per_mtok: 2, cached_input_usd_per_mtok: 0.5 });
  });
});

describe("the price of a run's model", () => {
  it("is not the table's where another tier is asked for, wherever the sampling arguments say so", () => {
    const run = { prices: prices(), model: "gpt-4.1-mini", base_url: OPENAI, api_key_var: "K" };
    const usual: JsonObject[] = [{}, { service_tier: "auto" }, { service_tier: "priority", extra_body: { service_tier: "default" } }];
    for (const sampling_args of usual) expect(priceOfRun({ ...run, sampling_args }), JSON.stringify(sampling_args)).toEqual(MINI);
    const others: JsonObject[] = [{ service_tier: "priority" }, { extra_body: { service_tier: "priority" } }];
    for (const sampling_args of others) expect(priceOfRun({ ...run, sampling_args }), JSON.stringify(sampling_args)).toBeNull();
  });
});

describe("the price of requests in batches", () => {
  const HALF = { input_usd_per_mtok: 0.2, output_usd_per_mtok: 0.8, cached_input_usd_per_mtok: 0.05 };
  const batched = (base_url: string, model: string, ...given: GivenPrice[]) => batchPriceOf(prices(...given), { base_url, model });

  it("is half the price, of what was given as of the table's; or the part of it that was given with it; and unknown where the price is", () => {
    expect(batched(OPENAI, "gpt-4.1-mini")).toEqual(HALF);
    expect(batched(OPENAI, "gpt-4.1-mini", { model: "*", ...OWN })).toEqual({ input_usd_per_mtok: 3.5, output_usd_per_mtok: 4.5 });
    expect(batched(OPENAI, "gpt-4.1-mini", { model: "*", ...OWN, batch_factor: 1 })).toEqual(OWN);
    expect(batched(OPENAI, "x", { model: "*", ...OWN, batch_factor: 0 })).toEqual({ input_usd_per_mtok: 0, output_usd_per_mtok: 0 });
    expect(batched("https://elsewhere.example/v1", "gpt-4.1-mini")).toBeNull();
    expect(at(OPENAI, "x", { model: "*", ...OWN, batch_factor: 0.5 })).toEqual(OWN);
  });

  it("is that of a run's model where its requests go out so, and of no other model that it calls", () => {
    const run = { prices: prices(), model: "gpt-4.1-mini", base_url: OPENAI, api_key_var: "K", sampling_args: {} };
    expect(priceOfRun({ ...run, batch: true })).toEqual(HALF);
    expect(priceOfRun(run)).toEqual(MINI);
    expect(priceOf(run.prices, run)).toEqual(MINI);
  });

  it("turns what a row says that it cost into what it costs the other way, and says nothing where prices differ by more than one factor", () => {
    expect([timesAsDear(HALF, MINI), timesAsDear(MINI, HALF), timesAsDear(MINI, MINI)]).toEqual([0.5, 2, 1]);
    expect(timesAsDear({ input_usd_per_mtok: 0.4 * 0.3, output_usd_per_mtok: 1.6 * 0.3, cached_input_usd_per_mtok: 0.1 * 0.3 }, MINI)).toBeCloseTo(0.3, 12);
    const others = [{ ...MINI, output_usd_per_mtok: 0.8 }, { input_usd_per_mtok: 0.4, output_usd_per_mtok: 1.6 }, { ...MINI, input_usd_per_mtok: 0 }, null];
    for (const other of others) expect([timesAsDear(other, MINI), timesAsDear(MINI, other)], JSON.stringify(other)).toEqual([null, null]);
    const free = { input_usd_per_mtok: 0, output_usd_per_mtok: 0 };
    expect([timesAsDear(free, free), timesAsDear({ ...free, input_usd_per_mtok: 2 }, { ...free, input_usd_per_mtok: 1 })]).toEqual([1, 2]);
  });
});

describe("what tokens cost", () => {
  it("is by hand: 700,000 at $2, 300,000 of the cache at $0.50, 100,000 written at $8", () => {
    const price = { input_usd_per_mtok: 2, output_usd_per_mtok: 8, cached_input_usd_per_mtok: 0.5 };
    const usage = { input_tokens: 1_000_000, output_tokens: 100_000, cached_input_tokens: 300_000 };
    expect(costOf(usage, price)).toEqual({ input_usd: 1.55, output_usd: 0.8, total_usd: 2.35 });
    expect(costOf(usage, { input_usd_per_mtok: 2, output_usd_per_mtok: 8 })).toEqual({ input_usd: 2, output_usd: 0.8, total_usd: 2.8 });
  });
});

describe("a shipped table", () => {
  it("is named by its date, says of each provider where its prices stand and as of when, and has them as positive numbers, the cached one no dearer", () => {
    expect(new Set(TABLES.map(({ date }) => date)).size).toBe(TABLES.length);
    expect(TABLES.at(-1)).toBe(NEWEST_TABLE);
    const day = /^20\d\d-\d\d-\d\d$/;
    for (const { date, providers } of TABLES) {
      expect(date).toMatch(day);
      expect(new Set(providers.flatMap(({ hosts }) => hosts)).size).toBe(providers.flatMap(({ hosts }) => hosts).length);
      for (const { page, as_of, models, name } of providers) {
        expect([page.startsWith("https://"), day.test(as_of), as_of <= date], name).toEqual([true, true, true]);
        for (const [model, { input_usd_per_mtok, output_usd_per_mtok, cached_input_usd_per_mtok = 0 }] of Object.entries(models))
          expect([input_usd_per_mtok > 0, output_usd_per_mtok > 0, cached_input_usd_per_mtok < input_usd_per_mtok], `${name} ${model}`).toEqual([
            true,
            true,
            true,
          ]);
      }
    }
  });
});
