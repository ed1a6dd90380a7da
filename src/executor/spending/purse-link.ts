import { BUDGET_PROTOCOL, type BudgetAnswer, type BudgetRequest } from "../../../durable-objects/budget/budget-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { ANSWER_MS, type ExchangePorts, LEAVE_TRIES, NextExchange, repeatMs, SOON_MS } from "../exchange-pacing.ts";
import type { Purse } from "./purse.ts";

/** Calls that go on, and nothing else, are told of so often: three times in a lease. Milliseconds. */
const QUIET_MS = 3_000;
/** After a Budget has refused to say anything it is asked again so much later. Milliseconds. */
const REFUSED_MS = 10_000;
/** For so long: a deployment in which objects and executors are of two versions is over sooner. Then calls do not wait any more. */
const REFUSED_END_MS = 30_000;
export type PurseLinkPorts = ExchangePorts<BudgetRequest, BudgetAnswer, "silent" | "refused">;

/** What keeps one purse and its Budget in touch. Nothing is sent for a single call; while a purse is empty nothing is sent at all. */
export class PurseLink {
  readonly #name: Pick<BudgetRequest, "executor" | "boot" | "runtime">;
  readonly #purse: Purse;
  readonly #ports: PurseLinkPorts;
  #seq = 0;
  /** An exchange that was not answered is repeated as it was: the Budget may have counted it. */
  #unanswered: BudgetRequest | null = null;
  #sending: object | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #againMs = 0;
  #failures = 0;
  #failingSince: number | null = null;
  #refusedSince: number | null = null;
  readonly #next: NextExchange;
  /** The next exchange is not to wait its usual time. */
  #isHurried = false;
  #left: (() => void)[] = [];

  constructor(name: Pick<BudgetRequest, "executor" | "boot" | "runtime">, purse: Purse, ports: PurseLinkPorts) {
    this.#name = name;
    this.#purse = purse;
    this.#ports = ports;
    this.#next = new NextExchange(ports, () => this.#exchange());
    purse.onShort = () => this.#soon();
    purse.onChange = () => {
      if (this.#sending === null && this.#failures === 0) this.#schedule(Math.max(0, this.#sentAt + this.#againMs - this.#ports.now()));
    };
  }

  /** Gives back all that is free; `left` is called when the Budget knows it or cannot be told. Calls that come later are paid for as those before. */
  leave(left: () => void): void {
    if (this.#purse.isEmpty && this.#sending === null && this.#unanswered === null) return left();
    this.#left.push(left);
    if (this.#sending === null) this.#exchange();
  }

  get #leaves(): boolean {
    return this.#left.length > 0;
  }

  #soon(): void {
    if (this.#sending !== null) this.#isHurried = true;
    // Where the last one failed it is repeated in its time; but for one that was given up with whoever left.
    else if (this.#failures === 0 || !this.#next.isPlanned) this.#schedule(Math.max(0, this.#sentAt + SOON_MS - this.#ports.now()));
  }

  #schedule(ms: number): void {
    if (this.#sending === null) this.#next.plan(ms);
  }

  #exchange(): void {
    this.#next.drop();
    this.#isHurried = false;
    const sentAt = this.#ports.now();
    this.#sentAt = sentAt;
    if (this.#unanswered === null) {
      this.#seq++;
      const leaves = this.#leaves;
      this.#unanswered = { protocol: BUDGET_PROTOCOL, ...this.#name, seq: this.#seq, ...this.#purse.report(leaves), leaves };
    }
    const request = this.#unanswered;
    const sending = {};
    this.#sending = sending;
    // An answer that was given up is not taken any more: it holds from a time long ago, and its repetition brings the same.
    const isOver = (): boolean => {
      if (this.#sending !== sending) return true;
      late();
      this.#sending = null;
      return false;
    };
    const failed = (message: string): void => {
      if (!isOver()) this.#failed(message);
    };
    const late = this.#ports.timer(ANSWER_MS, () => failed("no answer"));
    this.#ports.send(
      request,
      (answer) => {
        if (!isOver()) this.#answered(answer, request, sentAt);
      },
      failed,
    );
  }

  #failed(message: string): void {
    const now = this.#ports.now();
    this.#failures++;
    this.#failingSince ??= now;
    if (now - this.#failingSince >= ANSWER_MS) this.#ports.onTrouble?.("silent", message);
    if (this.#leaves && this.#failures >= LEAVE_TRIES) return this.#stop();
    this.#schedule(repeatMs(this.#failures, this.#ports.random()));
  }

  #answered(answer: BudgetAnswer, request: BudgetRequest, sentAt: number): void {
    this.#failures = 0;
    if (answer.kind === "refused") {
      this.#ports.onTrouble?.("refused", answer.message);
      this.#refused(answer.message);
      if (this.#leaves) return this.#stop();
      // It was not counted, and is said again.
      return this.#schedule(REFUSED_MS);
    }
    this.#unanswered = null;
    this.#refusedSince = null;
    if (this.#failingSince !== null) {
      this.#failingSince = null;
      this.#ports.onTrouble?.(null, "");
    }
    this.#againMs = answer.again_ms;
    this.#purse.told(answer, sentAt);
    if (request.leaves) return this.#stop();
    if (this.#leaves) return this.#exchange();
    if (this.#purse.isEmpty) return;
    const isQuiet = this.#purse.waiting === 0 && !this.#purse.hasNews && answer.allots >= 0;
    this.#schedule(isQuiet ? Math.max(QUIET_MS, this.#againMs) : this.#againMs * (1 - 0.1 * this.#ports.random()));
    if (this.#isHurried) this.#soon();
  }

  #refused(message: string): void {
    const now = this.#ports.now();
    this.#refusedSince ??= now;
    if (now - this.#refusedSince < REFUSED_END_MS) return;
    this.#purse.giveUp(
      new EdgewiseError("budget_refused", `nothing is paid from the budget ${this.#purse.name}: ${message}`, {
        hint: "`npx edgewise budget` shows what the team and its keys may spend. A budget that another version stored is read by that version, or a newer one.",
      }),
    );
  }

  #stop(): void {
    this.#next.drop();
    const left = this.#left;
    this.#left = [];
    for (const each of left) each();
    // Who came meanwhile waits for what has just been given back.
    if (!this.#purse.isEmpty) this.#soon();
  }
}
