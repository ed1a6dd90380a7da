import { describe, expect, it } from "vitest";
import type { BudgetLimits } from "../../../../durable-objects/budget/budget-control.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { JobBill } from "../../../../src/executor/spending/job-bill.ts";
import { JobPurse } from "../../../../src/executor/spending/job-purse.ts";
import { OwnBudgets } from "../../../support/budget/own-budgets.ts";
import { clientPortsOfExecutor } from "../../../support/run/executor-ports.ts";

const PLACE = { base_url: "https://x.example/v1", api_key_var: "K" };
/** A dollar for a million tokens, so that a token is a thousand nano-dollars; in a batch half of it. */
const PRICES: RunConfig["prices"] = { version: 1, table: "", given: [{ model: "m", input_usd_per_mtok: 1, output_usd_per_mtok: 1 }] };
const TEAM = "team/a";
const RUN = "run/00000001";
const KEY = "key/a/K";

function purseOf(limits: Readonly<Record<string, BudgetLimits>>, config: Partial<RunConfig> = {}, epoch = 1) {
  const budgets = new OwnBudgets(limits);
  const slept: number[] = [];
  const ports = clientPortsOfExecutor({ budget: budgets.stub, sleep: async (ms) => void slept.push(ms), random: () => 0.5 });
  const paid = {
    run_id: "00000001",
    model: "m",
    ...PLACE,
    sampling_args: {},
    api_client_type: "openai_chat_completions",
    batch: true,
    prices: PRICES,
  } as const;
  const names = Object.keys(limits);
  const held = { budgets: names.filter((name) => name !== RUN), ...(names.includes(RUN) ? { max_cost: 1 } : {}) };
  const purse = new JobPurse({
    ports,
    slice: { spend: () => undefined },
    config: { ...paid, ...held, ...config } as unknown as RunConfig,
    epoch,
    place: PLACE,
  });
  return { budgets, purse, slept };
}

const BODY = { model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 1_000 };
const line = (custom_id: string, usage: object | null, status = 200) =>
  ({ kind: "answer", custom_id, status, text: JSON.stringify({ choices: [], ...(usage === null ? {} : { usage }) }) }) as const;
const MONEY = { amount: 900, requests: 3, least: 300 };

describe("what a request in a batch can cost", () => {
  it("is half of what it can cost by itself", () => {
    const [batched, direct] = [purseOf({ [TEAM]: { day: 1 } }).purse, purseOf({ [TEAM]: { day: 1 } }, { batch: undefined } as never).purse];
    const bound = batched.boundOf({ model: "m", body: BODY }) ?? Number.NaN;
    // 1,000 of output, 1,024 that the server adds, and the bytes of the body.
    expect(bound).toBe((1_000 + 1_024 + JSON.stringify(BODY).length) * 500);
    expect(direct.boundOf({ model: "m", body: BODY })).toBe(2 * bound);
  });

  it("must be known and bounded where a budget holds, and is null where none does", () => {
    const unpriced = { prices: { version: 1, table: "", given: [] } } as Partial<RunConfig>;
    const held = purseOf({ [TEAM]: { day: 1 } }, unpriced).purse;
    expect(() => held.boundOf({ model: "m", body: BODY })).toThrow(expect.objectContaining({ code: "unknown_price" }));
    const { max_tokens: _, ...endless } = BODY;
    expect(() => purseOf({ [TEAM]: { day: 1 } }).purse.boundOf({ model: "m", body: endless })).toThrow(expect.objectContaining({ code: "unbounded_cost" }));
    expect(purseOf({}, unpriced).purse.boundOf({ model: "m", body: BODY })).toBeNull();
    expect(purseOf({}).purse.boundOf({ model: "m", body: endless })).toBeNull();
    expect(purseOf({}).purse.boundOf({ model: "m", body: BODY })).toBeGreaterThan(0);
  });

  it("has what Anthropic is paid for keeping a prompt", () => {
    const plain = purseOf({}).purse.boundOf({ model: "m", body: BODY }) ?? Number.NaN;
    const kept = purseOf({}, { api_client_type: "anthropic_messages" }).purse.boundOf({ model: "m", body: BODY });
    expect(kept).toBe(plain + 0.25 * (1_024 + JSON.stringify(BODY).length) * 500);
  });
});

describe("money for a job", () => {
  it("is held in all budgets or in none, and as much as the least of them has", async () => {
    const { budgets, purse } = purseOf({ [TEAM]: { day: 1_000 }, [RUN]: { total: 2_000 }, [KEY]: { month: 5_000 } });
    expect(await purse.room(1)).toBe(1_000);
    expect(await purse.reserve(1, MONEY)).toEqual({ kind: "held" });
    // A job is written where none of the run is that was not sent.
    expect(await purse.room(2)).toBe(1_000);
    expect(await purse.send(1, MONEY)).toEqual({ kind: "held" });
    expect(await purse.room(2)).toBe(100);
    expect(await purse.reserve(2, MONEY)).toEqual({ kind: "short", room: 100 });
    for (const name of [TEAM, RUN, KEY]) expect(budgets.view(name).batches?.amount, name).toBe(900);
    expect(await purse.send(1, MONEY)).toEqual({ kind: "held" });
    await purse.release(9);
    await purse.settle(1, { settled: 800, unseen: { calls: 1, amount: 50 } });
    for (const name of [TEAM, RUN, KEY])
      expect(budgets.view(name), name).toMatchObject({ batches: { amount: 0 }, spent: { total: { settled: 800, unseen: { calls: 1, amount: 50 } } } });
    expect(await purse.reserve(2, MONEY)).toMatchObject({ kind: "over", budget: TEAM, over: { span: "day", limit: 1_000, settled: 800 } });
    expect(budgets.view(RUN).batches?.amount).toBe(0);
  });

  it("is of nobody where no budget holds: all is held, and nothing said", async () => {
    const { budgets, purse } = purseOf({});
    expect([purse.isHeld, await purse.room(1)]).toEqual([false, Number.MAX_SAFE_INTEGER]);
    expect([await purse.reserve(1, MONEY), await purse.send(1, MONEY)]).toEqual([{ kind: "held" }, { kind: "held" }]);
    await purse.settle(1, { settled: 1, unseen: { calls: 0, amount: 0 } });
    expect(budgets.said).toEqual([]);
  });

  it("is not that of another key: what its place is called with decides", async () => {
    const { budgets, purse } = purseOf({ [TEAM]: { day: 1_000 }, "key/a/OTHER": { day: 1 } });
    expect(await purse.reserve(1, MONEY)).toEqual({ kind: "held" });
    expect(budgets.view("key/a/OTHER").batches?.amount).toBe(0);
  });

  it("counts once where an answer is lost and the word is said again, and where the whole step is", async () => {
    const { budgets, purse, slept } = purseOf({ [TEAM]: { day: 1_000 } });
    budgets.answersLost = 2;
    expect(await purse.reserve(1, MONEY)).toEqual({ kind: "held" });
    expect(slept.length).toBe(2);
    for (let time = 0; time < 2; time++) {
      budgets.answersLost = 1;
      await purse.settle(1, { settled: 400, unseen: { calls: 0, amount: 0 } });
    }
    expect(budgets.view(TEAM)).toMatchObject({ batches: { amount: 0 }, spent: { day: { settled: 400 } } });
  });

  it("is left to be asked for again, and said to be so, where a budget does not answer, and refused where there is none", async () => {
    const { budgets, purse } = purseOf({ [TEAM]: { day: 1_000 } });
    budgets.answersLost = 100;
    await expect(purse.reserve(1, MONEY)).rejects.toMatchObject({ code: "internal", passing: true, message: expect.stringContaining(TEAM) });
    budgets.answersLost = 0;
    budgets.ledgers.get(TEAM)?.set(null, 0, Date.now());
    await expect(purse.reserve(1, MONEY)).rejects.toMatchObject({ code: "invalid_request", message: expect.stringContaining("no limit") });
    budgets.ledgers.clear();
    await expect(purse.room(1)).rejects.toMatchObject({ code: "invalid_request", message: expect.stringContaining("has no Budgets") });
  });
});

describe("what the answers of a job came to", () => {
  const price = { input_usd_per_mtok: 1, output_usd_per_mtok: 1 };

  it("is by the usage of each, in whatever form its provider has it; of those that say none at their bounds; of others nothing", () => {
    const bill = new JobBill(price);
    bill.add(line("a", { prompt_tokens: 100, completion_tokens: 50 }));
    bill.add(line("b", { input_tokens: 10, output_tokens: 5 }));
    bill.add(line("c", null));
    bill.add({ kind: "answer", custom_id: "d", status: 200, text: "no JSON" });
    bill.add(line("e", { prompt_tokens: 1_000, completion_tokens: 1_000 }, 400));
    bill.add({ kind: "lost", custom_id: "f", why: "expired", message: "too late" });
    bill.add({ kind: "large", custom_id: "g", bytes: 1e9 });
    expect([...bill.silent]).toEqual(["c", "d", "g"]);
    expect(bill.spent(7)).toEqual({ settled: 165_000, unseen: { calls: 3, amount: 7 } });
  });
});
