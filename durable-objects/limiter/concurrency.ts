import type { Bound } from "../../src/endpoint-limits/bound.ts";
import { wholeParts } from "./allocation.ts";
import { type Constraint, isUnder } from "./constraint.ts";
import { type Holder, heldBy, type Party, sumOf, wantOf } from "./party.ts";

/** Of what nobody wants now, how much is handed out as room to grow: whoever comes next finds the rest at once. */
const SPARE_SHARE = 0.5;
/** One in so many permits is kept for a party that has none: it need not wait for others to give some back. */
const KEPT_OF = 32;
/** Nobody is owed, or owes, more unit seconds: a party that could not use its part does not get all of them later. */
const MOST_OWED_S = 60;

/** Who may have how many requests in flight. Pure: it works on what it is handed. */
export class Concurrency {
  #constraints: readonly Constraint[] = [];
  /** What bounds each party. */
  readonly #bounds = new Map<Party, Bound>();

  /** Parts anew. `seconds`: since the last time. `weights`: of each party. */
  divide(constraints: readonly Constraint[], weights: ReadonlyMap<Party, number>, seconds: number): void {
    this.#constraints = constraints.filter(({ kind }) => kind === "concurrent");
    this.#bounds.clear();
    const bounded: Party[] = [];
    for (const party of weights.keys()) {
      if (this.#constraints.some((constraint) => isUnder(constraint, party))) bounded.push(party);
      else this.#free(party);
    }
    if (bounded.length === 0) return;
    const limits = this.#constraints.map(({ limit }) => Math.max(1, limit - keptOf(limit)));
    const uses = bounded.map((party) => this.#constraints.map((constraint) => (isUnder(constraint, party) ? 1 : 0)));
    const claims = bounded.map((party, at) => ({
      weight: weights.get(party) ?? 1,
      most: sumOf(party.holders, wantOf),
      uses: uses[at] ?? [],
      owed: party.owed,
      had: Math.min(
        party.target ?? 0,
        sumOf(party.holders, ({ report }) => report.in_flight),
      ),
    }));
    const { amounts, filled } = wholeParts(claims, limits);
    const spare = limits.map(
      (limit, bound) => SPARE_SHARE * (Math.floor(limit) - amounts.reduce((sum, amount, at) => sum + amount * (uses[at]?.[bound] ?? 0), 0)),
    );
    const more = wholeParts(
      bounded.map((party, at) => ({
        ...{ weight: weights.get(party) ?? 1, uses: uses[at] ?? [], owed: 0, had: 0 },
        most: Math.max(0, sumOf(party.holders, ({ report }) => report.most) - (claims[at]?.most ?? 0)),
      })),
      spare,
    ).amounts;
    for (const [at, party] of bounded.entries()) {
      const by = filled.by[at];
      if (by !== null && by !== undefined) this.#bounds.set(party, (this.#constraints[by] as Constraint).bound);
      const inFlight = sumOf(party.holders, ({ report }) => report.in_flight);
      party.owed = kept(party.owed + ((filled.amounts[at] ?? 0) - inFlight) * seconds);
      party.target = (amounts[at] ?? 0) + (more[at] ?? 0);
      spread(party, party.target, seconds);
    }
  }

  boundOf(party: Party): Bound | null {
    return this.#bounds.get(party) ?? null;
  }

  /**
   * Requests that a holder may have in flight by its next answer. All that others may have is counted, so that together they never
   * have more than any limit. `wanted`: what it is to have.
   */
  shareOf(holder: Holder, wanted: number, parties: Iterable<Party>): number {
    const own = this.#constraints.filter((constraint) => isUnder(constraint, holder.party));
    const isFirst = sumOf(holder.party.holders, heldBy) === 0;
    const free = own.map((constraint) => {
      let held = 0;
      for (const party of parties) if (isUnder(constraint, party)) held += sumOf(party.holders, (other) => (other === holder ? 0 : heldBy(other)));
      return Math.max(1, Math.floor(constraint.limit - (isFirst ? 0 : keptOf(constraint.limit)))) - held;
    });
    return Math.max(0, Math.min(wanted, ...free));
  }

  #free(party: Party): void {
    party.target = null;
    party.owed = 0;
    for (const holder of party.holders) {
      holder.target = null;
      holder.owed = 0;
    }
  }
}

const keptOf = (limit: number): number => Math.floor(limit / KEPT_OF);

const kept = (owed: number): number => Math.max(-MOST_OWED_S, Math.min(MOST_OWED_S, owed));

/** What a party is to have, among its holders. */
function spread({ holders }: Party, target: number, seconds: number): void {
  const all = [...holders];
  const claims = all.map((holder) => ({
    ...{ weight: 1, uses: [1], owed: holder.owed, most: wantOf(holder) },
    had: Math.min(holder.target ?? 0, holder.report.in_flight),
  }));
  const { amounts, filled } = wholeParts(claims, [target]);
  const rest = target - amounts.reduce((sum, amount) => sum + amount, 0);
  const more = wholeParts(
    all.map(({ report }, at) => ({ weight: 1, uses: [1], owed: 0, had: 0, most: Math.max(0, report.most - (claims[at]?.most ?? 0)) })),
    [rest],
  ).amounts;
  for (const [at, holder] of all.entries()) {
    holder.owed = kept(holder.owed + ((filled.amounts[at] ?? 0) - holder.report.in_flight) * seconds);
    holder.target = (amounts[at] ?? 0) + (more[at] ?? 0);
  }
}
