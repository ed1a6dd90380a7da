import { describe, expect, it } from "vitest";
import type { Claim, Span } from "../../../durable-objects/run/state/ledger.ts";
import { ticket, type WithLedger } from "./ledger-conformance.ts";
import type { OpenLedger } from "./ledger-pieces.ts";

const claim = (unit: number, id: number): Claim => ({ lo: unit, hi: unit + 1, ticket: id, epoch: 10 + id });
const span = (unit: number, lo: number, id: number): Span => ({ unit, lo, hi: lo + 8, ticket: id, epoch: 10 + id });

/** What every ledger does with units that several grants have rollouts of. */
export function spanConformance(withLedger: WithLedger): void {
  const check = (what: string, test: (open: OpenLedger) => void): void => it(what, () => withLedger(test));
  const all = ({ spans }: OpenLedger["ledger"]) => [...spans.byUnit()].map(([unit, each]) => [unit, ...each]);

  describe("spans", () => {
    check("are kept by unit and first rollout, and there are none at first", ({ ledger, reopened }) => {
      expect(all(ledger)).toEqual([]);
      for (const id of [1, 2]) ledger.putTicket(ticket(id));
      ledger.putClaim(claim(3, 2));
      for (const each of [span(3, 8, 2), span(3, 0, 1)]) ledger.spans.put(each);
      for (const each of [ledger, reopened()]) expect(all(each)).toEqual([[3, span(3, 0, 1), span(3, 8, 2)]]);
      ledger.spans.delete(span(3, 8, 2));
      expect(all(ledger)).toEqual([[3, span(3, 0, 1)]]);
      ledger.spans.delete(span(3, 0, 1));
      for (const each of [ledger, reopened()]) expect(all(each)).toEqual([]);
    });

    check("go back with the transaction", ({ ledger, transaction }) => {
      ledger.putTicket(ticket(1));
      ledger.putClaim(claim(3, 1));
      expect(() =>
        transaction(() => {
          ledger.spans.put(span(3, 0, 1));
          throw new Error("no");
        }),
      ).toThrow("no");
      expect(all(ledger)).toEqual([]);
    });

    check("leave their unit's claim, which ends alone", ({ ledger, reopened }) => {
      for (const unit of [3, 5]) ledger.putClaim(claim(unit, 1));
      expect([ledger.deleteClaim(claim(3, 2)), ledger.deleteClaim(claim(4, 1)), ledger.deleteClaim(claim(3, 1))]).toEqual([false, false, true]);
      for (const each of [ledger, reopened()]) expect(each.claimsOf(1)).toEqual([claim(5, 1)]);
    });
  });
}
