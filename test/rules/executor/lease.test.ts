import { describe, expect, it } from "vitest";
import type { Grant } from "../../../durable-objects/run/protocol.ts";
import { Session } from "../../../src/executor/session/session.ts";
import type { Effect, SessionEvent } from "../../../src/executor/session/session-events.ts";
import { RuleRun } from "../../support/run/rule-run.ts";

const MARGIN_MS = 1_000;

/** A session that began at 0 ms, and the block that its first claim is to be answered with. */
function worked() {
  const run = RuleRun.open(40);
  const grant: Grant = run.grant("a");
  const session = new Session(grant, { margin: MARGIN_MS, idle: 250 }, 0);
  let last: Effect[] = session.step({ type: "tick" }, 0);
  const step = (event: SessionEvent, now: number): Effect[] => {
    last = session.step(event, now);
    return last;
  };
  const types = (): string[] => last.map(({ type }) => type);
  // As a Run of the version before answers.
  const { renewed: _renewed, orders: _orders, ...block } = run.claim(grant, 1);
  if (block.kind !== "block") throw new Error(`no block: ${block.kind}`);
  return { run, grant, session, step, types, block };
}

describe("the lease of an executor", () => {
  it("is kept by claims and commits, and by a beat only where neither came for the interval of beats", () => {
    const { grant, step, types, block } = worked();
    step({ type: "claimed", seq: 1, sentAt: 900, answer: { ...block, renewed: true, orders: "continue" } }, 905);
    step({ type: "tick" }, 900 + grant.beat_ms - 1);
    expect(types()).not.toContain("beat");
    const commit = { kind: "committed", verdicts: [], orders: "continue", renewed: true } as const;
    step({ type: "committed", n: 1, sentAt: 1_800, answer: commit }, 1_890);
    step({ type: "tick" }, 1_800 + grant.beat_ms - 1);
    expect(types()).not.toContain("beat");
    step({ type: "tick" }, 1_800 + grant.beat_ms);
    expect(types()).toContain("beat");
  });

  it("counts from the sending of what renewed it, however late the answer came", () => {
    const { grant, session, step, types, block } = worked();
    step({ type: "claimed", seq: 1, sentAt: 500, answer: { ...block, renewed: true } }, 1_900);
    const end = 500 + grant.lease_ms - MARGIN_MS;
    step({ type: "tick" }, end - 1);
    expect(types()).not.toContain("abort");
    expect(session.nextTick(end - 1)).toBe(end);
    step({ type: "tick" }, end);
    expect(types()).toContain("abort");
  });

  it("is kept by beats alone before a Run of the version before, whose answers renew nothing", () => {
    const { grant, step, types, block } = worked();
    step({ type: "claimed", seq: 1, sentAt: 900, answer: block }, 905);
    step({ type: "committed", n: 1, sentAt: 950, answer: { kind: "committed", verdicts: [], orders: "continue" } }, 960);
    step({ type: "tick" }, grant.beat_ms);
    expect(types()).toContain("beat");
    step({ type: "tick" }, grant.lease_ms - MARGIN_MS);
    expect(types()).toContain("abort");
  });

  it("tells with a claim what a beat would: a run that is interrupted is given up at once", () => {
    const { step, types, block } = worked();
    step({ type: "claimed", seq: 1, sentAt: 0, answer: { ...block, renewed: true, orders: "abort" } }, 5);
    expect(types()).toContain("abort");
    expect(types()).not.toContain("start");
  });

  it("tells with each call what has begun", () => {
    const { step, block } = worked();
    step({ type: "claimed", seq: 1, sentAt: 0, answer: { ...block, renewed: true } }, 5);
    step({ type: "unit-finished", unit: block.lo, full: true }, 10);
    const commit = step({ type: "stored", n: 1 }, 20).find((effect) => effect.type === "commit");
    expect(commit).toMatchObject({ units: [block.lo] });
    expect(new Set(commit?.type === "commit" ? commit.started : [])).toEqual(new Set([0, 1, 2, 3]));
  });
});
