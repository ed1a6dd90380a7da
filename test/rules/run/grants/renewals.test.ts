import { describe, expect, it } from "vitest";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

describe("a lease", () => {
  it("is renewed by a claim and by a commit as by a beat, and a late one of either revives nothing", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    const leaseUntil = (): number | undefined => run.ledger.tickets()[0]?.lease_until;
    run.now += run.timing.lease - 1;
    const block = run.block(grant, 1);
    expect(block).toMatchObject({ renewed: true, orders: "continue" });
    expect(leaseUntil()).toBe(run.now + run.timing.lease);
    run.now += run.timing.lease - 1;
    expect(run.block(grant, 1)).toEqual(block);
    run.now += run.timing.lease - 1;
    const units = (unit: number) => [{ unit, offset: 0, length: 10, rollouts: [summary()] }];
    const told = { started: [0, 1], vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null, progress: 7 } };
    expect(run.call("commit", { ...run.id(grant), ...told, segment: "1-2-1", units: units(0) })).toMatchObject({ verdicts: ["accepted"], renewed: true });
    expect(run.ledger.tickets()[0]).toMatchObject({ lease_until: run.now + run.timing.lease, started: [0, 1], progress: 7 });
    const end = leaseUntil();
    run.now += run.timing.lease;
    expect(run.claim(grant, 2)).toEqual({ kind: "lost" });
    // Rows are taken until the units are somebody else's.
    const late = run.call("commit", { ...run.id(grant), segment: "1-2-2", units: units(1) });
    expect(late).toEqual({ kind: "committed", verdicts: ["accepted"], orders: "continue" });
    expect(run.beat(grant)).toBe("lost");
    expect(leaseUntil()).toBe(end);
  });
});
