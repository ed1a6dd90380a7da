import { DurableObject } from "cloudflare:workers";
import { bootOf, type Env, runtimeOf } from "../../src/env.ts";
import { EdgewiseError, type Result } from "../../src/errors/result.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import {
  BUDGET_PROTOCOL,
  type BudgetAnswer,
  type BudgetControl,
  type BudgetLimits,
  type BudgetRequest,
  type BudgetView,
  type JobAnswer,
  type JobRequest,
} from "./budget-control.ts";
import { BudgetStore } from "./budget-store.ts";
import { Ledger } from "./ledger.ts";

/** Money that may be spent by one run, by one team, or with one key. It decides in memory (ledger.ts), and has written down what it decided before it tells anybody. */
export class Budget extends DurableObject<Env> implements BudgetControl {
  readonly #store: BudgetStore;
  /** Fails where another version has stored something. */
  #ledger: Result<Ledger>;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new BudgetStore(ctx.storage);
    this.#ledger = this.#stored();
  }

  async exchange(request: BudgetRequest): Promise<BudgetAnswer> {
    if (!this.#ledger.ok) return { kind: "refused", message: this.#ledger.error.message };
    if (request.protocol !== BUDGET_PROTOCOL) return otherProtocol(request);
    return this.#decide((ledger) => ledger.exchange(request, steadyNow()));
  }

  async job(request: JobRequest): Promise<JobAnswer> {
    if (!this.#ledger.ok) return { kind: "refused", message: this.#ledger.error.message };
    if (request.protocol !== BUDGET_PROTOCOL) return otherProtocol(request);
    return this.#decide((ledger) => ledger.job(request, steadyNow()));
  }

  async set(limits: BudgetLimits | null, spent = 0): Promise<void> {
    this.#decide((ledger) => ledger.set(limits, spent, steadyNow()));
  }

  async view(): Promise<BudgetView | null> {
    return this.#decide((ledger) => ledger.view(steadyNow()));
  }

  async remove(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#ledger = this.#stored();
  }

  #stored(): Result<Ledger> {
    const stored = this.#store.ledger();
    return stored.ok ? { ok: true, value: new Ledger(stored.value, steadyNow(), { boot: bootOf(this.env), runtime: runtimeOf(this.env) }) } : stored;
  }

  /** Written before it is told: the answer leaves once that is durable. What could not be written was not decided. */
  #decide<T>(decide: (ledger: Ledger) => T): T {
    const ledger = this.#known();
    try {
      const decided = decide(ledger);
      const changes = ledger.takeChanges();
      if (changes !== null) this.ctx.storage.transactionSync(() => this.#store.put(changes));
      return decided;
    } catch (thrown) {
      this.#ledger = this.#stored();
      throw thrown;
    }
  }

  /** Throws for what another version has stored. */
  #known(): Ledger {
    if (this.#ledger.ok) return this.#ledger.value;
    const { code, message, hint } = this.#ledger.error;
    throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
  }
}

const otherProtocol = ({ protocol }: { readonly protocol: unknown }) => ({
  kind: "refused" as const,
  message: `the Budget speaks version ${BUDGET_PROTOCOL} of its protocol, and the executor ${String(protocol)}`,
});
