import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { inBatches, PROVIDERS, type ProviderName, SOON, timeless } from "../../support/cli/batched-bench.ts";
import { inPlace } from "../../support/cli/in-place.ts";
import { readText } from "../../support/results/results-check.ts";

const LONG = { timeout: 180_000 };
const NAMES = Object.keys(PROVIDERS) as ProviderName[];

describe.concurrent("--batch", () => {
  for (const provider of NAMES) {
    it(
      `at ${provider}: every request in one batch, answered and paid for once; how it goes is told`,
      LONG,
      inBatches(provider, { batches: { takes_ms: 8_000 } }, async (batched) => {
        const { code, stdout, stderr } = await batched.run("-n", "6", "-r", "2");
        expect(code, stderr).toBe(0);
        batched.expectPaidOnce(6, 2);
        expect(batched.ledger.batches).toHaveLength(1);
        expect(stderr).toContain("Requests go out in batches: their answers may take up to a day.");
        expect(stderr).toMatch(/They go on at the provider if you press Ctrl-C; this collects them: npx edgewise eval run reverse-text -R outputs\//);
        expect(stderr).toMatch(/1 batch under way: \d+ of 12 requests answered/);
        expect(stdout).toContain("Results: outputs/");
        expect(batched.bench.metadata.edgewise.status).toBe("COMPLETED");
      }),
    );
  }

  it(
    "has the rows that a direct run has, but for their times",
    LONG,
    inBatches("OpenAI", { accuracy: 0.6 }, async (batched) => {
      const args = ["-n", "8", "-r", "3", "-T", "0.5", "-t", "64"];
      expect((await batched.run(...args)).code).toBe(0);
      const rows = batched.rowsText;
      await inPlace({ accuracy: 0.6 }, async (direct) => {
        expect((await direct.place.run(direct.reverse("--no-preflight", ...args))).code).toBe(0);
        expect(direct.model.ledger.stats().total).toBe(24);
        expect(rows).toBe(timeless(readText(direct.place.results, "results.jsonl")));
      })();
    }),
  );

  it(
    "is shown by eval get, eval list and over HTTP while it is under way and when it has ended",
    LONG,
    inBatches("OpenAI", { batches: { takes_ms: null } }, async (batched) => {
      const cli = batched.start("-n", "4", "-r", "1");
      await batched.sees(({ batches }) => batches.length === 1, cli, "a batch");
      const list = await batched.command("eval", "list", "-o", "json");
      const [{ evaluation_id: id = "" } = {}] = (JSON.parse(list.stdout) as { evaluations: { evaluation_id: string }[] }).evaluations;
      const shown = async () => (await batched.command("eval", "get", id)).stdout;
      await until(async () => /Waiting +1 batch under way: 0 of 4 requests answered/.test(await shown()), 30_000);
      const json = JSON.parse((await batched.command("eval", "get", id, "-o", "json")).stdout) as { edgewise: { batch: { jobs: { batch_id: string }[] } } };
      expect(json).toMatchObject({ eval_config: { batch: true, timeout_minutes: 1440 }, edgewise: { batch: { unasked: 0, requests: 4, closing: null } } });
      expect(json.edgewise.batch.jobs[0]?.batch_id).toBe(batched.ledger.batches[0]?.id);
      await batched.tell({ to: "completed" });
      expect(await cli.ended, cli.stderr()).toBe(0);
      expect(await shown()).toMatch(/Batches +1 batch: 4 of 4 requests answered/);
      expect(await shown()).not.toContain("Waiting");
    }),
  );

  it(
    "begins where a direct run was, and is left where a batch is over; not before",
    LONG,
    inBatches("OpenAI", { batches: { takes_ms: null } }, async (batched) => {
      const { place } = batched.bench;
      expect((await place.run(batched.bench.reverse("--no-preflight", "-n", "2", "-r", "1"))).code).toBe(0);
      const grown = place.start(["eval", "run", "reverse-text", "-R", place.results, "--no-preflight", "-n", "5", "--batch"], SOON);
      await batched.sees(({ batches }) => batches.length === 1, grown, "a batch");
      expect(batched.ledger.batches[0]?.requests).toBe(3);
      grown.interrupt();
      await grown.ended;
      const refused = await batched.resume("--no-batch");
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("1 batch of the run may be at the provider");
      await batched.tell({ to: "completed" });
      expect((await batched.resume()).code).toBe(0);
      const direct = await batched.resume("--no-batch", "-n", "6");
      expect(direct.code, direct.stderr).toBe(0);
      expect(batched.bench.rows).toHaveLength(6);
      expect([batched.ledger.paid, batched.bench.model.ledger.stats().total]).toEqual([3, 3]);
    }),
  );
});
