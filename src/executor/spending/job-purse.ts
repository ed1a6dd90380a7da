import { BUDGET_PROTOCOL, type JobAnswer, type JobWord, type Overspent } from "../../../durable-objects/budget/budget-control.ts";
import { budgetsFor } from "../../budgets/budget-name.ts";
import { requestBound } from "../../clients/limits/request-bound.ts";
import type { JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { Price } from "../../prices/price.ts";
import { priceOfRun } from "../../prices/price-of.ts";
import { boundNano } from "../../prices/request-bound.ts";
import { runName } from "../../teams/team-name.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { RetryWaits } from "../units/retry-waits.ts";
import { payable } from "./payable.ts";

/** Attempts at a Budget that does not answer, before the step of the job is left to be tried again. */
const MOST_ATTEMPTS = 5;

/** What became of money that was asked for. `short`: so much could be held, and more when something else has come back. `over`: whatever comes back, it is too little. */
export type Held =
  | { readonly kind: "held" }
  | { readonly kind: "short"; readonly room: number }
  | { readonly kind: "over"; readonly budget: string; readonly over: Overspent };

export interface JobPurseHost {
  readonly ports: Pick<ExecutorPorts, "budget" | "sleep" | "random">;
  readonly slice: Pick<Slice, "spend">;
  readonly config: RunConfig;
  /** Of the grant. */
  readonly epoch: number;
  /** Where the job's requests go. */
  readonly place: { readonly base_url: string; readonly api_key_var: string };
}

/** What a job holds of its Budgets. Nano-dollars. */
export interface JobMoney {
  readonly amount: number;
  readonly requests: number;
  /** Of its requests, the one that can cost least. */
  readonly least: number;
}

/**
 * Pays for jobs from all Budgets that hold for them, of which there may be none: the most that a job can cost is held from when it is written until its answers are counted. Each word may be
 * said again, and is by whoever goes on after a kill. Every method throws, passing, where a Budget does not answer, and with `invalid_request` where one refuses to.
 */
export class JobPurse {
  /** Of all of this isolate, since several may speak for one grant. */
  static #seq = 0;
  /** Of the model, in a batch; null = nobody knows it. */
  readonly price: Price | null;
  readonly #host: JobPurseHost;
  /** In the order of their names, as all that reserve do. */
  readonly #budgets: readonly string[];

  constructor(host: JobPurseHost) {
    const { config, place } = host;
    this.#host = host;
    this.#budgets = [...budgetsFor(config, place.api_key_var)].sort();
    this.price = priceOfRun({ ...config, replicas: [], base_url: place.base_url });
  }

  /** Whether any Budget holds for its jobs. */
  get isHeld(): boolean {
    return this.#budgets.length > 0;
  }

  /** The most that a request can cost; null where nobody knows and no Budget holds. Else throws `unknown_price` and `unbounded_cost`. */
  boundOf({ model, body }: { readonly model: string; readonly body: JsonObject }): number | null {
    const bound = requestBound(model, JSON.stringify(body), body, this.#host.config.api_client_type === "anthropic_messages");
    if (this.isHeld) return payable(bound, this.price).amount;
    return this.price === null ? null : boundNano(bound, this.price);
  }

  /** The most that may be held for a job that is about to be written; what was held for others of the run that were written is free: there are none any more. */
  async room(job: number): Promise<number> {
    let room = Number.MAX_SAFE_INTEGER;
    for (const budget of this.#budgets) room = Math.min(room, (await this.#say(budget, job, { kind: "ask", least: 0 })).room);
    return room;
  }

  /** It is written, and nothing of it is at its provider, or nothing is any more. */
  reserve(job: number, money: JobMoney): Promise<Held> {
    return this.#hold(job, { kind: "reserve", ...money });
  }

  /** It is about to be created at its provider: said before, and held from then on until it is settled. Only where it is `held` may it be created. */
  send(job: number, money: Pick<JobMoney, "amount" | "requests">): Promise<Held> {
    return this.#hold(job, { kind: "send", ...money, least: money.amount });
  }

  /** It is over: said before the Run is told. */
  settle(job: number, spent: { readonly settled: number; readonly unseen: { readonly calls: number; readonly amount: number } }): Promise<void> {
    return this.#tell(job, { kind: "settle", ...spent });
  }

  /** Nothing of it is at its provider, nor will be, or not before it is sent again. */
  release(job: number): Promise<void> {
    return this.#tell(job, { kind: "release" });
  }

  /** Its provider does not know it any more, and may be paid for it: all that is held counts as unseen. */
  lose(job: number): Promise<void> {
    return this.#tell(job, { kind: "lose" });
  }

  async #tell(job: number, word: JobWord): Promise<void> {
    for (const budget of this.#budgets) await this.#say(budget, job, word);
  }

  /** All of them or none: what those before hold that cannot be held in the next is given back. */
  async #hold(job: number, word: Extract<JobWord, { readonly kind: "reserve" | "send" }>): Promise<Held> {
    const had: string[] = [];
    for (const budget of this.#budgets) {
      const { held, room, over } = await this.#say(budget, job, word);
      if (held) {
        had.push(budget);
        continue;
      }
      for (const before of had) await this.#say(before, job, { kind: "release" });
      return over === null ? { kind: "short", room } : { kind: "over", budget, over };
    }
    return { kind: "held" };
  }

  async #say(budget: string, job: number, word: JobWord): Promise<Extract<JobAnswer, { readonly kind: "ok" }>> {
    const { ports, slice, config, epoch } = this.#host;
    const request = { protocol: BUDGET_PROTOCOL, job: `${runName(config)}/${config.created_at}/${job}`, epoch, seq: ++JobPurse.#seq, word } as const;
    const waits = new RetryWaits(ports.random);
    for (let attempt = 1; ; attempt++) {
      slice.spend();
      try {
        const answer = await stubOf(ports, budget).job(request);
        if (answer.kind === "ok") return answer;
        throw new EdgewiseError("invalid_request", `nothing is paid from the budget ${budget}: ${answer.message}`);
      } catch (thrown) {
        if (thrown instanceof EdgewiseError) throw thrown;
        if (attempt === MOST_ATTEMPTS)
          throw new EdgewiseError("internal", `the budget ${budget} does not answer, and nothing is sent that it has to pay for`, {
            cause: thrown,
            passing: true,
          });
        await ports.sleep(waits.after("budget", thrown));
      }
    }
  }
}

function stubOf(ports: Pick<ExecutorPorts, "budget">, name: string) {
  const stub = ports.budget(name);
  if (stub !== null) return stub;
  throw new EdgewiseError("invalid_request", `the budget ${name} holds for this run, and this service has no Budgets`, {
    hint: "deploy it with the binding BUDGET in its wrangler.toml (docs/own-environments.md)",
  });
}
