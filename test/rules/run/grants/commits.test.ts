import { describe, expect, it } from "vitest";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

describe("a commit", () => {
  it("is accepted once; repeated with the same segment it is accepted again and counts nothing", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    expect(run.commit(grant, [0, 1], [summary({ reward: 0.5 })], "1-2-1")).toEqual(["accepted", "accepted"]);
    const { totals, done, seq } = run.head;
    expect(run.commit(grant, [0, 1], [summary({ reward: 0.5 })], "1-2-1")).toEqual(["accepted", "accepted"]);
    expect(run.head).toMatchObject({ totals, done, seq });
    expect(totals).toMatchObject({ rollouts: 2, reward_sum: 1, input_tokens: 40, metrics: { similarity: { sum: 2, count: 2 } } });
  });

  it("of a unit done from another segment is a duplicate", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0], [summary()], "1-2-1");
    expect(run.commit(grant, [0, 1], [summary({ reward: 9 })], "1-2-2")).toEqual(["duplicate", "accepted"]);
    expect(run.head.totals).toMatchObject({ rollouts: 2, reward_sum: 10 });
    expect(run.ledger.done(0)?.segment).toBe("1-2-1");
  });

  it("of a unit that this grant does not hold is stale", () => {
    const run = RuleRun.open(10);
    const [a, b] = [run.grant("a"), run.grant("b")];
    run.block(a, 1);
    run.block(b, 1);
    expect(run.commit(a, [4, 0, 9])).toEqual(["stale", "accepted", "stale"]);
    run.leave(a);
    expect(run.commit(a, [1])).toEqual(["stale"]);
    const again = run.grant("a");
    expect(again.ticket).toBe(a.ticket);
    run.block(again, 1);
    expect(run.commit(a, [1])).toEqual(["stale"]);
    expect(run.commit(again, [1])).toEqual(["accepted"]);
  });

  it("of open units is accepted while the run drains, and closed once it writes its results", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.call("cancel", null);
    expect(run.commit(grant, [0])).toEqual(["accepted"]);
    run.leave(grant);
    expect(run.head.phase).toBe("finalising");
    expect(run.commit(grant, [1])).toEqual(["closed"]);
    run.settle();
    expect(run.commit(grant, [0, 1])).toEqual(["duplicate", "closed"]);
    expect(run.head.totals.rollouts).toBe(1);
  });

  it("leaves one event for all its units, and none when nothing was accepted", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0, 2], [summary(), summary()], "1-2-1");
    run.commit(grant, [0], [summary()], "1-2-9");
    const commits = run.ledger.events.filter(({ type }) => type === "commit");
    expect(commits).toEqual([expect.objectContaining({ units: [0, 2], rollouts: 4, segment: "1-2-1" })]);
  });
});
