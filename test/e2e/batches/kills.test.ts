import { describe, expect, it } from "vitest";
import { inBatches, PROVIDERS, type ProviderName } from "../../support/cli/batched-bench.ts";
import { seedOf } from "../../support/cli/kill-plan.ts";
import type { BatchRouteName } from "../../support/model-server/batches/batch-plan.ts";
import { Random } from "../../simulation/world/random.ts";

const LONG = { timeout: 240_000 };
const ROUTES: Readonly<Record<ProviderName, readonly BatchRouteName[]>> = {
  OpenAI: ["upload", "create", "look", "results"],
  Anthropic: ["create", "look", "results"],
};
const NAMES = Object.keys(PROVIDERS) as ProviderName[];

describe.concurrent("a command that is killed", () => {
  for (const provider of NAMES)
    for (const route of ROUTES[provider])
      for (const effect of [true, false])
        it(
          `at ${provider} ${effect ? "after" : "before"} what ${route} does, before it is told of it: -R goes on, no batch is created twice, nothing is paid twice`,
          LONG,
          inBatches(provider, { batches: { calls: [{ route, nth: 1, fault: { kind: "hold", effect } }] } }, async (batched) => {
            const cli = batched.start("-n", "5", "-r", "2");
            await batched.sees(({ held }) => held === 1, cli, `${route} is held`);
            cli.child.kill("SIGKILL");
            await cli.ended;
            batched.bench.model.setScript({});
            const { code, stderr } = await batched.resume();
            expect(code, stderr).toBe(0);
            batched.expectPaidOnce(5, 2);
          }),
        );

  for (const provider of NAMES)
    it(
      `at ${provider} while its creation is on its way, which takes effect after the kill: it is found`,
      LONG,
      inBatches(provider, { batches: { calls: [{ route: "create", nth: 1, fault: { kind: "hold", effect: false } }] } }, async (batched) => {
        const cli = batched.start("-n", "4", "-r", "1");
        await batched.sees(({ held }) => held === 1, cli, "the creation is held");
        cli.child.kill("SIGKILL");
        await cli.ended;
        batched.bench.model.setScript({});
        await batched.release();
        const { code, stderr } = await batched.resume();
        expect(code, stderr).toBe(0);
        batched.expectPaidOnce(4, 1);
      }),
    );

  it(
    "again and again, at any moment, has every row once in the end, each paid for once",
    { timeout: 400_000 },
    inBatches("OpenAI", { batches: { takes_ms: 3_000 } }, async (batched) => {
      const random = new Random(seedOf("batches that are killed"));
      let cli = batched.start("-n", "30", "-r", "2");
      await batched.sees(({ calls }) => calls.length > 0, cli, "a call");
      for (let kill = 0; kill < 5; kill++) {
        await new Promise((resolve) => setTimeout(resolve, random.int(0, 3_000)));
        cli.child.kill("SIGKILL");
        await cli.ended;
        cli = batched.bench.place.start(["eval", "run", "reverse-text", "-R", batched.bench.place.results, "--no-preflight"], {
          BATCH_LOOK_MS: "100",
          BATCH_SETTLE_MS: "1000",
        });
        await cli.says(/Run [0-9a-f]{8}/);
      }
      expect(await cli.ended, cli.stderr()).toBe(0);
      batched.expectPaidOnce(30, 2);
    }),
  );
});
