import { describe, expect, it } from "vitest";
import { inProcess } from "../../../../src/environments/hosted/in-process.ts";
import { SingleTurnEnv } from "../../../../src/environments/kinds/single-turn-env.ts";
import { silentBounds } from "../../../../src/executor/batching/silent-bounds.ts";
import { JobBill } from "../../../../src/executor/spending/job-bill.ts";
import { Rubric } from "../../../../src/rubrics/rubric.ts";
import { OwnBudgets } from "../../../support/budget/own-budgets.ts";
import { BatchedRun, completion, Unpaid } from "../../../support/batching/batched-run.ts";

const TEAM = "team/a";
/** A dollar for a million tokens; in a batch half of it. */
const PRICES = { version: 1, table: "", given: [{ model: "*", input_usd_per_mtok: 1, output_usd_per_mtok: 1 }] } as const;

const paidRun = (total: number, rollouts_per_example = 2) => {
  const env = new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric([{ name: "score", fn: () => 1 }]) });
  const run = new BatchedRun(inProcess(env), 6, { budgets: [TEAM], prices: PRICES, batch: true, rollouts_per_example, sampling_args: { max_tokens: 100 } });
  const budgets = new OwnBudgets({ [TEAM]: { total } });
  run.budget = budgets.stub;
  return { run, budgets, held: () => budgets.view(TEAM).batches?.amount };
};
const all = [{ lo: 0, hi: 6 }];

/** What one request of such a run can cost at most. */
async function boundOfOne(): Promise<number> {
  const { run } = paidRun(1e12, 1);
  const { bound, requests } = await run.write([{ lo: 0, hi: 1 }]);
  expect(requests).toBe(1);
  return bound ?? Number.NaN;
}

describe("a job of a run that a budget holds for", () => {
  it("is cut where the budget has no more to hold, between examples; and holds what it was written to cost", async () => {
    const one = await boundOfOne();
    const { run, held } = paidRun(Math.ceil(7.5 * one));
    const told = await run.write(all);
    expect(told).toMatchObject({ requests: 6, units: [{ lo: 0, hi: 3 }], ready: [] });
    expect([told.bound, held()]).toEqual([6 * one, 6 * one]);
  });

  it("has of its first example as many requests as there is money for", async () => {
    const one = await boundOfOne();
    const { run, held } = paidRun(Math.ceil(1.5 * one));
    expect(await run.write(all)).toMatchObject({ requests: 1, units: [{ lo: 0, hi: 1 }], bound: one });
    expect(held()).toBe(one);
  });

  it("is not written where there is money for none, and no example counts as one with nothing to ask", async () => {
    const { run, held } = paidRun(10);
    await expect(run.write(all)).rejects.toThrow(new Unpaid("over"));
    expect([held(), run.store.objects.size]).toEqual([0, 1]);
  });

  it("is settled by what its answers say that they took; of one that says nothing at what it can have cost", async () => {
    const one = await boundOfOne();
    const { run, budgets } = paidRun(100 * one);
    const told = await run.write([{ lo: 0, hi: 2 }]);
    const [a, b, c, d] = run.written(told.object).map(({ custom_id }) => custom_id) as [string, string, string, string];
    const { usage: _, ...silent } = completion("4");
    const answer = (custom_id: string, value: object) => ({ kind: "answer", custom_id, status: 200, text: JSON.stringify(value) }) as const;
    const bill = new JobBill(run.purse.price ?? (Number.NaN as never));
    const lost = { kind: "lost", custom_id: c, why: "expired", message: "too late" } as const;
    // The second word about one request is nobody's to pay.
    await run.collect(told.object ?? "", [answer(a, completion("4")), answer(a, completion("5")), answer(b, silent), lost, answer(d, completion("4"))], bill);
    const bounds = await silentBounds({ store: run.ports.store, runId: "0badcafe", object: told.object ?? "" }, bill.silent, run.grant.config.model, run.purse);
    expect(bounds).toBe(one);
    await run.purse.settle(told.job, bill.spent(bounds));
    // 10 and 3 tokens each, at half a dollar for a million.
    expect(budgets.view(TEAM)).toMatchObject({ batches: { jobs: 0 }, spent: { total: { settled: 2 * 13 * 500, unseen: { calls: 1, amount: one } } } });
  });

  it("has the bound of its requests where no budget holds too, as far as their price is known", async () => {
    const { run } = paidRun(1e12);
    const free = new BatchedRun(inProcess(new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric([]) })), 2, {});
    expect([(await run.write(all)).bound, (await free.write([{ lo: 0, hi: 1 }])).bound]).toEqual([12 * (await boundOfOne()), null]);
  });
});
