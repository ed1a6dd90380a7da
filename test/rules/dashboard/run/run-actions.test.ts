import { describe, expect, it } from "vitest";
import type { RunView } from "../../../../durable-objects/run/control.ts";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { actionsOf } from "../../../../src/dashboard/pages/run/actions/run-actions.ts";
import { emptyTotals } from "../../../../src/metrics/totals.ts";
import { runObject } from "../../../support/door/run-object.ts";

const names = (changes: Partial<RunView>, config: Partial<RunConfig> = {}): readonly string[] => actionsOf(runObject(changes, config)).map(({ name }) => name);
const DONE = { total: 2, done: 2, open: 0, pending: 0 };

describe("what can be done to a run", () => {
  it("is what its state allows", () => {
    expect(names({})).toEqual(["Pause", "Interrupt", "Stop", "Share"]);
    expect(names({ paused: { at: 1 } as RunView["paused"] })).toEqual(["Continue", "Interrupt", "Stop", "Share"]);
    expect(names({ phase: "draining", status: "CANCELLED" })).toEqual(["Share"]);
    expect(names({ phase: "draining", status: "CANCELLED", scoring_until: 5 })).toEqual(["Stop scoring", "Share"]);
    expect(names({ phase: "settled", status: "COMPLETED", units: DONE })).toEqual(["Keep", "Share", "Delete"]);
    expect(names({ phase: "settled", status: "COMPLETED", units: DONE, link_digest: "d" })).toEqual(["Keep", "New link", "Take the link back", "Delete"]);
  });

  it("is going on with one that waits to be resumed, and with one that was stopped", () => {
    expect(names({ suspended: true })).toEqual(["Resume", "Stop", "Share", "Delete"]);
    const stopped = actionsOf(runObject({ phase: "settled", status: "CANCELLED", units: { total: 2, done: 1, open: 0, pending: 1 } }));
    expect(stopped.find(({ id }) => id === "resume")?.says).toMatch(/^2 rollouts are made\. Everything else stays/);
  });

  it("is making again what infrastructure ended, and nothing else", () => {
    const errored = (errors: Record<string, number>) =>
      runObject({ phase: "settled", status: "COMPLETED", units: DONE, totals: { ...emptyTotals(), rollouts: 4, errors } });
    const retry = actionsOf(errored({ rate_limited: 1, bad_request: 2 })).find(({ id }) => id === "resume");
    expect(retry).toMatchObject({ name: "Retry errors", method: "POST", path: "/evaluations/0000abcd/resume" });
    expect(retry?.says).toMatch(/^1 rollout is made again: it ended in an error of the infrastructure\./);
    expect(actionsOf(errored({ bad_request: 2 })).some(({ id }) => id === "resume")).toBe(false);
  });

  it("says what a deletion removes, in one line without marks that turn text around", () => {
    const remove = actionsOf(runObject({ phase: "settled", status: "COMPLETED", units: DONE }, { name: "a\u202eb\nc" })).find(({ id }) => id === "delete");
    expect(remove?.says).toBe("The run “ab\\nc”, its 4 rollouts, files and log are removed. This cannot be undone.");
    expect(remove?.tone).toBe("bad");
  });
});
