import { describe, expect, it } from "vitest";
import type { BaselineScore } from "../../../durable-objects/run/stopping/stopping-store.ts";
import { parseStopRule } from "../../../src/config/options/stop-rule.ts";
import { StopWatch } from "../../../src/metrics/sequential/stop-watch.ts";
import type { WithLedger } from "./ledger-conformance.ts";
import type { OpenLedger } from "./ledger-pieces.ts";

/** More than one row of a table holds. */
const MANY = 9_000;
const scoreOf = (unit: number): BaselineScore => (unit % 17 === 3 ? [unit / 20_000, 1] : unit / 10_000);

/** What every ledger does with what a Run that may stop early remembers. */
export function stoppingConformance(withLedger: WithLedger): void {
  const check = (what: string, test: (open: OpenLedger) => void): void => it(what, () => withLedger(test));
  const scores = Array.from({ length: MANY }, (_, unit) => scoreOf(unit));
  const watch = new StopWatch({ rule: parseStopRule("mean<0.5"), alpha: 0.05, population: 10 });
  watch.add(0.1 + 0.2);
  const watched = { version: 1, next: 1, state: watch.state() } as const;

  describe("the scores of a baseline", () => {
    check("are those that were told, of every unit, in whatever order they are asked for", ({ ledger, reopened }) => {
      expect([ledger.stopping.baselineOf(0), ledger.stopping.baselinePairs()]).toEqual([null, false]);
      ledger.stopping.putBaseline(0, { scores, pairs: false });
      for (const each of [ledger, reopened()]) {
        expect(scores.map((_, unit) => each.stopping.baselineOf(unit))).toEqual(scores);
        for (const unit of [MANY - 1, 0, 4_096, 4_095, 8_192, 8_191]) expect(each.stopping.baselineOf(unit)).toEqual(scoreOf(unit));
        expect([each.stopping.baselineOf(MANY), each.stopping.baselinePairs()]).toEqual([null, false]);
      }
    });

    check("are pairs where all that were told are", ({ ledger, reopened }) => {
      ledger.stopping.putBaseline(0, { scores: [0, 1], pairs: true });
      for (const each of [ledger, reopened()]) expect(each.stopping.baselinePairs()).toBe(true);
      ledger.stopping.putBaseline(2, { scores: [0.5], pairs: false });
      for (const each of [ledger, reopened()])
        expect([0, 1, 2, 3].map((unit) => each.stopping.baselineOf(unit)).concat(each.stopping.baselinePairs() ? 1 : 0)).toEqual([0, 1, 0.5, null, 0]);
    });
  });

  describe("how far a run was watched", () => {
    check("is read as it was written, to the last digit, and forgotten without the baseline", ({ ledger, reopened }) => {
      expect(ledger.stopping.watch()).toBeNull();
      ledger.stopping.putBaseline(0, { scores: [0.25], pairs: false });
      ledger.stopping.putWatch(watched);
      for (const each of [ledger, reopened()]) expect(each.stopping.watch()).toEqual(watched);
      ledger.stopping.forgetWatch();
      for (const each of [ledger, reopened()]) expect([each.stopping.watch(), each.stopping.baselineOf(0)]).toEqual([null, 0.25]);
    });

    check("goes back with the transaction, and the scores of the baseline too", ({ ledger, transaction, reopened }) => {
      expect(() =>
        transaction(() => {
          ledger.stopping.putBaseline(0, { scores: [0.25], pairs: true });
          ledger.stopping.putWatch(watched);
          throw new Error("power cut");
        }),
      ).toThrow("power cut");
      for (const { stopping } of [ledger, reopened()])
        expect([stopping.watch(), stopping.baselineOf(0), stopping.baselinePairs()]).toEqual([null, null, false]);
    });
  });
}
