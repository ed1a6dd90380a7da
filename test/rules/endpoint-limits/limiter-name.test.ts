import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { limiterName, placeUrl } from "../../../src/endpoint-limits/limiter-name.ts";
import { modelClass } from "../../../src/endpoint-limits/model-class.ts";

const OPENAI = "https://api.openai.com/v1";
const ANTHROPIC = "https://api.anthropic.com";

describe("a model's class", () => {
  it.each([
    ["gpt-4o-2024-08-06", "gpt-4o"],
    ["gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"],
    ["openai/gpt-4.1-mini-2025-04-14", "openai/gpt-4.1-mini"],
    ["chatgpt-4o-latest", "chatgpt-4o"],
    ["gpt-4-0613", "gpt-4"],
    ["gpt-3.5-turbo-0125", "gpt-3.5-turbo"],
    ["claude-haiku-4-5@20251001", "claude-haiku-4-5"],
    ["ft:gpt-4.1-mini-2025-04-14:acme:sums:AbC1", "gpt-4.1-mini"],
    ["ft:gpt-4.1-mini-2025-04-14:acme::AbC1:ckpt-step-90", "gpt-4.1-mini"],
  ])("of %s is %s: its snapshots and tuned models count on it", (model, expected) => expect(modelClass(OPENAI, model)).toBe(expected));

  it.each(["gpt-4o", "gpt-4.1", "llama3-70b-8192", "mistral-large-2411", "Qwen/Qwen3-235B-A22B-Instruct-2507", "kimi-k2-0905", "-latest", "ft:", "20250101"])(
    "of %s is itself",
    (model) => expect(modelClass(OPENAI, model)).toBe(model),
  );

  it("is one for all Opus 4 and one for all Sonnet 4 at Anthropic, whose other generations have their own", () => {
    const classes = (models: readonly string[]) => models.map((model) => modelClass(ANTHROPIC, model));
    expect(new Set(classes(["claude-opus-4-20250514", "claude-opus-4-1-20250805", "claude-opus-4-5", "claude-opus-4-8"]))).toEqual(
      new Set(["claude-opus-4.x"]),
    );
    expect(new Set(classes(["claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929", "claude-sonnet-4-6"]))).toEqual(new Set(["claude-sonnet-4.x"]));
    expect(classes(["claude-opus-5", "claude-haiku-4-5-20251001", "claude-3-5-sonnet-latest"])).toEqual([
      "claude-opus-5",
      "claude-haiku-4-5",
      "claude-3-5-sonnet",
    ]);
    // Others that have these models have limits of their own for each.
    expect(modelClass("https://openrouter.ai/api/v1", "anthropic/claude-opus-4-5")).toBe("anthropic/claude-opus-4-5");
  });
});

describe("a Limiter's name", () => {
  const PLACE = { base_url: OPENAI, key: "sk-of-acme", model_class: "gpt-4o" };

  it("is the first 128 bits of a digest of place, key and model class", async () => {
    const text = ["edgewise limiter 1", OPENAI, "sk-of-acme", "gpt-4o"].join("\0");
    expect(await limiterName(PLACE)).toBe(createHash("sha256").update(text).digest("hex").slice(0, 32));
  });

  it("is the same for one place that is written in several ways", async () => {
    const names = ["https://API.openai.com/v1/", "https://api.openai.com:443/v1", "https://api.openai.com/v1?api-version=1#there"].map((base_url) =>
      limiterName({ ...PLACE, base_url }),
    );
    expect(new Set(await Promise.all([limiterName(PLACE), ...names])).size).toBe(1);
  });

  it("is another for another key, model class, path, host, or user in the address", async () => {
    const others = [
      { key: "sk-of-others" },
      { model_class: "gpt-4o-mini" },
      { base_url: "https://api.openai.com/v2" },
      { base_url: "http://api.openai.com/v1" },
      { base_url: "https://eu.api.openai.com/v1" },
      { base_url: "https://ada@api.openai.com/v1" },
      { base_url: "https://ada:pw@api.openai.com/v1" },
      { base_url: "embedded" },
    ];
    const names = await Promise.all([PLACE, ...others.map((other) => ({ ...PLACE, ...other }))].map(limiterName));
    expect(new Set(names).size).toBe(others.length + 1);
  });
});

describe("the address of a place", () => {
  it("shows no user, password, query or fragment", () => {
    expect(placeUrl("https://ada:secret@EXAMPLE.com/v1/?key=secret#secret")).toBe("https://example.com/v1");
    expect(placeUrl("embedded")).toBe("embedded");
  });
});
