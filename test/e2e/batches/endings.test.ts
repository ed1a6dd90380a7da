import { describe, expect, it } from "vitest";
import { type BatchedBench, inBatches } from "../../support/cli/batched-bench.ts";
import type { CliProcess } from "../../support/cli/cli-process.ts";

const LONG = { timeout: 180_000 };
const errorsOf = ({ bench }: BatchedBench): readonly unknown[] =>
  bench.rows.flatMap(({ error }) => (error === null ? [] : [(error as { readonly code?: string }).code]));
const runIdOf = (cli: CliProcess): string => /Run ([0-9a-f]{8})/.exec(cli.stderr())?.[1] ?? "";
/** Of a batch that is under way until it is told. */
const WAITING = { batches: { takes_ms: null } } as const;

describe.concurrent("requests that a batch does not answer", () => {
  it(
    "expired, lost and refused by the provider's own error are asked again, and these alone; one that was wrong is not",
    LONG,
    inBatches(
      "OpenAI",
      {
        batches: {
          lines: [
            { when: { nth: 1, batch: 1 }, fault: { kind: "expired" } },
            { when: { nth: 2, batch: 1 }, fault: { kind: "lost" } },
            { when: { nth: 3, batch: 1 }, fault: { kind: "status", status: 500 } },
            { when: { nth: 4, batch: 1 }, fault: { kind: "status", status: 400, message: "This prompt is not allowed." } },
          ],
        },
      },
      async (batched) => {
        const { code, stdout, stderr } = await batched.run("-n", "6", "-r", "1");
        expect(code, stderr).toBe(0);
        expect(batched.ledger.batches.map(({ requests }) => requests)).toEqual([6, 3]);
        expect(batched.bench.rows).toHaveLength(6);
        expect(errorsOf(batched)).toEqual(["bad_request"]);
        const shown = (await batched.command("eval", "get", /evals\/[^/]+\/([0-9a-f]{8})/.exec(stdout)?.[1] ?? "")).stdout;
        expect(shown).toMatch(/Batches +2 batches: .* 3 came back without an answer \(/);
      },
    ),
  );

  it(
    "three times are errors that say why, and -R asks these alone",
    LONG,
    inBatches("Anthropic", { batches: { lines: [{ when: { nth: 1 }, fault: { kind: "expired" } }] } }, async (batched) => {
      // A quarter of the rollouts ended in an error, and -R can mend that.
      expect((await batched.run("-n", "4", "-r", "1")).code).toBe(3);
      expect(batched.ledger.batches.map(({ requests }) => requests)).toEqual([4, 1, 1]);
      expect(errorsOf(batched)).toEqual(["batch_unanswered"]);
      expect(JSON.stringify(batched.bench.rows.find(({ error }) => error !== null))).toContain("expired");
      batched.bench.model.setScript({});
      const { code, stderr } = await batched.resume();
      expect(code, stderr).toBe(0);
      expect(errorsOf(batched)).toEqual([]);
      expect([batched.ledger.batches.length, batched.ledger.paid]).toEqual([4, 4]);
    }),
  );
});

describe.concurrent("a run with batches", () => {
  it(
    "whose time is over cancels them, scores what they answered, and -R asks only for what is missing",
    LONG,
    inBatches("OpenAI", WAITING, async (batched) => {
      const cli = batched.start("-n", "6", "-r", "1", "--timeout-minutes", "1");
      await batched.sees(({ batches }) => batches.length === 1, cli, "a batch");
      await batched.tell({ done: 0.5 });
      expect(await cli.ended, cli.stderr()).toBe(1);
      expect(cli.stderr()).toContain("ended TIMEOUT");
      expect(batched.ledger.batches[0]?.state).toBe("cancelled");
      expect([batched.bench.rows.length, errorsOf(batched).length]).toEqual([3, 0]);
      batched.bench.model.setScript({});
      const { code, stderr } = await batched.resume();
      expect(code, stderr).toBe(0);
      batched.expectRows(6, 1);
      expect([batched.ledger.paid, batched.ledger.batches.at(-1)?.requests]).toEqual([6, 3]);
    }),
  );

  it(
    "that is cancelled scores what they answered by then",
    LONG,
    inBatches("Anthropic", WAITING, async (batched) => {
      const cli = batched.start("-n", "6", "-r", "1");
      await batched.sees(({ batches }) => batches.length === 1, cli, "a batch");
      await batched.tell({ done: 0.5 });
      const cancelled = await batched.command("eval", "stop", runIdOf(cli));
      expect(cancelled.code, cancelled.stderr).toBe(0);
      expect(await cli.ended, cli.stderr()).toBe(1);
      expect(cli.stderr()).toContain("ended CANCELLED");
      expect(batched.bench.rows).toHaveLength(3);
      batched.bench.model.setScript({});
      expect((await batched.resume()).code).toBe(0);
      batched.expectRows(6, 1);
      expect(batched.ledger.paid).toBe(6);
    }),
  );

  it(
    "that is cancelled twice ends at once, and -R collects what they answered since",
    LONG,
    inBatches("OpenAI", { batches: { takes_ms: null, cancelling_ms: 3_600_000 } }, async (batched) => {
      const cli = batched.start("-n", "4", "-r", "1");
      await batched.sees(({ batches }) => batches.length === 1, cli, "a batch");
      await batched.command("eval", "stop", runIdOf(cli));
      await batched.sees(({ batches }) => batches[0]?.state === "cancelling", cli, "the batch is cancelled");
      await batched.command("eval", "stop", runIdOf(cli));
      expect(await cli.ended, cli.stderr()).toBe(1);
      await batched.tell({ to: "completed" });
      const { code, stderr } = await batched.resume();
      expect(code, stderr).toBe(0);
      batched.expectPaidOnce(4, 1);
    }),
  );

  it(
    "that Ctrl-C ends goes on at the provider, and -R collects it",
    LONG,
    inBatches("OpenAI", WAITING, async (batched) => {
      const cli = batched.start("-n", "4", "-r", "2");
      await batched.sees(({ calls }) => calls.some(({ route }) => route === "look"), cli, "a look");
      cli.interrupt();
      expect(await cli.ended).toBe(130);
      expect(cli.stderr() + cli.stdout()).toMatch(/Resume: npx edgewise eval run reverse-text -R outputs\//);
      expect(batched.ledger.batches[0]?.state).toBe("in_progress");
      await batched.tell({ to: "completed" });
      const { code, stderr } = await batched.resume();
      expect(code, stderr).toBe(0);
      batched.expectPaidOnce(4, 2);
    }),
  );

  it(
    "waits where the provider takes no more, and sends the rest when there is room",
    LONG,
    inBatches("OpenAI", { batches: { enqueued: 8 } }, async (batched) => {
      const { code, stderr } = await batched.run("-n", "20", "-r", "1");
      expect(code, stderr).toBe(0);
      batched.expectRows(20, 1);
      expect(batched.ledger.paid).toBe(20);
    }),
  );
});
