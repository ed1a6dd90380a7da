import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import type { BudgetAnswer, BudgetControl, BudgetRequest } from "../../../durable-objects/budget/budget-control.ts";
import { budgetStub } from "../../../durable-objects/stubs.ts";
import { bootOf, runtimeOf } from "../../../src/env.ts";
import { Spender, waiting } from "../../support/budget/spender.ts";
import VERSION_1 from "../../fixtures/stored-state/budgets/budget-1.json";
import { anewForEach, tablesOf, waysToGo } from "../support/real-object.ts";
import { service, skip } from "../support/service.ts";

/** Budgets in real objects: what was told is stored, and neither an eviction nor a crash lets anybody have more than the limit. */

const NAME = "run/0000abcd";
const LEASE_MS = 10_500;
/** Of the process that the service is in. */
const HERE = { boot: bootOf(service), runtime: runtimeOf(service) };
const spender = (name: string): Spender => new Spender(name, HERE);

const raw = () => service.BUDGET.getByName(NAME);
/** A new stub each time: after a crash the old one stays broken. */
const budget = (): BudgetControl => budgetStub(service, NAME) as BudgetControl;
async function ask(request: BudgetRequest): Promise<Extract<BudgetAnswer, { kind: "ok" }>> {
  const answer = await budget().exchange(request);
  if (answer.kind !== "ok") throw new Error(answer.message);
  return answer;
}
const tables = () => tablesOf(raw());

const GONE = waysToGo(raw);
anewForEach();

describe("a Budget", () => {
  it("that nobody gave a limit has nothing to spend, to show or to store", async () => {
    expect(await budget().exchange(spender("a").says(waiting(1, 10)))).toEqual({ kind: "refused", message: expect.stringContaining("no limit") });
    expect(await budget().view()).toBeNull();
    expect(await tables()).toEqual([]);
  });

  it("is not there in a deployment whose wrangler.toml is of before", () => expect(budgetStub({}, NAME)).toBeNull());

  it("that is removed has none any more, and leaves nothing behind", async () => {
    await budget().set({ total: 100 });
    await ask(spender("a").says(waiting(1, 10)));
    expect(await tables()).toEqual(["head", "party", "schema_version", "spent"]);
    await budget().remove();
    expect(await tables()).toEqual([]);
    expect((await budget().exchange(spender("a").says())).kind).toBe("refused");
  });

  it("begins a day by the clock of the service, and knows what the month had", async () => {
    await budget().set({ day: 100, month: 150 });
    const a = spender("a");
    await ask(a.says(waiting(1, 90)));
    await ask(a.says({ settled: 90 }));
    expect((await ask(a.says(waiting(1, 90)))).over).toMatchObject({ span: "day", limit: 100, settled: 90 });
    const before = (await budget().view())?.spent.month.settled;
    expect(before).toBe(90);
    skip(24 * 3_600_000);
    const view = await budget().view();
    expect(view?.spent.day.settled).toBe(0);
    expect(view?.spent.total.settled).toBe(90);
  });

  it("writes nothing for a word that moved no money", async () => {
    await budget().set({ total: 1_000 });
    const a = spender("a");
    const { allots } = await ask(a.says(waiting(2, 100)));
    const written = (): Promise<number> =>
      runInDurableObject(raw(), (_, { storage }) => storage.sql.exec<{ n: number }>("SELECT total_changes() AS n").one().n);
    await ask(a.says({ reserved: 200, in_flight: 2, free: allots - 200 }));
    const before = await written();
    for (let n = 0; n < 20; n++) await ask(a.says({ reserved: 200, in_flight: 2, free: allots - 200 }));
    expect(await written()).toBe(before);
  });
});

describe.each(GONE)("a Budget after %s", (_, gone) => {
  it("knows limits, what is spent and what is out, and takes the repetition of a message for one", async () => {
    await budget().set({ total: 1_000 }, 100);
    const a = spender("a");
    const first = a.says(waiting(2, 100));
    const { allots } = await ask(first);
    await gone();
    expect((await ask(first)).allots).toBe(allots);
    const spent = { settled: 30, unseen: { calls: 1, amount: 100 }, free: allots - 130 };
    const second = a.says(spent);
    const told = (await ask(second)).allots;
    await gone();
    expect((await ask(second)).allots).toBe(Math.max(0, told));
    expect(await budget().view()).toMatchObject({
      limits: { total: 1_000 },
      spent: { total: { settled: 130, unseen: { calls: 1, amount: 100 } } },
      allotted: spent.free + Math.max(0, told),
    });
  });

  it("leaves those who are not heard of what they have for a lease, and then counts it as unseen", async () => {
    await budget().set({ total: 300 });
    await ask(spender("a").says(waiting(1, 300)));
    const b = spender("b");
    await gone();
    expect((await ask(b.says(waiting(1, 100)))).allots).toBe(0);
    skip(LEASE_MS - 1);
    await gone();
    // Who may be there unheard has a lease anew.
    expect((await ask(b.says(waiting(1, 100)))).over).toBeNull();
    skip(LEASE_MS + 1);
    expect((await ask(b.says(waiting(1, 100)))).over).toMatchObject({ settled: 0, unseen: { calls: 1, amount: 300 } });
    await gone();
    expect((await budget().view())?.spent.total.unseen).toEqual({ calls: 1, amount: 300 });
  });

  it("at every step of two executors never has more out than the limit", async () => {
    for (let step = 0; step < 12; step++) {
      await budget().remove();
      await budget().set({ total: 1_000 });
      const purses = ["a", "b"].map((name) => ({ spender: spender(`${name}${step}`), free: 0 }));
      let settled = 0;
      for (let n = 0; n < 12; n++) {
        if (n === step) await gone();
        const purse = purses[n % 3 === 1 ? 1 : 0];
        if (purse === undefined) throw new Error("there is no such executor");
        const spent = Math.min(purse.free, 60);
        purse.free -= spent;
        settled += spent;
        const request = purse.spender.says({ settled: spent, free: purse.free, ...waiting(3, 70) });
        const { allots } = await ask(request);
        // Every other answer is lost, with the object that gave it.
        if (n % 2 === 0) {
          await gone();
          expect((await ask(request)).allots).toBe(Math.max(0, allots));
        }
        purse.free += Math.max(0, allots);
        const out = purses.reduce((sum, { free }) => sum + free, 0);
        expect(settled + out).toBeLessThanOrEqual(1_000);
        expect(await budget().view()).toMatchObject({ spent: { total: { settled } }, allotted: out });
      }
    }
  });
});

describe("what a Budget stored by version 1", () => {
  /** As `life` has stored it. */
  async function stored({ boot, runtime }: typeof HERE): Promise<void> {
    await runInDurableObject(raw(), (_, { storage }) => {
      for (const statement of [...VERSION_1.tables, ...VERSION_1.rows]) storage.sql.exec(statement.replace("'b', 'r'", `'${boot}', '${runtime}'`));
    });
    await abortAllDurableObjects();
  }

  it("in an earlier process is known to be nobody's any more at once: what executors had is of calls whose end nobody saw", async () => {
    await stored({ boot: "before", runtime: "before" });
    expect(await budget().view()).toMatchObject({
      spent: { total: { settled: 1_230_000_000, unseen: { calls: 5, amount: 130_000_000 } } },
      allotted: 0,
    });
  });

  it("is opened: limits, what is spent, and who has how much of it", async () => {
    await stored(HERE);
    expect(await budget().view()).toMatchObject({
      limits: { total: 5_000_000_000, day: 2_000_000_000 },
      spent: { total: { settled: 1_230_000_000, unseen: { calls: 2, amount: 40_000_000 } } },
      allotted: 90_000_000,
    });
    const e1 = spender("e-1");
    const again = { ...e1.says({ reserved: 60_000_000, in_flight: 3 }), seq: 7 };
    expect((await ask(again)).allots).toBe(30_000_000);
    await ask({ ...e1.says({ settled: 10_000_000 }), seq: 8 });
    expect(await budget().view()).toMatchObject({ spent: { total: { settled: 1_240_000_000 } }, allotted: 0 });
  });
});

describe("what another version has stored, or says", () => {
  it("is refused by name, and left alone", async () => {
    await runInDurableObject(raw(), (_, { storage }) => {
      storage.sql.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
      storage.sql.exec("INSERT INTO schema_version VALUES (99)");
    });
    await abortAllDurableObjects();
    expect(await budget().exchange(spender("a").says())).toEqual({ kind: "refused", message: expect.stringContaining("schema 99") });
    const refusal = await budget()
      .view()
      .then(
        () => "answered",
        (error: unknown) => error,
      );
    expect(refusal).toMatchObject({ code: "stored_version_unknown", hint: expect.stringContaining("newer") });
    expect(await tables()).toEqual(["schema_version"]);
  });

  it("of the protocol is refused by its number", async () => {
    await budget().set({ total: 100 });
    expect(await budget().exchange({ ...spender("a").says(), protocol: 2 as never })).toEqual({
      kind: "refused",
      message: expect.stringContaining("version 1"),
    });
  });
});
