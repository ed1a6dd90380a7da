import { describe, expect, it } from "vitest";
import type { Grant } from "../../../../durable-objects/run/protocol.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

const opened = (units: number): RuleRun => RuleRun.open(units, { rollouts_per_example: 1 });
const granted = (run: RuleRun, executor: string, free = 2): Grant => run.grant(executor, free);
const notes = (run: RuleRun, grant: Grant, driver: "local" | "e2b" = "local") => run.call("sandbox", { ...run.id(grant), driver }).kind;

describe("a run whose environment has sandboxes", () => {
  it("tells later grants whose they were, and which grants live beside them", () => {
    const run = opened(20);
    const first = granted(run, "a");
    expect(first).not.toHaveProperty("sandboxes");
    expect([notes(run, first), notes(run, first), notes(run, first, "e2b")]).toEqual(["ok", "ok", "ok"]);
    const second = granted(run, "b");
    expect(second.sandboxes).toEqual({ drivers: ["local", "e2b"], live: [first.epoch], turns: false });
    run.leave(first);
    expect(granted(run, "c").sandboxes).toMatchObject({ live: [second.epoch] });
  });

  it("has none made under a grant that is over", () => {
    const run = opened(5);
    const first = granted(run, "a");
    run.leave(first);
    expect(notes(run, first)).toBe("lost");
    expect(run.head).not.toHaveProperty("sandboxes");
  });

  it("has nothing removed while rollouts may be gone on with that name one, and everything at its end", () => {
    const run = opened(4);
    const first = granted(run, "a");
    notes(run, first);
    const block = run.block(first, 1);
    const unit = block.lo;
    run.call("commit", { ...run.id(first), segment: "1-1-1", units: [], pieces: [{ unit, offset: 0, length: 10, rollouts: [], begun: [0] }] });
    run.leave(first);
    expect(granted(run, "b").sandboxes).toMatchObject({ live: [], turns: true });
    const after = granted(run, "b");
    run.leave(after);
    run.work();
    const last = run.grant("c");
    expect([last.task.kind, last.sandboxes]).toEqual(["finalise", { drivers: ["local"], live: [], turns: false }]);
  });
});
