import { describe, expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";

const LONG = { timeout: 120_000 };

describe.concurrent("--batch is refused", () => {
  it.each([
    ["an environment of several turns", "wordle", [], "environment wordle has rollouts of up to 7 turns"],
    ["one that scores texts", "blimp", [], "environment blimp scores texts by their likelihood"],
    ["the embedded model", "reverse-text", ["-b", "embedded"], "the embedded model has none: leave it out"],
    ["a client without batches", "reverse-text", ["--api-client-type", "openai_chat_completions_token"], "needs a client type with a batch route"],
    ["answers in pieces", "reverse-text", ["-S", '{"stream": true}'], "the answers of a batch come whole"],
    ["a rule to stop by", "reverse-text", ["--stop-when", "halfwidth<0.1"], "leave one of stop_when and batch out"],
  ] as const)("for %s, before anything is sent", LONG, async (_, environment, more, expected) => {
    await inPlace({}, async ({ place, model }) => {
      const { code, stderr } = await place.run(["eval", "run", environment, "-m", "scripted", "-b", model.url, "--no-preflight", "--batch", ...more]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(expected)]);
      expect(model.ledger.stats().total + model.batches().calls.length).toBe(0);
    })();
  });
});
