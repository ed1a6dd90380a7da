import { execute } from "../../../counted-sql.ts";
import type { Claim, Ticket } from "../ledger.ts";
import type { ClaimDecision, UnitRange } from "../../protocol.ts";

/** `left`: units of it that are not settled; null until it is asked for. */
interface OpenClaim extends Claim {
  left: number | null;
}

/** How many units of a range are done and not owed. */
export type CountSettled = (range: UnitRange) => number;

/**
 * Live grants, the answers to their last claims, and the claims. They are few, and every transition asks for them several times (250
 * executors have 250 rows), so they are read once, kept in memory and written through. `forget` after a rollback.
 */
export class GrantTables {
  readonly #sql: SqlStorage;
  readonly #countSettled: CountSettled;
  #tickets: Map<number, Ticket> | null = null;
  /** The same by id, until one comes, goes or changes. */
  #sorted: readonly Ticket[] | null = null;
  #claims: Map<number, OpenClaim[]> | null = null;

  constructor(sql: SqlStorage, countSettled: CountSettled) {
    this.#sql = sql;
    this.#countSettled = countSettled;
  }

  forget(): void {
    this.#tickets = null;
    this.#sorted = null;
    this.#claims = null;
  }

  all(): readonly Ticket[] {
    this.#sorted ??= [...this.#read().values()].sort((a, b) => a.id - b.id);
    return this.#sorted;
  }

  get(id: number): Ticket | null {
    return this.#read().get(id) ?? null;
  }

  put(ticket: Ticket): void {
    this.#keep(ticket);
    const value = JSON.stringify(ticket);
    execute(this.#sql, "INSERT INTO ticket (id, value) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET value = excluded.value", ticket.id, value);
  }

  putAnswered(ticket: Ticket, answer: ClaimDecision): void {
    this.#keep(ticket);
    execute(this.#sql, "INSERT OR REPLACE INTO ticket (id, value, answer) VALUES (?, ?, ?)", ticket.id, JSON.stringify(ticket), JSON.stringify(answer));
  }

  lastAnswer(id: number): ClaimDecision | null {
    const text = execute<{ answer: string | null }>(this.#sql, "SELECT answer FROM ticket WHERE id = ?", id)[0]?.answer ?? null;
    return text === null ? null : (JSON.parse(text) as ClaimDecision);
  }

  delete(id: number): void {
    this.#read().delete(id);
    this.#sorted = null;
    execute(this.#sql, "DELETE FROM ticket WHERE id = ?", id);
  }

  claimsOf(ticket: number): readonly Claim[] {
    return this.#claimsOf(ticket).map(({ left: _, ...claim }) => claim);
  }

  /** Of any ticket, those that reach into the range. */
  claimsIn({ lo, hi }: UnitRange): readonly Claim[] {
    const claims = [...this.#readClaims().values()].flat().filter((claim) => claim.lo < hi && claim.hi > lo);
    return claims.map(({ left: _, ...claim }) => claim).sort((a, b) => a.lo - b.lo);
  }

  putClaim({ lo, hi, ticket, epoch }: Claim): void {
    const claims = this.#claimsOf(ticket);
    claims.push({ lo, hi, ticket, epoch, left: null });
    claims.sort((a, b) => a.lo - b.lo);
    execute(this.#sql, "INSERT INTO claim (lo, hi, ticket, epoch) VALUES (?, ?, ?, ?)", lo, hi, ticket, epoch);
  }

  deleteClaimsOf(ticket: number): void {
    const claims = this.#claimsOf(ticket);
    this.#readClaims().delete(ticket);
    for (const { lo } of claims) this.#deleteClaim(lo);
  }

  deleteClaim({ ticket, lo }: Claim): boolean {
    const claims = this.#claimsOf(ticket);
    const left = claims.filter((claim) => claim.lo !== lo);
    if (left.length === claims.length) return false;
    this.#readClaims().set(ticket, left);
    this.#deleteClaim(lo);
    return true;
  }

  /** See `Ledger.trimClaims`. Nothing is read but for a claim of which a unit is settled for the first time in this life of the object. */
  trimClaims(ticket: number, settled: readonly number[]): void {
    const claims = this.#claimsOf(ticket);
    const known = new Set(claims.filter(({ left }) => left !== null));
    for (const unit of settled) {
      const claim = claims.find(({ lo, hi }) => lo <= unit && unit < hi);
      if (claim === undefined) continue;
      if (claim.left === null) claim.left = claim.hi - claim.lo - this.#countSettled(claim);
      else if (known.has(claim)) claim.left--;
    }
    const open = claims.filter(({ left }) => left !== 0);
    if (open.length === claims.length) return;
    this.#readClaims().set(ticket, open);
    for (const { lo, left } of claims) if (left === 0) this.#deleteClaim(lo);
  }

  #deleteClaim(lo: number): void {
    execute(this.#sql, "DELETE FROM claim WHERE lo = ?", lo);
  }

  #keep(ticket: Ticket): void {
    this.#read().set(ticket.id, ticket);
    this.#sorted = null;
  }

  #read(): Map<number, Ticket> {
    this.#tickets ??= new Map(
      execute<{ value: string }>(this.#sql, "SELECT value FROM ticket").map(({ value }) => {
        const ticket = JSON.parse(value) as Ticket;
        return [ticket.id, ticket];
      }),
    );
    return this.#tickets;
  }

  #claimsOf(ticket: number): OpenClaim[] {
    const claims = this.#readClaims();
    const known = claims.get(ticket) ?? [];
    claims.set(ticket, known);
    return known;
  }

  #readClaims(): Map<number, OpenClaim[]> {
    if (this.#claims !== null) return this.#claims;
    this.#claims = new Map();
    for (const row of execute<{ lo: number; hi: number; ticket: number; epoch: number }>(this.#sql, "SELECT lo, hi, ticket, epoch FROM claim ORDER BY lo")) {
      const claims = this.#claims.get(row.ticket) ?? [];
      claims.push({ ...row, left: null });
      this.#claims.set(row.ticket, claims);
    }
    return this.#claims;
  }
}
