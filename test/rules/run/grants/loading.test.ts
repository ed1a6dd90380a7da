import { describe, expect, it } from "vitest";
import { FIRST_LOADINGS_TO_FAIL, LOADINGS_TO_FAIL } from "../../../../durable-objects/run/grants/load-wait.ts";
import type { Grant } from "../../../../durable-objects/run/protocol.ts";
import type { Failure } from "../../../../src/errors/result.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

const failure = { code: "dataset_unreadable", message: "status 503" } as const;
const failLoading = (run: RuleRun, grant: Grant, met: Failure = failure): void => {
  run.call("fail", { ...run.id(grant), failure: met, passing: true });
};
/** Past the present wait. */
function waitOver(run: RuleRun): void {
  run.now = Math.max(run.now, run.head.loading?.retry_at ?? 0);
  run.call("wake", null);
}
const messages = (run: RuleRun): string[] => [...run.ledger.events.values()].map(({ message }) => message);

describe("loading that failed by something that may pass", () => {
  it("is tried again by anybody, after waits that grow, and forgotten once it went well", () => {
    const run = new RuleRun();
    failLoading(run, run.grant("a"));
    expect(run.head).toMatchObject({ phase: "preparing", offer: { want: 0 }, loading: { count: 1, retry_at: run.now + 1_000 } });
    expect(run.wake).toBe(run.now + 1_000);
    expect(run.join("b")).toEqual({ kind: "none" });
    waitOver(run);
    expect(run.head.offer.want).toBe(1);
    failLoading(run, run.grant("b"));
    expect(run.head.loading).toMatchObject({ count: 2, retry_at: run.now + 2_000 });
    waitOver(run);
    run.pin(4);
    expect(run.head).toMatchObject({ phase: "open", status: "RUNNING" });
    expect(run.head.loading).toBeUndefined();
    expect(messages(run)).toContain("Reading the examples failed and is tried again: status 503");
  });

  it("ends the run by name after some attempts in a row, sooner where somebody sits before it and has nothing yet", () => {
    const lasting = (run: RuleRun, met: Failure = failure): number => {
      for (let attempt = 1; ; attempt++) {
        failLoading(run, run.grant("a"), met);
        if (run.head.phase !== "preparing" && run.head.phase !== "open") return attempt;
        waitOver(run);
      }
    };
    const unattended = new RuleRun({ attended: false });
    const since = unattended.now;
    expect(lasting(unattended)).toBe(LOADINGS_TO_FAIL);
    expect(unattended.head).toMatchObject({
      status: "FAILED",
      failure: { code: "dataset_unreadable", message: `Reading the examples failed ${LOADINGS_TO_FAIL} times in a row: status 503` },
    });
    expect(unattended.now - since).toBeGreaterThan(9 * 60_000);
    expect(lasting(new RuleRun({ attended: true }), { ...failure, code: "storage_unavailable" })).toBe(LOADINGS_TO_FAIL);
    expect(lasting(new RuleRun({ attended: true }))).toBe(FIRST_LOADINGS_TO_FAIL);
    expect(lasting(RuleRun.open(4, { attended: true }))).toBe(LOADINGS_TO_FAIL);
    const open = RuleRun.open(4);
    lasting(open);
    expect(open.head.failure?.message).toMatch(/^Loading the environment failed 15 times in a row/);
  });

  it("counts once for all who had begun, and is tried by one", () => {
    const run = RuleRun.open(40, { max_concurrent: 8 });
    const [one, other] = [run.grant("a"), run.grant("b")];
    failLoading(run, one);
    failLoading(run, other);
    expect(run.head.loading).toMatchObject({ count: 1 });
    waitOver(run);
    const grant = run.grant("c");
    expect([run.join("d").kind, run.head.offer.want]).toEqual(["none", 0]);
    run.block(grant, 1);
    expect(run.head.loading).toBeUndefined();
    expect(run.head.offer.want).toBeGreaterThan(0);
  });

  it("never ends a run that others work on", () => {
    const run = RuleRun.open(400, { max_concurrent: 8 });
    const working = run.grant("a");
    run.block(working, 1);
    for (let attempt = 1; attempt <= LOADINGS_TO_FAIL + 3; attempt++) {
      failLoading(run, run.grant("b"));
      for (const until = run.head.loading?.retry_at ?? 0; run.now < until; run.now = Math.min(until, run.now + 5_000)) run.beat(working);
      run.call("wake", null);
    }
    expect(run.head).toMatchObject({ status: "RUNNING", loading: { count: LOADINGS_TO_FAIL + 3 } });
  });

  it("is asked anew by a resume", () => {
    const run = RuleRun.open(4);
    failLoading(run, run.grant("a"));
    run.call("interrupt", null);
    expect(run.resume()).toMatchObject({ ok: true });
    expect(run.head.loading).toBeUndefined();
    expect(run.join("b").kind).toBe("grant");
  });

  it("is certain at the word of an executor of before, which cannot say otherwise", () => {
    const run = RuleRun.open(4);
    run.call("fail", { ...run.id(run.grant("a")), failure });
    expect(run.head).toMatchObject({ status: "FAILED", failure });
  });
});
