import type { Bound } from "../../src/endpoint-limits/bound.ts";
import { RATE_KINDS, type RateKind, type RequestCost } from "../../src/endpoint-limits/limit-kinds.ts";
import { fill } from "./allocation.ts";
import { Bucket, MOST_OWED_MINUTES } from "./bucket.ts";
import { type Constraint, isHard, isUnder } from "./constraint.ts";
import type { Share } from "./limiter-control.ts";
import { type Holder, isWaiting, type Party, sumOf } from "./party.ts";

/** A request until the first has ended; nothing is known of it but that it uses something. */
const UNKNOWN_COST: RequestCost = { input_tokens: 500, output_tokens: 500 };
/** What was left over is handed out within this time. */
const SPREAD_S = 1;
/** What a party sends now it may send a little more of, without an exchange for each. */
const GROWTH = 1.25;

export type Added = Pick<Share, "adds" | "most">;

interface Division {
  readonly seconds: number;
  readonly exchangeMs: number;
  readonly begin: number;
  readonly isStill: boolean;
  readonly now: number;
}

const isRate = (constraint: Constraint): constraint is Constraint & { readonly kind: RateKind } => constraint.kind !== "concurrent";
const idOf = ({ cap, kind }: Constraint): string => `${kind} ${cap}`;

/** Who may begin how many requests, where requests or tokens of a minute are bounded. Pure: it works on what it is handed; times are of one clock. */
export class Rates {
  readonly #buckets = new Map<string, Bucket>();
  /** What bounds each party. */
  readonly #bounds = new Map<Party, Bound>();
  /** Of requests of all parties, most recent ones first in weight. */
  #mean: RequestCost | null = null;
  #isStill = false;

  /** What requests used, as their answers tell. */
  used({ accepted, used }: { readonly accepted: number; readonly used: RequestCost }): void {
    if (accepted === 0) return;
    const known = this.#mean ?? { input_tokens: used.input_tokens / accepted, output_tokens: used.output_tokens / accepted };
    const part = accepted / (accepted + MEAN_OVER);
    this.#mean = {
      input_tokens: known.input_tokens + part * (used.input_tokens / accepted - known.input_tokens),
      output_tokens: known.output_tokens + part * (used.output_tokens / accepted - known.output_tokens),
    };
  }

  /**
   * Divides what comes in anew, by the weights of the parties. `begin`: what the level of a bucket is that was not there before, as a part of what it may save
   * up. `seconds`: since the last time. `isStill`: the endpoint is left alone, and what comes in meanwhile is not saved up.
   */
  divide(constraints: readonly Constraint[], weights: ReadonlyMap<Party, number>, { seconds, exchangeMs, begin, isStill, now }: Division): void {
    const parties = [...weights.keys()];
    this.#isStill = isStill;
    this.#keep(constraints.filter(isRate), parties, { exchangeMs, begin, now });
    for (const party of parties) party.credit = Math.min(mostCredit(party, exchangeMs), leastCredit(party) + party.pace * seconds);
    this.#bounds.clear();
    const buckets = [...this.#buckets.values()];
    const uses = parties.map((party) =>
      buckets.map((bucket) => (isUnder(bucket.constraint, party) ? Math.max(LEAST_USE, this.#unit(party, bucket.constraint.kind)) : 0)),
    );
    const comes = buckets.map((bucket, at) => {
      const owed = parties.reduce((sum, party, index) => sum + Math.max(0, party.credit) * (uses[index]?.[at] ?? 0), 0);
      return bucket.perSecond + Math.max(0, bucket.level - owed) / SPREAD_S;
    });
    const { amounts, by } = fill(
      parties.map((party, index) => ({
        weight: (weights.get(party) ?? 1) * scaleOf(uses[index] ?? [], comes, buckets),
        most: wishOf(party),
        uses: uses[index] ?? [],
      })),
      comes,
    );
    for (const [index, party] of parties.entries()) {
      party.pace = (uses[index] ?? []).some((use) => use > 0) ? (amounts[index] ?? 0) : 0;
      const bound = by[index];
      if (bound !== null && bound !== undefined) this.#bounds.set(party, (buckets[bound] as Bucket).constraint.bound);
    }
  }

  boundOf(party: Party): Bound | null {
    return this.#bounds.get(party) ?? null;
  }

  /**
   * What a holder gets now, of each rate that bounds it. `slots`: requests that it may begin at once by what bounds them in flight; null = it is to begin
   * none, and only what it owes is settled.
   */
  grant(holder: Holder, slots: number | null, parties: Iterable<Party>, exchangeMs: number): Added {
    const { party, report } = holder;
    const own = [...this.#buckets.values()].filter(({ constraint }) => isUnder(constraint, party));
    const kinds = RATE_KINDS.filter((kind) => own.some(({ constraint }) => constraint.kind === kind));
    if (kinds.length === 0) {
      holder.balance = {};
      return { adds: {}, most: {} };
    }
    const unit = (kind: RateKind): number => Math.max(LEAST_USE, this.#unit(party, kind));
    const balance = (kind: RateKind): number => report.balance[kind] ?? 0;
    const adds = new Map<RateKind, number>(kinds.map((kind) => [kind, 0]));
    const pay = (amountOf: (kind: RateKind) => number): void => {
      for (const kind of kinds) adds.set(kind, (adds.get(kind) ?? 0) + amountOf(kind));
      for (const bucket of own) bucket.level -= amountOf(bucket.constraint.kind);
      party.credit -= Math.max(...kinds.map((kind) => amountOf(kind) / unit(kind)));
    };
    pay((kind) => Math.max(0, -balance(kind)));
    const need = slots === null ? 0 : needOf(holder, slots, exchangeMs);
    const has = (kind: RateKind): number => Math.max(0, balance(kind));
    const stock = Math.min(...kinds.map((kind) => has(kind) / unit(kind)));
    // Where one request at a time looks, it is its turn whatever it had before.
    const credit = this.#isStill || isFirst(party, parties) ? Math.max(1, party.credit) : party.credit;
    const requests = this.#requests(need, own, { stock, has, unit, credit, isServed: party.isServed });
    party.isServed ||= requests > 0;
    pay((kind) => Math.max(0, requests * unit(kind) - has(kind)));
    const most: { [K in RateKind]?: number } = {};
    // What it has no use for is taken back: others have. One that may begin a request at once keeps what that takes; one that may not would lend it to nobody.
    const keeps = slots !== null && slots > 0 ? Math.max(need, 1) : need;
    for (const kind of kinds) most[kind] = Math.max(Math.min(has(kind), keeps * unit(kind)), requests * unit(kind));
    // Of a limit that a person gave nothing comes back: the answer that takes it may be lost, and it be used after all.
    const over = (kind: RateKind): number => Math.max(0, has(kind) - (most[kind] ?? 0));
    if (holder.isNews) {
      for (const bucket of own) if (!isHard(bucket.constraint)) bucket.level += over(bucket.constraint.kind);
      if (!own.some(({ constraint }) => isHard(constraint))) party.credit += Math.max(...kinds.map((kind) => over(kind) / unit(kind)));
    }
    holder.isNews = false;
    holder.balance = most;
    return { adds: Object.fromEntries(adds), most };
  }

  /** Whole requests that its balance is to be good for. */
  #requests(
    need: number,
    own: readonly Bucket[],
    party: { stock: number; has: (kind: RateKind) => number; unit: (kind: RateKind) => number; credit: number; isServed: boolean },
  ): number {
    const { stock, has, unit, credit, isServed } = party;
    const bought = Math.min(need, Math.floor(Math.max(0, credit) + stock + 1e-9));
    const there = own.map(({ level, most, constraint: { kind } }) => {
      // One is kept for a party that comes new: it need not wait until the others have been back.
      const kept = isServed ? Math.max(0, Math.min(unit(kind), most - unit(kind))) : 0;
      return Math.floor((Math.max(0, level - kept) + has(kind)) / unit(kind) + 1e-9);
    });
    const requests = Math.min(bought, ...there);
    if (requests > 0 || bought < 1) return Math.max(0, requests);
    // One that uses more than can be saved up goes once all is there that can.
    return own.every(({ level, most, constraint: { kind } }) => level + has(kind) >= Math.min(unit(kind), most) - 1e-9) ? 1 : 0;
  }

  #keep(
    constraints: readonly (Constraint & { readonly kind: RateKind })[],
    parties: readonly Party[],
    { exchangeMs, begin, now }: { readonly exchangeMs: number; readonly begin: number; readonly now: number },
  ): void {
    const ids = new Set(constraints.map(idOf));
    for (const id of this.#buckets.keys()) if (!ids.has(id)) this.#buckets.delete(id);
    for (const constraint of constraints) {
      const { kind } = constraint;
      const under = parties.filter((party) => isUnder(constraint, party));
      const unit = kind === "requests" ? 1 : Math.max(LEAST_USE, ...under.map((party) => this.#unit(party, kind)));
      const known = this.#buckets.get(idOf(constraint));
      const bucket = known ?? new Bucket(constraint, now);
      bucket.constraint = constraint;
      bucket.fillUp({
        unit,
        exchangeMs,
        now,
        isStill: this.#isStill,
        out: under.reduce((sum, { holders }) => sum + sumOf(holders, ({ balance }) => Math.max(0, balance[kind] ?? 0)), 0),
      });
      if (known === undefined) bucket.level = begin * bucket.most;
      this.#buckets.set(idOf(constraint), bucket);
    }
  }

  /** What one of its requests uses of a kind. */
  #unit({ holders }: Party, kind: RateKind): number {
    if (kind === "requests") return 1;
    const [known] = [...holders].flatMap(({ report }) => report.mean_cost ?? []);
    const { input_tokens, output_tokens } = known ?? this.#mean ?? UNKNOWN_COST;
    return kind === "input_tokens" ? input_tokens : kind === "output_tokens" ? output_tokens : input_tokens + output_tokens;
  }
}

/** Answers after which their mean has half forgotten what was before. */
const MEAN_OVER = 200;
/** So that what uses nothing of a kind is not taken for unbounded by it. */
const LEAST_USE = 0.01;

/** Requests per second that it has a use for. */
const wishOf = ({ holders }: Party): number => sumOf(holders, ({ report, sends }) => report.waiting + sends * GROWTH);

/** Requests in the next while that it can begin. */
function needOf({ report, sends }: Holder, slots: number, exchangeMs: number): number {
  // None begins, and none that ends makes room.
  if (slots + report.in_flight <= 0) return 0;
  const coming = Math.ceil((sends * GROWTH * exchangeMs) / 1_000);
  return Math.min(report.waiting + coming, Math.max(0, slots) + coming);
}

const mostCredit = ({ pace }: Party, exchangeMs: number): number => Math.max(1, pace * (1 + (2 * exchangeMs) / 1_000));

/** What it has, or owes of some minutes at its pace. */
const leastCredit = ({ pace, credit }: Party): number => (pace > 0 ? Math.max(credit, -60 * MOST_OWED_MINUTES * pace) : credit);

/** Nobody who waits under the same limits has waited longer for the next whole request. */
function isFirst(party: Party, parties: Iterable<Party>): boolean {
  for (const other of parties) if (other !== party && other.credit > party.credit && isWaiting(other)) return false;
  return true;
}

/** What one share of all is to a party, in requests: the same part of what it uses most of is as fair as it gets between small and large requests. */
function scaleOf(uses: readonly number[], comes: readonly number[], buckets: readonly Bucket[]): number {
  const part = (at: number): number => ((uses[at] ?? 0) === 0 ? 0 : (uses[at] ?? 0) / Math.max(1e-9, comes[at] ?? 0));
  const shared = uses.map((_, at) => (buckets[at]?.constraint.cap === "" ? part(at) : 0));
  const largest = Math.max(0, ...shared) || Math.max(0, ...uses.map((_, at) => part(at)));
  return largest === 0 ? 1 : 1 / largest;
}
