import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { inBatches, SOON } from "../../support/cli/batched-bench.ts";
import { inPlace } from "../../support/cli/in-place.ts";

const LONG = { timeout: 120_000 };

describe.concurrent("--batch is refused", () => {
  it.each([
    ["an environment of several turns", "wordle", [], "environment wordle has rollouts of up to 7 turns"],
    ["one that scores texts", "blimp", [], "environment blimp scores texts by their likelihood"],
    ["the embedded model", "reverse-text", ["-b", "embedded"], "the embedded model has none: leave it out"],
    ["a client without batches", "reverse-text", ["--api-client-type", "openai_chat_completions_token"], "needs a client type with a batch route"],
    ["answers in pieces", "reverse-text", ["-S", '{"stream": true}'], "the answers of a batch come whole"],
    ["a pilot", "reverse-text", ["-n", "50", "--estimate", "10"], "--estimate history"],
    ["a rule to stop by", "reverse-text", ["--stop-when", "halfwidth<0.1"], "leave one of stop_when and batch out"],
  ] as const)("for %s, before anything is sent", LONG, async (_, environment, more, expected) => {
    await inPlace({}, async ({ place, model }) => {
      const { code, stderr } = await place.run(["eval", "run", environment, "-m", "scripted", "-b", model.url, "--no-preflight", "--batch", ...more]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(expected)]);
      expect(model.ledger.stats().total + model.batches().calls.length).toBe(0);
    })();
  });
});

describe.concurrent("a run with batches ends by name", () => {
  it(
    "where the key is wrong",
    LONG,
    inBatches("OpenAI", { api_key: "right" }, async (batched) => {
      const { code, stderr } = await batched.bench.place.run(batched.args("-n", "3", "-r", "1", "-k", "SCRIPTED_API_KEY"), {
        ...SOON,
        SCRIPTED_API_KEY: "sk-wrong-1234567890",
      });
      expect(code, stderr).toBe(1);
      expect(stderr).toMatch(/ended FAILED/);
      expect(stderr).toContain("SCRIPTED_API_KEY");
      expect(stderr).not.toContain("sk-wrong");
    }),
  );

  it(
    "where the provider does not have the model",
    LONG,
    inBatches("OpenAI", { models: ["another"] }, async (batched) => {
      const { code, stderr } = await batched.run("-n", "3", "-r", "1");
      expect(code, stderr).toBe(1);
      expect(stderr).toMatch(/ended FAILED.*scripted/);
    }),
  );

  it("where the server has no batches: what to leave out is said", LONG, async () => {
    const server = createServer((_, response) => void response.writeHead(404, { "content-type": "application/json" }).end('{"detail":"Not Found"}'));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      await inPlace({}, async ({ place }) => {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
        const args = ["eval", "run", "reverse-text", "-m", "m", "-b", url, "--no-preflight", "--batch", "-n", "3", "-r", "1"];
        const { code, stderr } = await place.run(args, SOON);
        expect(code, stderr).toBe(1);
        expect(stderr).toMatch(/ended FAILED: .*this server has no batches \(HTTP 404 to POST \/files\): leave --batch out/);
      })();
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
