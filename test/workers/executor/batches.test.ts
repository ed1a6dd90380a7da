import { reset } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import type { BudgetControl } from "../../../durable-objects/budget/budget-control.ts";
import type { BatchOutcome, BatchPlan } from "../../../durable-objects/run/batching/batching-protocol.ts";
import { budgetStub } from "../../../durable-objects/stubs.ts";
import type { ClientType, RunConfig } from "../../../src/config/plan/run-config.ts";
import type { BatchLedger } from "../../support/model-server/batches/batch-ledger.ts";
import { timeless } from "../../support/walled/units.ts";
import { type Call, Fleet, type FleetOptions } from "../support/fleet.ts";
import { modelServer } from "../support/model-server.ts";
import { createRun, expectComplete, rowsOf } from "../support/runs.ts";
import { QUICK, service, setVars } from "../support/service.ts";

/** Runs whose requests go out in batches, from their creation to their rows, over a scripted provider outside workerd. */
let fleet: Fleet;
afterEach(async () => {
  await fleet.close();
  await reset();
});

function begin(options: Partial<FleetOptions> = {}): void {
  setVars({ ...QUICK, BATCH_LOOK_MS: "40", BATCH_SETTLE_MS: "300" });
  fleet = new Fleet({ model: modelServer, haste: 20, ...options });
}

let named = 0;
const models = (): string => `batched-${++named}-${Math.round(performance.now())}`;

const runOf = (type: ClientType, changes: Partial<RunConfig> = {}): Promise<RunConfig> =>
  createRun({ base_url: modelServer.baseUrl, api_client_type: type, model: models(), num_examples: 12, rollouts_per_example: 2, ...changes });

const ledger = async (): Promise<BatchLedger> => (await fetch(modelServer.baseUrl.replace("/v1", "/batches"))).json();

/** Batches of one run at the provider: Anthropic's carry nothing of ours but the names of their requests, of which another run's are others. */
async function batchesOf({ run_id }: RunConfig, before: BatchLedger): Promise<BatchLedger["batches"]> {
  const old = new Set(before.batches.map(({ id }) => id));
  return (await ledger()).batches.filter(({ id, metadata }) => !old.has(id) && (metadata === null || JSON.stringify(metadata).includes(run_id)));
}

const withoutPlace = (rows: readonly object[]): unknown => timeless(rows.map((row) => ({ ...row, model: "m" })));

const PROVIDERS = ["openai_chat_completions", "anthropic_messages"] as const;

/** Kills each executor that comes to a step, once for each: before what it did is told, after it, or as soon as it knows what to do. */
function killing(when: "heard" | "done" | "told", kills: string[]): NonNullable<FleetOptions["onRun"]> {
  const dies = ({ by }: Call, what: string): boolean => {
    if (kills.includes(what)) return false;
    kills.push(what);
    by.kill();
    return true;
  };
  return async (call) => {
    const { method, args, send } = call;
    const told = method === "batchTold" ? (args as [{ outcome: BatchOutcome }])[0].outcome.kind : null;
    if (told !== null && when === "done" && dies(call, told)) return undefined;
    const answer = await send();
    if (told !== null && when === "told") dies(call, told);
    if (method === "batchPlan" && when === "heard" && "job" in (answer as BatchPlan)) dies(call, (answer as BatchPlan).kind);
    return answer;
  };
}

const HEARD = ["write", "upload", "create", "look", "collect"];
const OUTCOMES = ["wrote", "uploaded", "creating", "submitted", "seen", "collected"];

/** A dollar for a million tokens: a token is a thousand nano-dollars, and in a batch half of that. */
const PRICES = { version: 1, table: "", given: [{ model: "*", input_usd_per_mtok: 1, output_usd_per_mtok: 1 }] } as const;
const BUDGET = "team/default";

describe("a run whose requests go out in batches", () => {
  it("has the rows of one whose requests are sent, and sends none but those of its batch", async () => {
    begin();
    const direct = await runOf("openai_chat_completions");
    await fleet.settled(direct.run_id);
    const before = await ledger();
    const batched = await runOf("openai_chat_completions", { batch: true });
    await fleet.settled(batched.run_id);
    await expectComplete(batched);
    expect(withoutPlace(await rowsOf(batched))).toEqual(withoutPlace(await rowsOf(direct)));
    expect((await batchesOf(batched, before)).map(({ requests, paid }) => [requests, paid.length])).toEqual([[24, 24]]);
    expect((await modelServer.stats(batched.model)).total).toBe(0);
  });

  it.each(PROVIDERS.flatMap((type) => (["heard", "done", "told"] as const).map((when) => ({ type, when }))))(
    "makes and pays one batch though whoever carries it is killed at every step, by $type: with the step $when",
    async ({ type, when }) => {
      const kills: string[] = [];
      begin({ executors: 2, onRun: killing(when, kills) });
      const before = await ledger();
      const run = await runOf(type, { batch: true, num_examples: 6 });
      await fleet.settled(run.run_id);
      const rows = await expectComplete(run);
      expect(rows.map(({ error, reward }) => [error, reward])).toEqual(rows.map(() => [null, 1]));
      expect((await batchesOf(run, before)).map(({ requests, paid }) => [requests, paid.length])).toEqual([[12, 12]]);
      expect(kills.toSorted()).toEqual((when === "heard" ? HEARD : OUTCOMES).toSorted());
    },
  );

  it.each(["heard", "done", "told"] as const)(
    "is paid to the nano-dollar from a budget that holds a part of it at a time, though whoever carries it is killed at every step: with the step %s",
    async (when) => {
      const kills: string[] = [];
      begin({ executors: 2, onRun: killing(when, kills) });
      const budget = budgetStub(service, BUDGET) as BudgetControl;
      await budget.set({ total: 2_000_000 });
      const before = await ledger();
      const changes = { batch: true, budgets: [BUDGET], prices: PRICES, sampling_args: { max_tokens: 100 } } as const;
      const run = await runOf("openai_chat_completions", { ...changes, num_examples: 3, rollouts_per_example: 3 });
      await fleet.settled(run.run_id);
      expect((await rowsOf(run)).map(({ error }) => error)).toEqual(Array.from({ length: 9 }, () => null));
      const batches = await batchesOf(run, before);
      // Some of them of a part of an example: each of their answers is paid once, and its rows come when all are there.
      expect(batches.length).toBeGreaterThan(3);
      expect(batches.reduce((sum, { paid }) => sum + paid.length, 0)).toBe(9);
      // Thirty tokens each.
      expect(await budget.view()).toMatchObject({
        allotted: 0,
        batches: { jobs: 0, amount: 0 },
        spent: { total: { settled: 9 * 30 * 500, unseen: { calls: 0, amount: 0 } } },
      });
    },
  );
});
