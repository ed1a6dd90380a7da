import { describe, expect, it } from "vitest";
import { EMBEDDED_MODEL } from "../../../../src/config/endpoints/providers.ts";
import { embeddedStage } from "../../../support/clients/embedded-app.ts";
import { scoringStage } from "../../../support/clients/scoring-client.ts";

describe("texts that are scored over the completions route", () => {
  it("come back with a log-probability for each of their tokens, several of a call in one request", async () => {
    const embedded = await embeddedStage();
    const stage = scoringStage((path, body) => embedded.post(path.replace("/v1", ""), body));
    const texts = ["The cats sleep.", "The cats sleeps.", "naïve 🎉 日本"];
    const scores = await stage.score(texts, { model: EMBEDDED_MODEL });
    expect(scores.map(({ text }) => text)).toEqual(texts);
    for (const { text, tokens, route } of scores) {
      expect(route).toBe("echo");
      expect(tokens[0]).toMatchObject({ logprob: null, offset: 0 });
      expect(tokens.slice(1).every(({ logprob }) => logprob !== null && logprob < 0)).toBe(true);
      expect(tokens.at(-1)?.end).toBe(text.length);
    }
    // A probe, and one request for all three.
    expect(stage.sent.map(({ body }) => body.prompt)).toEqual([expect.any(Array), texts]);
    expect(scores.reduce((sum, { usage }) => sum + (usage?.prompt_tokens ?? 0), 0)).toBe(scores.reduce((sum, { tokens }) => sum + tokens.length, 0));
    expect(stage.notes).toEqual([
      `Log-probabilities of prompts: ${EMBEDDED_MODEL} gives them by \`echo\` with \`logprobs\` on /completions (up to 40 texts a request)`,
    ]);
  });
});
