import { describe, expect, it } from "vitest";
import type { Bound } from "../../../src/endpoint-limits/bound.ts";
import { boundText, placeTitle, reasonOf } from "../../../src/endpoint-limits/bound-text.ts";

const OPENAI = "https://api.openai.com/v1";
const text = (bound: Bound, base_url = OPENAI): string => boundText({ bound, base_url });

describe("what a run waits for", () => {
  it.each([
    [{ kind: "requests", limit: 500, source: "told" }, "OpenAI's 500 requests a minute"],
    [{ kind: "tokens", limit: 200_000, source: "told" }, "OpenAI's 200,000 tokens a minute"],
    [{ kind: "input_tokens", limit: 40_000, source: "told" }, "OpenAI's 40,000 input tokens a minute"],
    [{ kind: "output_tokens", limit: 8_000, source: "given" }, "the 8,000 output tokens a minute given for OpenAI"],
    [{ kind: "concurrent", limit: 8, source: "given" }, "the 8 requests at once given for OpenAI"],
    [{ kind: "concurrent", limit: 1, source: "given" }, "the 1 request at once given for OpenAI"],
    [{ kind: "concurrent", limit: 3, source: "common" }, "the 3 requests at once that the evaluations of its command have together"],
    [{ kind: "requests", limit: 481.7, source: "found" }, "OpenAI's limit of about 482 requests a minute"],
    [{ kind: "requests", limit: null, source: null }, "OpenAI's limit of requests a minute"],
    [{ kind: "start", limit: 64, source: null }, "first answers of OpenAI, 64 requests at once"],
    [{ kind: "start", limit: null, source: null }, "first answers of OpenAI"],
    [{ kind: "pause", limit: null, source: null }, "OpenAI, which asked to be left alone"],
    [{ kind: "budget", limit: null, source: null }, "money of its budget"],
    [{ kind: "down", limit: null, source: null }, "OpenAI, which does not answer"],
  ] as const)("%o is worded", (bound, wanted) => {
    expect(text(bound)).toBe(wanted);
  });

  it("names who serves a model as people do, and any other place by its host", () => {
    for (const [url, title] of [
      ["https://api.anthropic.com", "Anthropic"],
      ["https://acme.openai.azure.com/openai/v1", "Azure OpenAI"],
      ["https://generativelanguage.googleapis.com/v1beta/openai", "Google"],
      ["http://gpu-1:8000/v1", "gpu-1:8000"],
      ["https://models.example.com/v1", "models.example.com"],
      ["https://api.openai.com.example.com/v1", "api.openai.com.example.com"],
      ["embedded", "the embedded model"],
      ["workers-ai", "Workers AI"],
    ] as const)
      expect(placeTitle(url)).toBe(title);
  });

  it("says so where judges wait", () => {
    expect(boundText({ bound: { kind: "requests", limit: 500, source: "told" }, base_url: OPENAI, judges: true })).toBe(
      "OpenAI's 500 requests a minute (its judges)",
    );
  });

  it("is the same reason with another number where it is found, and another one where it is told", () => {
    const reason = (source: Bound["source"], limit: number): string => reasonOf({ bound: { kind: "requests", limit, source }, base_url: OPENAI });
    expect(reason("found", 480)).toBe(reason("found", 510));
    expect(reason("told", 500)).not.toBe(reason("told", 1_000));
    expect(reason("told", 500)).not.toBe(reason("given", 500));
  });
});
