import { describe, expect } from "vitest";
import type { RunHead } from "../../../durable-objects/run/state/head.ts";
import type { Done, Ledger } from "../../../durable-objects/run/state/ledger.ts";

export interface OpenLedger {
  readonly ledger: Ledger;
  /** All of it, or nothing when it throws. */
  readonly transaction: <T>(change: () => T) => T;
  /** Reads everything from storage again, as after an eviction. */
  readonly reopened: () => Ledger;
}

interface Made {
  readonly head: () => RunHead;
  readonly done: (unit: number, changes?: Partial<Done>) => Done;
}

/** What every ledger does with kept rollouts. `check`: a test on an empty ledger. */
export function piecesConformance(check: (name: string, body: (open: OpenLedger) => void) => void, { head, done }: Made): void {
  describe("pieces", () => {
    const part = (unit: number, rollouts: number[]) => ({ unit, offset: 10 * unit, length: 10, rollouts });
    const pieceOf = (segment: string, unit: number, rollouts: number[]) => ({ segment, ...part(unit, rollouts) });

    check("are found by unit, whatever segment they are in, until their unit is done", ({ ledger, reopened }) => {
      expect([ledger.piecesIn({ lo: 0, hi: 9 }), ledger.keptRollouts()]).toEqual([[], 0]);
      ledger.putHead(head());
      ledger.putPieces("1-1-2", [part(3, [0, 2]), part(5, [1])]);
      ledger.putPieces("1-1-3", [part(3, [1])]);
      for (const each of [ledger, reopened()]) {
        expect(each.piecesIn({ lo: 0, hi: 9 })).toEqual([pieceOf("1-1-2", 3, [0, 2]), pieceOf("1-1-3", 3, [1]), pieceOf("1-1-2", 5, [1])]);
        expect(each.piecesIn({ lo: 4, hi: 6 })).toEqual([pieceOf("1-1-2", 5, [1])]);
        expect([each.piecesIn({ lo: 4, hi: 5 }), each.keptRollouts()]).toEqual([[], 4]);
      }
      ledger.putDone(done(3));
      ledger.dropPieces([3, 4]);
      for (const each of [ledger, reopened()]) expect([each.piecesIn({ lo: 0, hi: 9 }), each.keptRollouts()]).toEqual([[pieceOf("1-1-2", 5, [1])], 1]);
    });

    check("go on in a new generation, but for those of units that are done; without that they count no more", ({ ledger, reopened }) => {
      ledger.putHead(head());
      ledger.putPieces("1-1-2", [part(3, [0]), part(5, [1])]);
      ledger.putDone(done(3));
      ledger.dropPieces([3]);
      ledger.renewPieces(2);
      ledger.putHead({ ...head(), generation: 2 });
      ledger.putDone(done(3, { owed: true }));
      for (const each of [ledger, reopened()]) expect(each.piecesIn({ lo: 0, hi: 9 })).toEqual([pieceOf("1-1-2", 5, [1])]);
      ledger.putHead({ ...head(), generation: 3 });
      expect([reopened().piecesIn({ lo: 0, hi: 9 }), reopened().keptRollouts()]).toEqual([[], 0]);
    });

    check("say where rollouts stand, until those stand further on or are generated", ({ ledger, transaction, reopened }) => {
      const standing = (unit: number, rollouts: number[], begun: number[]) => ({ ...part(unit, rollouts), begun });
      const all = (each: Ledger) => each.piecesIn({ lo: 0, hi: 9 }).map(({ segment, unit, rollouts, begun = [] }) => [segment, unit, rollouts, begun]);
      ledger.putHead(head());
      ledger.putPieces("1-1-1", [standing(3, [0], [1, 2]), standing(5, [], [0])]);
      ledger.putPieces("1-1-2", [standing(3, [], [3])]);
      for (const each of [ledger, reopened()]) {
        expect(all(each)).toEqual([
          ["1-1-1", 3, [0], [1, 2]],
          ["1-1-2", 3, [], [3]],
          ["1-1-1", 5, [], [0]],
        ]);
        expect(each.keptRollouts()).toBe(1);
      }
      // Of other units, and of rollouts that stand nowhere, nothing is forgotten.
      ledger.passTurns(4, [0, 1]);
      ledger.passTurns(3, [0, 7]);
      ledger.passTurns(3, [1, 3]);
      const left = [
        ["1-1-1", 3, [0], [2]],
        ["1-1-1", 5, [], [0]],
      ];
      for (const each of [ledger, reopened()]) expect(all(each)).toEqual(left);
      expect(() =>
        transaction(() => {
          ledger.passTurns(5, [0]);
          throw new Error("rolled back");
        }),
      ).toThrow("rolled back");
      expect(all(ledger)).toEqual(left);
      ledger.passTurns(5, [0]);
      ledger.passTurns(3, [2]);
      for (const each of [ledger, reopened()]) expect([all(each), each.keptRollouts()]).toEqual([[["1-1-1", 3, [0], []]], 1]);
    });

    check("go with the inputs", ({ ledger, reopened }) => {
      ledger.putHead(head());
      ledger.putPieces("1-1-2", [part(3, [0])]);
      ledger.clearInputs();
      for (const each of [ledger, reopened()]) expect(each.keptRollouts()).toBe(0);
    });
  });
}
