import { describe, expect, it } from "vitest";
import { AnthropicStream } from "../../../src/clients/anthropic/anthropic-stream.ts";
import { readAnthropicMessage } from "../../../src/clients/anthropic/anthropic-response.ts";
import { readUsage } from "../../../src/clients/openai/reply-fields.ts";
import { costOf } from "../../../src/prices/price.ts";
import { addUsage, billedOf, incrementUsage } from "../../../src/rollouts/state/usage.ts";
import type { State, TokenUsage } from "../../../src/rollouts/types.ts";

const billed = (usage: object) => readUsage(usage)?.billed;

describe("tokens as they are billed", () => {
  it.each([
    ["OpenAI's chat route", { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109, prompt_tokens_details: { cached_tokens: 64 } }],
    ["OpenAI's responses", { input_tokens: 100, output_tokens: 9, total_tokens: 109, input_tokens_details: { cached_tokens: 64 } }],
    ["DeepSeek", { prompt_tokens: 100, completion_tokens: 9, total_tokens: 109, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }],
  ])("know what was in the cache: %s", (_, usage) => {
    expect(billed(usage)).toEqual({ input_tokens: 100, output_tokens: 9, cached_input_tokens: 64 });
    expect(readUsage(usage)).toMatchObject({ prompt_tokens: 100, completion_tokens: 9 });
  });

  it("are beside the others at Anthropic: read from the cache, written for five minutes and for an hour", () => {
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 50 };
    expect(billed(usage)).toEqual({ input_tokens: 160, output_tokens: 5, cached_input_tokens: 100, cache_write_tokens: 50 });
    const long = { ...usage, cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 } };
    const tokens = { input_tokens: 160, output_tokens: 5, cached_input_tokens: 100, cache_write_tokens: 20, long_cache_write_tokens: 30 };
    expect(billed(long)).toEqual(tokens);
    expect(readUsage(long)).toMatchObject({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    // 10 at $3, 100 at $0.30, 20 at 1.25 times $3, 30 at twice $3, and 5 at $15 a million.
    const price = { input_usd_per_mtok: 3, output_usd_per_mtok: 15, cached_input_usd_per_mtok: 0.3 };
    expect(costOf(tokens, price).input_usd).toBeCloseTo((30 + 30 + 75 + 180) / 1e6, 15);
    expect(costOf(tokens, price).output_usd).toBeCloseTo(75 / 1e6, 15);
  });

  it("are the same out of a stream of Anthropic", () => {
    const fold = new AnthropicStream(() => new Error("no error was sent"));
    const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 100, cache_creation_input_tokens: 50 };
    fold.add({ type: "message_start", message: { id: "m", model: "m", role: "assistant", content: [], usage } });
    fold.add({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    fold.add({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } });
    fold.add({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } });
    fold.add({ type: "message_stop" });
    const tokens = { input_tokens: 160, output_tokens: 5, cached_input_tokens: 100, cache_write_tokens: 50 };
    expect(readAnthropicMessage(fold.result(), 0).usage?.billed).toEqual(tokens);
  });

  it("are output that is nowhere but in the total, as servers count that leave thinking out of the answer's", () => {
    expect(billed({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 })).toEqual({ input_tokens: 10, output_tokens: 105 });
  });

  it.each([
    { prompt_tokens: 10, completion_tokens: 5 },
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: null },
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 0 } },
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 0, prompt_tokens_details: { cached_tokens: -3 } },
    { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: null },
    // A proxy that says it in both forms counts the cache into the prompt.
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cache_read_input_tokens: 7, cache_creation_input_tokens: 3 },
  ])("are those that it says where nothing else is told: %j", (usage) => {
    const read = readUsage(usage);
    expect(read).not.toHaveProperty("billed");
    expect(read === null ? null : billedOf(read)).toEqual({ input_tokens: 10, output_tokens: 5 });
  });

  it("add up over a rollout, beside the tokens that its row has; what is out of the cache, or another model's, is billed nowhere", () => {
    const plain = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, reasoning_tokens: 0 };
    const cached = { ...plain, billed: { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4 } };
    const add = (sums: TokenUsage | null, ...more: Parameters<typeof addUsage> extends [unknown, ...infer Rest] ? Rest : never) => addUsage(sums, ...more);
    expect(add(add(null, plain), plain)).toEqual({ input_tokens: 20, output_tokens: 10 });
    const two = add(add(null, plain), cached);
    expect(two).toEqual({ input_tokens: 20, output_tokens: 10, billed: { input_tokens: 20, output_tokens: 10, cached_input_tokens: 4 } });
    expect(add(two, plain, false)).toEqual({ input_tokens: 30, output_tokens: 15, billed: two?.billed });
    expect(add(null, plain, false)).toEqual({ input_tokens: 10, output_tokens: 5, billed: { input_tokens: 0, output_tokens: 0 } });
    expect(add(two, null)).toBe(two);
    const state = { usage: two } as State;
    incrementUsage(state, { output_tokens: 7 });
    expect(state.usage).toEqual({ input_tokens: 20, output_tokens: 17, billed: { input_tokens: 20, output_tokens: 17, cached_input_tokens: 4 } });
  });
});
