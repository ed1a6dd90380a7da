import type { Bound } from "../../endpoint-limits/bound.ts";
import type { Overspent } from "../../../durable-objects/budget/budget-control.ts";
import { budgetsFor } from "../../budgets/budget-name.ts";
import type { Gate } from "../../clients/gate.ts";
import { timerOf } from "../../clients/transport/timer.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import { priceOf } from "../../prices/price-of.ts";
import type { HeldBy, HeldPermits } from "../limiting/limiter-links.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import { BudgetedPermits } from "./budgeted-permits.ts";
import { Purse } from "./purse.ts";
import { PurseLink } from "./purse-link.ts";
import { UntilEnded } from "./until-ended.ts";

/** An executor that gives back what it has waits no longer for its Budgets to know it. Milliseconds. */
const LEAVE_MS = 1_000;

/** Who pays, and for what. */
export interface PaidBy {
  readonly config: RunConfig;
  readonly base_url: string;
  readonly api_key_var: string;
  /** Of the grant. */
  readonly gate: Gate;
  readonly warning: HeldBy["warning"];
  readonly onOver: (budget: string, over: Overspent) => void;
}

/** What requests wait for that no limit of their endpoint keeps waiting. */
const OF_MONEY: Bound = { kind: "budget", limit: null, source: null };

interface Linked {
  readonly purse: Purse;
  readonly link: PurseLink;
  /** Those that are told when its Budget cannot be asked. */
  readonly warned: Set<HeldBy["warning"]>;
}

/** The purses of one executor, one for each Budget that its runs spend from. */
export class Purses {
  readonly #ports: ExecutorPorts;
  readonly #slice: Pick<Slice, "spend">;
  readonly #purses = new Map<string, Linked>();

  constructor(ports: ExecutorPorts, slice: Pick<Slice, "spend">) {
    this.#ports = ports;
    this.#slice = slice;
  }

  /** `held`, paid for: as it is where no budget holds. Throws where there are budgets and no Budgets. */
  pay(held: HeldPermits, { config, base_url, api_key_var, gate, warning, onOver }: PaidBy): HeldPermits {
    const names = [...budgetsFor(config, api_key_var)].sort();
    if (names.length === 0) return held;
    const { prices } = config;
    const linked = names.map((name) => this.#linked(name));
    for (const { warned } of linked) warned.add(warning);
    const permits = new BudgetedPermits({
      permits: held.permits,
      gate,
      purses: linked.map(({ purse }) => purse),
      priceOf: (model) => (prices === undefined ? null : priceOf(prices, { base_url, model })),
      onOver,
    });
    const ended = new UntilEnded(permits);
    return {
      permits: ended,
      base_url: held.base_url,
      get waiting() {
        return held.waiting + permits.waiting;
      },
      get unpaid() {
        return ended.unpaid;
      },
      get pausedUntil() {
        return held.pausedUntil;
      },
      get bound() {
        return held.bound ?? (permits.waiting > 0 ? OF_MONEY : null);
      },
      weigh: (priority) => held.weigh(priority),
      close: () => {
        for (const { warned } of linked) warned.delete(warning);
        held.close();
      },
    };
  }

  /** Gives back what this executor has; waits a moment at most. */
  leave(): Promise<void> {
    return this.#giveBack([...this.#purses.values()]);
  }

  /**
   * Gives back what no call of this executor is under way with; waits a moment at most. At the end of each grant, so that a run that has ended has its money counted:
   * the process of a command ends with it, and what an executor still had would count as spent by calls whose end nobody saw.
   */
  rest(): Promise<void> {
    return this.#giveBack([...this.#purses.values()].filter(({ purse }) => !purse.isInUse && !purse.isEmpty));
  }

  async #giveBack(purses: readonly Linked[]): Promise<void> {
    if (purses.length === 0) return;
    const off = new AbortController();
    const all = Promise.all(purses.map(({ link }) => new Promise<void>((left) => link.leave(left))));
    const late = this.#ports.sleep(LEAVE_MS, off.signal).catch(() => undefined);
    await Promise.race([all, late]);
    off.abort();
  }

  #linked(name: string): Linked {
    const known = this.#purses.get(name);
    if (known !== undefined) return known;
    if (this.#ports.budget(name) === null) {
      throw new EdgewiseError("invalid_request", `the budget ${name} holds for this run, and this service has no Budgets`, {
        hint: "deploy it with the binding BUDGET in its wrangler.toml (docs/own-environments.md)",
      });
    }
    const { id, boot, runtime, now, sleep, random } = this.#ports;
    const warned = new Set<HeldBy["warning"]>();
    const tell = (kind: string, message: string): void => {
      for (const warning of warned) warning(`${kind} ${name}`, message);
    };
    const purse = new Purse(name, now);
    const link = new PurseLink({ executor: id, boot, runtime }, purse, {
      now,
      timer: timerOf(sleep),
      random,
      send: (request, answered, failed) => {
        this.#slice.spend();
        const budget = this.#ports.budget(name);
        if (budget === null) return failed("there is none any more");
        budget
          .exchange(request)
          .then(answered, (thrown: unknown) => failed(failureOf(thrown).message))
          .catch((thrown: unknown) => this.#ports.log(`budget ${name}: ${failureOf(thrown).message}`));
      },
      onTrouble: (kind, message) => {
        if (kind === "silent")
          tell("budget silent", `the budget ${name} does not answer (${message}); it is asked again, and nothing is sent that it has to pay for`);
        if (kind === "refused") tell("budget refused", `nothing is paid from the budget ${name}: ${message}`);
      },
    });
    const made = { purse, link, warned };
    this.#purses.set(name, made);
    return made;
  }
}
