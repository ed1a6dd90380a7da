import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { CONFIG, type Door, FakeRun, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const ID = "0000abcd";
const PRICE = { model: "m", input_usd_per_mtok: 1, output_usd_per_mtok: 4 };
const BOUNDED = { sampling_args: { max_tokens: 64 }, prices: [PRICE] };
const OWN = { api_base_url: "http://localhost:8000/v1", api_key_var: "PRIME_API_KEY" };

const create = (door: Door, config: JsonObject) =>
  door.call("POST", "/hosted-evaluations", { environment_ids: ["gsm8k"], inference_model: "m", eval_config: config });
const told = async (response: Response) => ({ status: response.status, ...((await response.json()) as { code?: string; detail?: string; hint?: string }) });
async function created(door: Door, config: JsonObject): Promise<FakeRun> {
  const response = await create(door, config);
  const { evaluation_id } = (await response.json()) as { evaluation_id: string };
  expect(response.status).toBe(200);
  return door.run(evaluation_id);
}

describe("a creation with a budget", () => {
  it("tells the run's Budget what may be spent, before the run begins", async () => {
    const door = openDoor();
    const run = await created(door, { ...BOUNDED, max_cost: 5.01 });
    const { run_id, max_cost, budgets } = run.creations[0]?.config ?? {};
    expect([max_cost, budgets]).toEqual([5.01, undefined]);
    const told = [...door.budgets].filter(([, { limits }]) => limits !== null).map(([name, { limits }]) => [name, limits]);
    expect(told).toEqual([[`run/${run_id}`, { total: 5_010_000_000 }]]);
  });

  it("has none without one, and asks for no price and no bound then", async () => {
    const door = openDoor();
    await created(door, {});
    expect(door.budgets.size).toBe(0);
  });

  it.each([
    [
      "unknown_price",
      { max_cost: 5, sampling_args: { max_tokens: 64 } },
      "max_cost: nobody knows what m costs at https://models.example/v1",
      '[[price]] with model = "m"',
    ],
    ["unbounded_cost", { max_cost: 5, prices: [PRICE] }, "max_cost: no token limit bounds an answer", "-t 1024"],
    ["unbounded_cost", { max_cost: 5, prices: [PRICE], sampling_args: { max_tokens: null } }, "no token limit", "-t 1024"],
  ] as const)("is refused where what a call can cost is not known, with what to type: %s", async (code, config, detail, hint) => {
    const door = openDoor();
    const answer = await told(await create(door, config as unknown as JsonObject));
    expect(answer).toMatchObject({ status: 422, code, detail: expect.stringContaining(detail), hint: expect.stringContaining(hint) });
    expect([door.runs.size, door.budgets.size]).toEqual([0, 0]);
  });

  it.each([{ sampling_args: { max_completion_tokens: 9 } }, { sampling_args: { extra_body: { max_tokens: 9 } } }, { api_client_type: "anthropic_messages" }])(
    "takes whatever bounds an answer: %j",
    async (config) => {
      await created(openDoor(), { max_cost: 5, prices: [PRICE], ...config } as unknown as JsonObject);
    },
  );

  it("is stamped with the budgets of its team and of keys, and refused where one of those holds for a call that nobody can bound", async () => {
    const door = openDoor();
    await door.call("PUT", "/budgets/team", { day: 20 });
    await door.call("PUT", "/budgets/keys/TEAM_API_KEY", { day: 20 });
    await door.call("PUT", "/budgets/everybody/PRIME_API_KEY", { day: 20 });
    await door.call("PUT", "/budgets/everybody/OWN_API_KEY", { day: 20 });
    door.registry.ownKeys.add("OWN_API_KEY");
    const run = await created(door, BOUNDED);
    expect(run.creations[0]?.config.budgets).toEqual(["team/default", "key/default/TEAM_API_KEY", "key/*/PRIME_API_KEY"]);
    const answer = await told(await create(door, {}));
    expect(answer).toMatchObject({ status: 422, code: "unknown_price", detail: expect.stringContaining("A budget of the team or of the key holds") });
    await door.call("DELETE", "/budgets/team");
    await door.call("DELETE", "/budgets/everybody/PRIME_API_KEY");
    // Judges may be called with that key.
    expect((await created(door, {})).creations[0]?.config.budgets).toEqual(["key/default/TEAM_API_KEY"]);
  });
});

describe("a creation where a budget of the team or of its key is spent", () => {
  const spentBy = (settled: number) => ({ settled, unseen: { calls: 1, amount: 1_000_000 } });
  /** A day's limit of $1, and so much of it gone, in nano-dollars. */
  async function spentDoor(settled: number, path = "/budgets/team", name = "team/default"): Promise<Door> {
    const door = openDoor();
    await door.call("PUT", path, { day: 1, month: 30 });
    const budget = door.budgets.get(name);
    if (budget !== undefined) budget.spent = { total: spentBy(settled), day: spentBy(settled), month: spentBy(settled) };
    return door;
  }
  // Tokens of an empty prompt, and 64 of an answer, at a dollar and four for a million.
  const CALL = 1_024_000 + 256_000;

  it("is refused by name, says when the day begins anew and what allows more, and leaves nothing behind", async () => {
    const door = await spentDoor(999_000_000);
    const response = await create(door, { ...BOUNDED, max_cost: 5 });
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    const { hint, ...answer } = await told(response);
    expect(answer).toEqual({
      status: 402,
      code: "over_budget",
      detail:
        "The budget of the team default, $1.00 of this day (UTC) is spent: $0.9990 settled, at most $0.0010 of 1 call whose end nobody saw. Nothing is begun that would end without a row.",
    });
    expect(hint).toMatch(/^The day begins anew at \d{4}-\d\d-\d\dT00:00Z; sooner with a larger one: npx edgewise budget set --day 1\.6 --month 30$/);
    expect([door.runs.size, [...door.budgets].flatMap(([name, { limits }]) => (limits === null ? [] : [name]))]).toEqual([0, ["team/default"]]);
  });

  it("begins with what one call can cost, and not with less", async () => {
    await created(await spentDoor(999_000_000 - CALL), BOUNDED);
    const answer = await told(await create(await spentDoor(999_000_001 - CALL), BOUNDED));
    expect(answer).toMatchObject({
      status: 402,
      detail: expect.stringContaining("; the $0.0013 that are left are less than a call of this run can cost ($0.0013)"),
    });
  });

  it("is refused by a key's budget where its model is called with that key alone, and says nothing of the owner's", async () => {
    const own = await spentDoor(2_000_000_000, "/budgets/everybody/PRIME_API_KEY", "key/*/PRIME_API_KEY");
    const answer = await told(await create(own, BOUNDED));
    expect(answer).toMatchObject({
      status: 402,
      detail: expect.stringMatching(/^The budget that the owner of the service has for PRIME_API_KEY of this day \(UTC\) is spent\. /),
    });
    expect(`${answer.detail} ${answer.hint}`).not.toContain("$");
    await created(await spentDoor(2_000_000_000, "/budgets/keys/TEAM_API_KEY", "key/default/TEAM_API_KEY"), BOUNDED);
  });

  it("is refused by name where its Budget was stored by another version", async () => {
    const door = await spentDoor(0);
    const budget = door.budgets.get("team/default");
    if (budget !== undefined)
      budget.view = async () => Promise.reject(new EdgewiseError("stored_version_unknown", "The budget was stored by another version."));
    const answer = await told(await create(door, BOUNDED));
    expect(answer).toMatchObject({ status: 500, code: "stored_version_unknown", detail: "team/default: The budget was stored by another version." });
    expect(door.runs.size).toBe(0);
  });

  it("begins where its calls cost nothing, or the cache may have all answers", async () => {
    await created(await spentDoor(990_000_000), { ...BOUNDED, prices: [{ ...PRICE, input_usd_per_mtok: 0, output_usd_per_mtok: 0 }] });
    await created(await spentDoor(2_000_000_000), { ...BOUNDED, cache: "read" });
  });
});

describe("a resume", () => {
  const COSTS = { costs: { rollouts: 2, input_nano: 1_000_000_000, output_nano: 2_000_000_000 } };
  function doorWith(changes: { readonly max_cost?: number; readonly phase?: "open" }): Door {
    const door = openDoor();
    const run = new FakeRun();
    const { max_cost } = changes;
    const prices = { version: 1 as const, table: "2026-11-23", given: [PRICE] };
    const paid = { prices, sampling_args: { max_tokens: 64 }, ...(max_cost === undefined ? {} : { max_cost }) };
    const view = viewFor({ ...CONFIG, run_id: ID, model: "m", ...paid });
    run.state = { ...view, status: "CANCELLED", phase: changes.phase ?? "settled", totals: { ...emptyTotals(), ...COSTS } };
    door.runs.set(ID, run);
    return door;
  }
  const resume = (door: Door, body: JsonObject) => door.call("POST", `/evaluations/${ID}/resume`, body);

  it("goes on with what it names, and with what the run had where it names nothing", async () => {
    const door = doorWith({ max_cost: 5 });
    expect(await told(await resume(door, { max_cost: 8 }))).toMatchObject({ status: 200 });
    expect(door.budgets.get(`run/${ID}`)?.limits).toEqual({ total: 8_000_000_000 });
    expect(door.run(ID).resumes[0]).toMatchObject({ max_cost: 8, budgets: [] });
    const same = doorWith({ max_cost: 5 });
    await resume(same, {});
    expect([same.budgets.get(`run/${ID}`)?.limits, same.run(ID).resumes[0]?.max_cost]).toEqual([{ total: 5_000_000_000 }, null]);
  });

  it("of a run that had no budget counts what its rows cost", async () => {
    const door = doorWith({});
    await resume(door, { max_cost: 8 });
    expect([door.budgets.get(`run/${ID}`)?.limits, door.budgets.get(`run/${ID}`)?.before[0]]).toEqual([{ total: 8_000_000_000 }, 3_000_000_000]);
  });

  it("of a run that had no budget is refused one while its batches may be at the provider, since nothing was held for them", async () => {
    const job = { job: 1, requests: 5, counts: { answered: 0, failed: 0 }, batch_id: "b", submitted_at: 1, ended_at: null, expires_at: null };
    const batches = { unasked: 0, requests: 5, answered: 0, failed: 0, lost: {}, look_at: null, closing: null };
    for (const [max_cost, state, status] of [
      [undefined, "submitted", 422],
      [undefined, "collected", 200],
      [5, "submitted", 200],
    ] as const) {
      const door = doorWith(max_cost === undefined ? {} : { max_cost });
      const run = door.run(ID);
      if (run.state !== null) run.state = { ...run.state, batch: { ...batches, jobs: [{ ...job, state }] } };
      const answer = await resume(door, { max_cost: 8 });
      expect(answer.status, state).toBe(status);
      if (status === 422) expect(await answer.text()).toContain("nothing was held for what they cost");
    }
  });

  it("is refused where the limit that it names is spent", async () => {
    const door = doorWith({});
    const answer = await resume(door, { max_cost: 3 });
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining("must be more than the run has spent, which is $3.00")]);
    expect(door.run(ID).resumes).toEqual([]);
  });

  it("that comes together with another one has no word in what the run may spend where that was taken", async () => {
    const door = doorWith({ max_cost: 5 });
    const run = door.run(ID);
    const taken = run.resume.bind(run);
    run.resume = async (request) => {
      run.resume = taken;
      // Its limit was set meanwhile, and the run is its own.
      expect(await told(await resume(door, { max_cost: 8 }))).toMatchObject({ status: 200 });
      if (run.state !== null) run.state = { ...run.state, generation: run.state.generation + 1, phase: "open", config: { ...run.state.config, max_cost: 8 } };
      return { ok: false, error: { code: "run_busy", message: `The run works already, and does not take ${request.max_cost}.` } };
    };
    expect(await told(await resume(door, { max_cost: 12 }))).toMatchObject({ status: 409, code: "run_busy" });
    expect(door.budgets.get(`run/${ID}`)?.limits).toEqual({ total: 8_000_000_000 });
  });

  it("leaves the budget of a run that works as it is", async () => {
    const door = doorWith({ max_cost: 5, phase: "open" });
    await resume(door, { max_cost: 8 });
    expect(door.budgets.get(`run/${ID}`)?.limits ?? null).toBe(null);
  });

  it("is told what holds now", async () => {
    const door = doorWith({});
    await door.call("PUT", "/budgets/team", { month: 20 });
    await resume(door, OWN);
    expect(door.run(ID).resumes[0]?.budgets).toEqual(["team/default"]);
  });
});

describe("a run with a budget", () => {
  it("is shown with what it may spend, and what is spent of it", async () => {
    const door = openDoor();
    const run = new FakeRun();
    run.state = viewFor({ ...CONFIG, run_id: ID, max_cost: 5 });
    door.runs.set(ID, run);
    await door.call("GET", `/evaluations/${ID}`);
    const budget = door.budgets.get(`run/${ID}`);
    await budget?.set({ total: 5_000_000_000 });
    const spent = { settled: 1_230_000_000, unseen: { calls: 1, amount: 10_000_000 } };
    if (budget !== undefined) budget.spent = { total: spent, day: spent, month: spent };
    const shown = (await (await door.call("GET", `/evaluations/${ID}`)).json()) as { edgewise: object; eval_config: object };
    expect(shown).toMatchObject({
      eval_config: { max_cost: 5 },
      edgewise: { max_cost: 5, budget: { settled_usd: 1.23, unseen_usd: 0.01, unseen_calls: 1 } },
    });
  });
});
