import { execute } from "../../../counted-sql.ts";
import type { Claim, Span, Spans, Ticket } from "../ledger.ts";
import { SPAN_TABLE } from "../schema.ts";

/** What the table asks of the others. */
export interface SpanSurroundings {
  readonly ticket: (id: number) => Ticket | null;
  /** Of any ticket, those that reach into the units. */
  readonly claimsIn: (range: { readonly lo: number; readonly hi: number }) => readonly Claim[];
}

/**
 * Who has which rollouts of the units that are divided: as many rows as such grants have open. Read once, kept in memory and written through.
 *
 * A row counts while its grant lives and the unit's claim is that of one who has a span of it. Code that does not know the table ends grants and
 * hands units out without a look at it, so what it left behind is deleted as it is read.
 */
export class SpanTable implements Spans {
  readonly #sql: SqlStorage;
  readonly #others: SpanSurroundings;
  /** The table is there: most runs never divide a unit. */
  #isThere = false;
  #byUnit: Map<number, readonly Span[]> | null = null;

  constructor(sql: SqlStorage, others: SpanSurroundings) {
    this.#sql = sql;
    this.#others = others;
  }

  forget(): void {
    this.#isThere = false;
    this.#byUnit = null;
  }

  byUnit(): ReadonlyMap<number, readonly Span[]> {
    return this.#read();
  }

  put(span: Span): void {
    const spans = this.#read();
    if (!this.#isThere) {
      execute(this.#sql, SPAN_TABLE);
      this.#isThere = true;
    }
    const { unit, lo, hi, ticket, epoch } = span;
    execute(this.#sql, "INSERT INTO span (unit, lo, hi, ticket, epoch) VALUES (?, ?, ?, ?, ?)", unit, lo, hi, ticket, epoch);
    this.#keep(spans, span);
  }

  delete({ unit, lo }: Span): void {
    const spans = this.#read();
    const left = (spans.get(unit) ?? []).filter((span) => span.lo !== lo);
    if (left.length === 0) spans.delete(unit);
    else spans.set(unit, left);
    this.#delete(unit, lo);
  }

  #delete(unit: number, lo: number): void {
    execute(this.#sql, "DELETE FROM span WHERE unit = ? AND lo = ?", unit, lo);
  }

  #keep(spans: Map<number, readonly Span[]>, span: Span): void {
    spans.set(
      span.unit,
      [...(spans.get(span.unit) ?? []), span].sort((a, b) => a.lo - b.lo),
    );
  }

  #read(): Map<number, readonly Span[]> {
    if (this.#byUnit !== null) return this.#byUnit;
    const spans = new Map<number, readonly Span[]>();
    this.#byUnit = spans;
    this.#isThere = execute(this.#sql, "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'span'").length > 0;
    if (!this.#isThere) return spans;
    const rows = execute<{ unit: number; lo: number; hi: number; ticket: number; epoch: number }>(this.#sql, "SELECT * FROM span ORDER BY unit, lo");
    const live = rows.filter(({ ticket, epoch }) => this.#others.ticket(ticket)?.epoch === epoch);
    const holds = ({ unit }: Span): boolean => {
      const [claim] = this.#others.claimsIn({ lo: unit, hi: unit + 1 });
      return claim !== undefined && live.some((span) => span.unit === unit && span.ticket === claim.ticket && span.epoch === claim.epoch);
    };
    for (const span of rows) {
      if (live.includes(span) && holds(span)) this.#keep(spans, { ...span });
      else this.#delete(span.unit, span.lo);
    }
    return spans;
  }
}
