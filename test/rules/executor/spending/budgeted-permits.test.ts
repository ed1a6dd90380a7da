import { describe, expect, it } from "vitest";
import type { BudgetLimits, Overspent } from "../../../../durable-objects/budget/budget-control.ts";
import { Ledger } from "../../../../durable-objects/budget/ledger.ts";
import type { AttemptCost, AttemptSpent } from "../../../../src/clients/client.ts";
import { Gate } from "../../../../src/clients/gate.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import type { HeldPermits } from "../../../../src/executor/limiting/limiter-links.ts";
import { Purses } from "../../../../src/executor/spending/purses.ts";
import { VirtualTime } from "../../../simulation/limiting/world/virtual-time.ts";
import { clientPortsOfExecutor } from "../../../support/run/executor-ports.ts";

/** Requests of one executor at a place where a token costs a thousand nano-dollars; a Budget that answers in ten milliseconds. */

const PLACE = { base_url: "https://x.example/v1", api_key_var: "K" };
const TOKEN = 1_000;

class Attempt implements AttemptCost {
  readonly input_tokens = 0;
  readonly output_tokens = 0;
  spent: AttemptSpent = { kind: "unseen" };
  readonly bound: AttemptCost["bound"];

  constructor(tokens: number | null, model = "m") {
    this.bound = { model, input_tokens: 0, input_rate: 1, output_tokens: tokens, open: null };
  }

  billed(output_tokens: number): this {
    this.spent = { kind: "billed", usage: { input_tokens: 0, output_tokens } };
    return this;
  }
}

class Scene {
  readonly time = new VirtualTime();
  readonly gate = new Gate(2);
  readonly told: { readonly budget: string; readonly over: Overspent }[] = [];
  readonly warnings: string[] = [];
  readonly ledger: Ledger;
  readonly purses: Purses;
  /** Exchanges that were sent. */
  sent = 0;
  isAway = false;
  /** What its Budget answers instead of paying. */
  refusal: string | null = null;

  constructor(limits: BudgetLimits | null) {
    const { time } = this;
    this.ledger = new Ledger(null, time.now());
    this.ledger.set(limits, 0, time.now());
    const exchange = async (request: Parameters<Ledger["exchange"]>[0]) => {
      this.sent++;
      await time.sleep(10);
      if (this.isAway) throw new Error("Network connection lost.");
      if (this.refusal !== null) return { kind: "refused" as const, message: this.refusal };
      return this.ledger.exchange(request, time.now());
    };
    const ports = clientPortsOfExecutor({
      id: "e",
      boot: "b",
      runtime: "r",
      now: time.now,
      sleep: time.sleep,
      budget: (name) => (name === "team/none" ? null : { exchange, job: async (request) => this.ledger.job(request, time.now()) }),
    });
    this.purses = new Purses(ports, { spend: () => undefined });
  }

  pay(config: Partial<RunConfig>): HeldPermits {
    const held: HeldPermits = {
      permits: this.gate,
      base_url: PLACE.base_url,
      waiting: 0,
      pausedUntil: null,
      bound: null,
      weigh: () => undefined,
      close: () => undefined,
    };
    return this.purses.pay(held, {
      config: { run_id: "00000001", ...config } as RunConfig,
      ...PLACE,
      gate: this.gate,
      warning: (kind) => void this.warnings.push(kind),
      onOver: (budget, over) => void this.told.push({ budget, over }),
    });
  }

  held(): HeldPermits {
    return this.pay({ budgets: ["team/a"], prices: { version: 1, table: "", given: [{ model: "m", input_usd_per_mtok: 1, output_usd_per_mtok: 1 }] } });
  }

  paid(): HeldPermits["permits"] {
    return this.held().permits;
  }

  async pass(ms: number): Promise<void> {
    // What was begun a moment ago has its first timers before time passes.
    await new Promise((resolve) => setImmediate(resolve));
    await this.time.pass(this.time.clock.now + ms);
  }
}

/** What became of a promise, as far as it is known. */
function fateOf(promise: Promise<void>): { state: "waits" | "in" | string } {
  const fate: { state: string } = { state: "waits" };
  promise.then(
    () => {
      fate.state = "in";
    },
    (thrown: unknown) => {
      fate.state = (thrown as { code?: string }).code ?? String(thrown);
    },
  );
  return fate;
}

describe("permits of a grant", () => {
  it("are as they were where no budget holds", () => {
    const scene = new Scene({});
    expect(scene.pay({}).permits).toBe(scene.gate);
    // A budget of another key is nothing to calls with this one.
    expect(scene.pay({ budgets: ["key/a/OTHER"] }).permits).toBe(scene.gate);
  });

  it("are refused by name where a budget holds and the service has no Budgets", () => {
    expect(() => new Scene({}).pay({ budgets: ["team/none"] })).toThrow(/team\/none.*no Budgets/);
  });
});

describe("a request that a budget holds for", () => {
  it("is refused by name where nobody knows its price, or nothing bounds it", async () => {
    const permits = new Scene({ total: 100 * TOKEN }).paid();
    await expect(permits.enter(null, new Attempt(10, "unheard-of"))).rejects.toMatchObject({
      code: "unknown_price",
      message: expect.stringContaining("unheard-of"),
    });
    await expect(permits.enter(null, new Attempt(null))).rejects.toMatchObject({ code: "unbounded_cost", hint: expect.stringContaining("-t 1024") });
  });

  it("that costs nothing asks nobody", async () => {
    const scene = new Scene({ total: 0 });
    await scene.paid().enter(null, new Attempt(0));
    expect([scene.gate.inFlight, scene.sent]).toEqual([1, 0]);
  });

  it("holds no permit, and begins when one that is under way came to less", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    const held = scene.held();
    const { permits } = held;
    const [one, two] = [new Attempt(70), new Attempt(70)];
    const first = fateOf(permits.enter(null, one));
    await scene.pass(50);
    expect(held.bound).toBeNull();
    const second = fateOf(permits.enter(null, two));
    await scene.pass(5_000);
    expect([first.state, second.state, scene.gate.inFlight]).toEqual(["in", "waits", 1]);
    expect([held.waiting, held.bound?.kind]).toEqual([1, "budget"]);
    permits.leave(undefined, one.billed(30));
    await scene.pass(3_000);
    expect([second.state, scene.gate.inFlight]).toEqual(["in", 1]);
    permits.leave(undefined, two.billed(70));
    await Promise.all([scene.purses.leave(), scene.pass(1_500)]);
    expect(scene.ledger.view(scene.time.now())).toMatchObject({ spent: { total: { settled: 100 * TOKEN } }, allotted: 0 });
  });

  it("has its money counted at the end of its grant, with what nobody uses given back; whoever comes meanwhile, or later, is paid for all the same", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    const permits = scene.paid();
    const one = new Attempt(40);
    await Promise.all([permits.enter(null, one), scene.pass(50)]);
    const spent = () => scene.ledger.view(scene.time.now());
    // Under way: nothing is given back.
    await Promise.all([scene.purses.rest(), scene.pass(20)]);
    expect(spent()?.allotted).toBeGreaterThanOrEqual(40 * TOKEN);
    permits.leave(undefined, one.billed(25));
    const rest = scene.purses.rest();
    const meanwhile = new Attempt(70);
    const came = fateOf(permits.enter(null, meanwhile));
    await Promise.all([rest, scene.pass(15)]);
    expect(spent()).toMatchObject({ spent: { total: { settled: 25 * TOKEN } } });
    await scene.pass(500);
    expect(came.state).toBe("in");
    permits.leave(undefined, meanwhile.billed(70));
    await Promise.all([scene.purses.rest(), scene.pass(50)]);
    expect(spent()).toMatchObject({ spent: { total: { settled: 95 * TOKEN } }, allotted: 0 });
    const later = fateOf(permits.enter(null, new Attempt(5)));
    await scene.pass(500);
    expect(later.state).toBe("in");
  });

  it("does not wait for ever for a Budget that is away at the end of a grant, and has its money once that is back", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    const permits = scene.paid();
    const one = new Attempt(40);
    await Promise.all([permits.enter(null, one), scene.pass(50)]);
    permits.leave(undefined, one.billed(25));
    scene.isAway = true;
    await Promise.all([scene.purses.rest(), scene.pass(2_000)]);
    scene.isAway = false;
    const next = fateOf(permits.enter(null, new Attempt(60)));
    await scene.pass(1_000);
    expect(next.state).toBe("in");
    expect(scene.ledger.view(scene.time.now())).toMatchObject({ spent: { total: { settled: 25 * TOKEN } } });
  });

  it("is let go once too little is left, which is told with what it was spent on", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    const permits = scene.paid();
    const [one, two] = [new Attempt(60), new Attempt(60)];
    await Promise.all([permits.enter(null, one), scene.pass(50)]);
    const waits = fateOf(permits.enter(null, two));
    await scene.pass(50);
    permits.leave(undefined, one);
    await scene.pass(3_000);
    expect(waits.state).toBe("over_budget");
    expect(scene.told).toEqual([{ budget: "team/a", over: { span: "total", limit: 100 * TOKEN, settled: 0, unseen: { calls: 1, amount: 60 * TOKEN } } }]);
    // Another one may need less.
    const less = fateOf(permits.enter(null, new Attempt(40)));
    await scene.pass(500);
    expect(less.state).toBe("in");
  });

  it("is let go by name where its Budget has refused for half a minute to pay, and waits where that was a moment", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    scene.refusal = "The budget was stored by another version of edgewise (schema 99).";
    const permits = scene.paid();
    const waits = fateOf(permits.enter(null, new Attempt(60)));
    await scene.pass(15_000);
    expect(waits.state).toBe("waits");
    scene.refusal = null;
    await scene.pass(10_000);
    expect(waits.state).toBe("in");
    scene.refusal = "The budget was stored by another version of edgewise (schema 99).";
    const other = fateOf(permits.enter(null, new Attempt(60)));
    await scene.pass(60_000);
    expect(other.state).toBe("budget_refused");
  });

  it("gives its place up with its signal, and what it had with it", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    const permits = scene.paid();
    await Promise.all([permits.enter(null, new Attempt(60)), scene.pass(50)]);
    const off = new AbortController();
    const waits = fateOf(permits.enter(off.signal, new Attempt(60)));
    await scene.pass(500);
    off.abort(new Error("let go"));
    await scene.pass(500);
    expect(waits.state).toBe("Error: let go");
    const next = fateOf(permits.enter(null, new Attempt(40)));
    await scene.pass(500);
    expect(next.state).toBe("in");
  });

  it("waits while the Budget cannot be asked, however long, and the run's log has it", async () => {
    const scene = new Scene({ total: 100 * TOKEN });
    scene.isAway = true;
    const waits = fateOf(scene.paid().enter(null, new Attempt(10)));
    await scene.pass(20 * 60_000);
    expect([waits.state, scene.gate.inFlight]).toEqual(["waits", 0]);
    expect(new Set(scene.warnings)).toEqual(new Set(["budget silent team/a"]));
    scene.isAway = false;
    await scene.pass(3_000);
    expect(waits.state).toBe("in");
  });

  it("is paid by no call of its own: what is spent is said once a second, and nothing while nothing is spent", async () => {
    const scene = new Scene({ total: 1_000_000 * TOKEN });
    const permits = scene.paid();
    await Promise.all([permits.enter(null, new Attempt(100)), scene.pass(50)]);
    const before = scene.sent;
    for (let n = 0; n < 200; n++) {
      const attempt = new Attempt(100);
      await Promise.all([permits.enter(null, attempt), scene.pass(50)]);
      permits.leave(undefined, attempt.billed(1));
    }
    // Ten seconds of 200 requests.
    expect(scene.sent - before).toBeLessThanOrEqual(15);
  });
});
