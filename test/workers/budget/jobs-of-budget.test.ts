import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { BudgetControl, JobAnswer, JobRequest } from "../../../durable-objects/budget/budget-control.ts";
import { budgetStub } from "../../../durable-objects/stubs.ts";
import VERSION_2 from "../../fixtures/stored-state/budgets/budget-2.json";
import { JobSpeaker } from "../../support/budget/job-words.ts";
import { anewForEach, tablesOf, waysToGo } from "../support/real-object.ts";
import { service, skip } from "../support/service.ts";

/** Money that is held for batches, in real objects: for as long as a batch lives, whatever becomes of the object and of the processes that speak to it. */

const NAME = "run/0000abcd";
const DAY_MS = 86_400_000;

const raw = () => service.BUDGET.getByName(NAME);
/** A new stub each time: after a crash the old one stays broken. */
const budget = (): BudgetControl => budgetStub(service, NAME) as BudgetControl;
async function say(request: JobRequest): Promise<Extract<JobAnswer, { kind: "ok" }>> {
  const answer = await budget().job(request);
  if (answer.kind !== "ok") throw new Error(answer.message);
  return answer;
}
const version = () => runInDurableObject(raw(), (_, { storage }) => storage.sql.exec<{ version: number }>("SELECT version FROM schema_version").one().version);

const GONE = waysToGo(raw);
anewForEach();

describe.each(GONE)("a Budget after %s", (_, gone) => {
  it("holds what it held for a batch, over a day, and counts its end once", async () => {
    await budget().set({ total: 1_000, day: 1_000 });
    const job = new JobSpeaker();
    expect((await say(job.reserve(900))).held).toBe(true);
    await gone();
    expect((await say(job.send(900))).held).toBe(true);
    await gone();
    await budget().view();
    skip(DAY_MS);
    await gone();
    expect(await budget().view()).toMatchObject({ batches: { jobs: 1, amount: 900 }, allotted: 0, spent: { total: { settled: 0, unseen: { calls: 0 } } } });
    const end = new JobSpeaker(job.job, 2).settle(400, { calls: 1, amount: 30 });
    await say(end);
    await gone();
    await say(end);
    await say(new JobSpeaker(job.job, 3).settle(400, { calls: 1, amount: 30 }));
    expect(await budget().view()).toMatchObject({ batches: { jobs: 0, amount: 0 }, spent: { day: { settled: 400, unseen: { calls: 1, amount: 30 } } } });
  });
});

describe("a Budget that holds money for batches", () => {
  it("is of a version of its own meanwhile, which code that does not know them refuses, and of the usual one with the last of them", async () => {
    await budget().set({ total: 1_000 });
    expect([await version(), await tablesOf(raw())]).toEqual([1, ["head", "party", "schema_version", "spent"]]);
    const [one, two] = [new JobSpeaker("0000abcd/1"), new JobSpeaker("0000abcd/2")];
    await say(one.reserve(100));
    await say(two.send(100));
    expect([await version(), await tablesOf(raw())]).toEqual([2, ["head", "job", "party", "schema_version", "spent"]]);
    await say(one.settle(10));
    expect(await version()).toBe(2);
    await say(two.settle(10));
    expect(await version()).toBe(1);
    await budget().remove();
    expect(await tablesOf(raw())).toEqual([]);
  });

  it("writes nothing for what changes nothing", async () => {
    await budget().set({ total: 1_000 });
    await say(new JobSpeaker().settle(10));
    const written = (): Promise<number> =>
      runInDurableObject(raw(), (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n);
    const before = await written();
    for (let epoch = 2; epoch < 10; epoch++) await say(new JobSpeaker("0000abcd/1", epoch).settle(10));
    await say(new JobSpeaker("0000abcd/2").ask());
    expect(await written()).toBe(before);
  });

  it("refuses a word of another version of the protocol", async () => {
    await budget().set({ total: 1_000 });
    expect(await budget().job({ ...new JobSpeaker().reserve(5), protocol: 2 as never })).toEqual({
      kind: "refused",
      message: expect.stringContaining("version 1"),
    });
  });
});

describe("what a Budget stored by version 2", () => {
  it("is opened: what is held for which batch, whatever process held it, and what is over", async () => {
    await runInDurableObject(raw(), (_, { storage }) => {
      for (const statement of [...VERSION_2.tables, ...VERSION_2.rows]) storage.sql.exec(statement);
    });
    await abortAllDurableObjects();
    const spent = { settled: 1_230_000_000 };
    expect(await budget().view()).toMatchObject({ batches: { jobs: 1, amount: 700_000_000 }, spent: { total: spent } });
    await say(new JobSpeaker("0000abcd/2", 12).settle(999));
    await say(new JobSpeaker("0000abcd/3", 12).settle(250_000_000));
    expect(await budget().view()).toMatchObject({ batches: { jobs: 0, amount: 0 }, spent: { total: { settled: 1_480_000_000 } } });
    expect(await version()).toBe(1);
  });
});
