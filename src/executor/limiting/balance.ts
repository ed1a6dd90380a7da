import type { Share } from "../../../durable-objects/limiter/limiter-control.ts";
import { type Amounts, RATE_KINDS, type RateKind, type RequestCost } from "../../endpoint-limits/limit-kinds.ts";

/** Of one kind. */
interface Flow {
  /** May be used now; below 0 = it owes. */
  balance: number;
  /** What is still to come in, and how much of it each millisecond. */
  coming: number;
  perMs: number;
  /** With what was to come, as the Limiter was told last; null once it has answered. */
  reported: number | null;
  /** What refused requests took, and of that what goes back with the next answer. */
  refused: number;
  returns: number;
  /** As of when. */
  at: number;
}

/** Sums of fractions are not exact: a balance is above 0 when it is above this. */
const DUST = 1e-6;

/** What one request takes of a kind. */
export function amountOf(kind: RateKind, { input_tokens, output_tokens }: RequestCost): number {
  if (kind === "requests") return 1;
  if (kind === "input_tokens") return input_tokens;
  return kind === "output_tokens" ? output_tokens : input_tokens + output_tokens;
}

/** What a holder may use of the rates of its endpoint, by its shares. Times are milliseconds of one clock, handed in. */
export class Balance {
  readonly #flows = new Map<RateKind, Flow>();

  /** What a share adds; kinds that it does not name are not bounded any more. */
  add({ adds, most }: Pick<Share, "adds" | "most">, overMs: number, now: number): void {
    for (const kind of RATE_KINDS) {
      const added = adds[kind];
      if (added === undefined) {
        this.#flows.delete(kind);
        continue;
      }
      const flow = this.#flows.get(kind) ?? { balance: 0, coming: 0, perMs: 0, reported: null, refused: 0, returns: 0, at: now };
      this.#flows.set(kind, flow);
      settle(flow, now);
      const known = flow.reported ?? flow.balance + flow.coming;
      flow.reported = null;
      // By what the Limiter was told it had: the rest has been given to others. What came back since then has not.
      const over = Math.max(0, known + added - (most[kind] ?? Number.POSITIVE_INFINITY));
      const coming = flow.coming + added;
      flow.coming = Math.max(0, coming - over);
      flow.balance += flow.returns - (over - (coming - flow.coming));
      flow.returns = 0;
      flow.perMs = flow.coming / Math.max(1, overMs);
    }
  }

  /** Nothing is bounded. */
  clear(): void {
    this.#flows.clear();
  }

  /** When a request may begin: `now` or earlier = now, null = not by what is known to come. */
  readyAt(now: number): number | null {
    let ready = now;
    for (const flow of this.#flows.values()) {
      settle(flow, now);
      if (flow.balance > DUST) continue;
      if (flow.balance + flow.coming <= DUST) return null;
      ready = Math.max(ready, now + (2 * DUST - flow.balance) / flow.perMs);
    }
    return ready;
  }

  take(cost: RequestCost): void {
    for (const [kind, flow] of this.#flows) flow.balance -= amountOf(kind, cost);
  }

  /** What was taken for a request and not used comes back; what it used beyond is owed. `used` null: nothing was sent at all. */
  correct(cost: RequestCost, used: RequestCost | null): void {
    for (const [kind, flow] of this.#flows) {
      if (used === null) flow.balance += amountOf(kind, cost);
      else if (kind !== "requests") flow.balance += amountOf(kind, cost) - amountOf(kind, used);
    }
  }

  /**
   * A request was refused: what it took beyond itself comes back with the answer to the next report, since the Limiter knows of the refusal then. At once, it
   * would pay for the next one of the line, and a whole line would be sent into the refusals before anybody could say that it is to wait.
   */
  refused(cost: RequestCost): void {
    for (const [kind, flow] of this.#flows) if (kind !== "requests") flow.refused += amountOf(kind, cost);
  }

  /** With what is still to come. */
  report(now: number): Amounts<RateKind> {
    return Object.fromEntries(
      [...this.#flows].map(([kind, flow]) => {
        settle(flow, now);
        flow.reported = flow.balance + flow.coming;
        flow.returns += flow.refused;
        flow.refused = 0;
        return [kind, flow.reported];
      }),
    );
  }
}

function settle(flow: Flow, now: number): void {
  const came = Math.min(flow.coming, flow.perMs * Math.max(0, now - flow.at));
  flow.at = now;
  flow.coming -= came;
  flow.balance += came;
}
