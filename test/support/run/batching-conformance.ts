import { describe, expect, it } from "vitest";
import type { Job } from "../../../durable-objects/run/batching/job.ts";
import type { WithLedger } from "./ledger-conformance.ts";
import type { OpenLedger } from "./ledger-pieces.ts";

const jobOf = (job: number, changes: Partial<Job> = {}): Job => ({
  job,
  generation: 1,
  state: "written",
  place: 0,
  object: `${job}-1-1-1`,
  bytes: 10,
  requests: 2,
  units: 2,
  bound: null,
  file_id: null,
  creating_at: null,
  batch_id: null,
  submitted_at: null,
  ended_at: null,
  expires_at: null,
  counts: { answered: 0, failed: 0 },
  index: null,
  looks: 0,
  refusals: 0,
  due_at: 0,
  ...changes,
});

/** What every ledger does with what a Run whose requests go out in batches remembers. */
export function batchingConformance(withLedger: WithLedger): void {
  const check = (what: string, test: (open: OpenLedger) => void): void => it(what, () => withLedger(test));

  describe("jobs of a run", () => {
    check("are as they were last put, by number, with the units that they were added with", ({ ledger, reopened }) => {
      expect([ledger.batching.jobs(), ledger.batching.unitsOf(1), ledger.batching.unasked(5)]).toEqual([[], [], []]);
      const units = [
        { lo: 0, hi: 2, tries: 0 },
        { lo: 7, hi: 8, tries: 2 },
      ];
      ledger.batching.add(jobOf(1), units);
      ledger.batching.add(jobOf(2), [{ lo: 2, hi: 3, tries: 0 }]);
      const submitted = jobOf(1, { state: "submitted", batch_id: "b ✓", lost: { expired: 1 }, full: true });
      ledger.batching.put(submitted);
      for (const { batching } of [ledger, reopened()])
        expect([batching.jobs(), batching.unitsOf(1), batching.unitsOf(3)]).toEqual([[submitted, jobOf(2)], units, []]);
    });

    check("go back with the transaction, and units that are not asked too", ({ ledger, transaction, reopened }) => {
      ledger.batching.add(jobOf(1), []);
      expect(() =>
        transaction(() => {
          ledger.batching.put(jobOf(1, { state: "uploaded" }));
          ledger.batching.add(jobOf(2), []);
          ledger.batching.putUnasked({ lo: 0, hi: 1, tries: 0 });
          throw new Error("power cut");
        }),
      ).toThrow("power cut");
      for (const { batching } of [ledger, reopened()]) expect([batching.jobs(), batching.unasked(9)]).toEqual([[jobOf(1)], []]);
    });
  });

  describe("units that are not asked", () => {
    check("come by their numbers, as many ranges as are needed", ({ ledger, reopened }) => {
      const ranges = Array.from({ length: 1_200 }, (_, at) => ({ lo: at * 3, hi: at * 3 + 2, tries: at % 2 }));
      for (const range of [...ranges].reverse()) ledger.batching.putUnasked(range);
      for (const { batching } of [ledger, reopened()]) {
        expect(batching.unasked(3)).toEqual(ranges.slice(0, 2));
        expect(batching.unasked(1_025)).toEqual(ranges.slice(0, 513));
        expect(batching.unasked(1_000_000)).toEqual(ranges);
        expect(batching.unaskedIn({ lo: 1, hi: 4 })).toEqual(ranges.slice(0, 2));
        expect(batching.unaskedIn({ lo: 2, hi: 3 })).toEqual([]);
      }
      ledger.batching.deleteUnasked(0);
      ledger.batching.forgetTries();
      expect(reopened().batching.unasked(2)).toEqual([{ lo: 3, hi: 5, tries: 0 }]);
      ledger.batching.clearUnasked();
      expect(reopened().batching.unasked(2)).toEqual([]);
    });
  });
}
