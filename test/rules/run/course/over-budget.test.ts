import { describe, expect, it } from "vitest";
import type { Overspent } from "../../../../durable-objects/budget/budget-control.ts";
import { viewOf } from "../../../../durable-objects/run/reading/view.ts";
import type { Grant } from "../../../../durable-objects/run/protocol.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const OVER: Overspent = { span: "total", limit: 5_000_000_000, settled: 4_980_000_000, unseen: { calls: 1, amount: 12_300_000 } };
const LIMITED = { rollouts_per_example: 2, run_id: "0000abcd", env_id: "gsm8k", max_cost: 5, max_concurrent: 64 };

/** Unit 0 is generated, of unit 1 one rollout is and one stands between two turns; the rest was never begun. */
function working(): { readonly run: RuleRun; readonly grant: Grant } {
  const run = RuleRun.open(4, LIMITED);
  const grant = run.grant("a");
  run.block(grant, 1, { free: 2 });
  run.keep(grant, [
    { unit: 0, rollouts: [0, 1] },
    { unit: 1, rollouts: [0], begun: [1] },
  ]);
  return { run, grant };
}

const end = (run: RuleRun, grant: Grant, changes: { readonly budget?: string; readonly over?: Partial<Overspent> } = {}): unknown =>
  run.call("endOverBudget", { ...run.id(grant), budget: changes.budget ?? "run/0000abcd", over: { ...OVER, ...changes.over } });
const word = (run: RuleRun, grant: Grant): unknown =>
  run.call("beat", { ...run.id(grant), started: [], vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null } });

/** Nobody scores what is generated. */
function rest(run: RuleRun): void {
  for (;;) {
    const answer = run.join("b", { scores_only: true });
    if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
    if (answer.task.kind === "finalise") return void run.call("finalised", run.id(answer));
    run.block(answer, 1, { free: 9 });
    run.leave(answer);
  }
}

describe("a run whose budget is spent", () => {
  it("ends cancelled, says by what, with what is sure and what nobody saw, and names the command that goes on", () => {
    const { run, grant } = working();
    expect(end(run, grant)).toEqual({ kind: "ok" });
    expect(run.head).toMatchObject({ status: "CANCELLED", phase: "draining" });
    expect(run.head.failure).toEqual({
      code: "over_budget",
      message: "max_cost $5.00 is spent: $4.98 settled, at most $0.0123 of 1 call whose end nobody saw; results so far are kept.",
      hint: "Go on with: npx edgewise eval run gsm8k -R 0000abcd --max-cost 8",
    });
    expect(viewOf(run.ledger, run.head, { in_flight: 0, retries: 0, waiting: 0, paused_until: null }, run.context)).toMatchObject({ ended_by: "budget" });
  });

  it("generates nothing more, keeps what stands between two turns, and scores what is generated", () => {
    const { run, grant } = working();
    end(run, grant);
    expect(word(run, grant)).toEqual({ kind: "abort", ends: "scored" });
    run.leave(grant);
    const answer = run.join("b", { scores_only: true });
    if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
    const { lo, hi } = run.block(answer, 1, { free: 9 });
    expect([answer.scores_only, lo, hi]).toEqual([true, 0, 1]);
    run.commit(answer, [0], [summary(), summary()]);
    run.leave(answer);
    run.settle();
    expect([run.head.status, run.head.done, run.ledger.keptRollouts()]).toEqual(["CANCELLED", 1, 1]);
  });

  it("waits for no score that nobody may pay for", () => {
    const { run, grant } = working();
    end(run, grant);
    run.leave(grant);
    const answer = run.join("b", { scores_only: true });
    if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
    run.block(answer, 1, { free: 9 });
    expect(end(run, answer)).toEqual({ kind: "ok" });
    expect(word(run, answer)).toEqual({ kind: "abort", ends: "closed" });
    run.leave(answer);
    expect([run.head.phase, run.head.done, run.ledger.keptRollouts()]).toEqual(["finalising", 0, 3]);
  });

  it("is ended once, whoever says so, and by no grant that has ended", () => {
    const { run, grant } = working();
    const other = run.grant("b", 1);
    end(run, grant);
    const { failure, seq } = run.head;
    expect(end(run, other, { over: { settled: 1 } })).toEqual({ kind: "ok" });
    expect([run.head.failure, run.head.seq]).toEqual([failure, seq]);
    run.leave(grant);
    expect(end(run, grant)).toEqual({ kind: "lost" });
  });

  it("goes on where it is resumed, and no end by a budget is left of it", () => {
    const { run, grant } = working();
    end(run, grant);
    run.leave(grant);
    rest(run);
    expect(run.resume({ max_cost: 8 })).toMatchObject({ ok: true });
    expect(run.ledger.config().max_cost).toBe(8);
    expect(run.head).toMatchObject({ status: "RUNNING", phase: "open", failure: null });
  });

  it("keeps the limit that it has where a resume names none", () => {
    const { run, grant } = working();
    run.leave(grant);
    run.call("interrupt", null);
    run.resume({});
    expect(run.ledger.config().max_cost).toBe(5);
  });

  it("says whose budget it was, and of that of all teams no amount", () => {
    const told = (budget: string, over: Partial<Overspent>): unknown => {
      const { run, grant } = working();
      end(run, grant, { budget, over });
      return [run.head.failure?.message, run.head.failure?.hint];
    };
    expect(told("team/acme", { span: "day", unseen: { calls: 0, amount: 0 } })).toEqual([
      "The budget of the team acme, $5.00 of this day (UTC) is spent: $4.98 settled; results so far are kept.",
      "Go on when the day is over (00:00 UTC), or with a larger one (npx edgewise budget set --team acme --day 8): npx edgewise eval run gsm8k -R 0000abcd",
    ]);
    // It was lowered below what is spent, and has a limit of the month as well.
    expect(told("team/acme", { span: "day", limit: 2_000_000_000, unseen: { calls: 0, amount: 0 }, beside: { month: 90_000_000_000 } })).toEqual([
      "The budget of the team acme, $2.00 of this day (UTC) is spent: $4.98 settled; results so far are kept.",
      expect.stringContaining("(npx edgewise budget set --team acme --day 8 --month 90)"),
    ]);
    expect(told("key/acme/TEAM_KEY", { span: "month", unseen: { calls: 2, amount: 20_000_000 } })).toEqual([
      "The budget of the team acme for TEAM_KEY, $5.00 of this month (UTC) is spent: $4.98 settled, at most $0.0200 of 2 calls whose end nobody saw; results so far are kept.",
      "Go on when the month is over (UTC), or with a larger one (npx edgewise budget set --team acme --key TEAM_KEY --month 8): npx edgewise eval run gsm8k -R 0000abcd",
    ]);
    expect(told("key/*/OPENAI_API_KEY", { span: "day" })).toEqual([
      "The budget that the owner of the service has for OPENAI_API_KEY of this day (UTC) is spent; results so far are kept.",
      "Go on when the day is over (00:00 UTC), or once its owner allows more: npx edgewise eval run gsm8k -R 0000abcd",
    ]);
  });
});

describe("a call that was not sent since a budget holds", () => {
  it.each([
    ["over_budget", "CANCELLED"],
    ["unknown_price", "FAILED"],
    ["unbounded_cost", "FAILED"],
  ] as const)("ends the run at once, though others were answered: %s", (code, status) => {
    const { run, grant } = working();
    const answer = run.call("fail", { ...run.id(grant), failure: { code, message: "not sent" }, progress: 3 });
    expect(answer).toEqual({ kind: "ok" });
    expect(run.head).toMatchObject({ status, phase: "draining", failure: { code } });
    expect(word(run, grant)).toEqual({ kind: "abort", ends: "scored" });
  });

  it("is told to alerts and to the monitor as a failure, since nobody asked for that end", () => {
    const { run, grant } = working();
    end(run, grant);
    run.leave(grant);
    rest(run);
    const [told] = run.head.alerts?.owed ?? [];
    expect(told).toMatchObject({ type: "run.failed", data: { status: "CANCELLED", failure: "over_budget" } });
    expect(told?.text).toContain("max_cost $5.00 is spent");
  });
});
