import { describe, expect, it } from "vitest";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

describe("rollouts that ended in a scorer error", () => {
  const OTHER_CODE = { env_digest: `v2:${"b".repeat(64)}` };
  const OWN_CODE = { env_digest: `v2:${"a".repeat(64)}` };
  const unscored = (): RuleRun => {
    const run = RuleRun.open(4, { rollouts_per_example: 3 });
    run.work((unit) => [summary(), summary({ reward: 0, error: unit < 3 ? "scorer_error" : null }), summary({ error: unit === 2 ? "bad_request" : null })]);
    run.settle();
    run.ledger.putHead({ ...run.head, ...OWN_CODE });
    return run;
  };
  const redos = (run: RuleRun) => {
    const grant = run.grant("a");
    const blocks = [run.block(grant, 1, { free: 5 })];
    return blocks.flatMap(({ redo }) => redo.map(({ unit, keep, score }) => [unit, keep, score]));
  };

  it("are owed scoring when the environment's code has changed: their rows are kept for it, and nothing runs", () => {
    const run = unscored();
    expect(run.resume(OTHER_CODE)).toMatchObject({ ok: true, value: { owed_rollouts: 3, owed_scores: 3 } });
    expect(run.head).toMatchObject(OTHER_CODE);
    expect(redos(run)).toEqual([
      [0, [0, 1, 2], [1]],
      [1, [0, 1, 2], [1]],
      [2, [0, 1, 2], [1]],
    ]);
  });

  it("stay as they are when it has not, and the answer says so", () => {
    const run = unscored();
    const before = run.head;
    expect(run.resume(OWN_CODE)).toMatchObject({
      ok: true,
      value: { owed_rollouts: 0, owed_scores: 0, warnings: [expect.stringMatching(/^3 rollouts .* has not changed, and would fail in the same way/)] },
    });
    expect(run.head).toEqual(before);
  });

  it("stay as they are when nobody knows the code, or errors are kept", () => {
    expect(unscored().resume()).toMatchObject({ value: { owed_rollouts: 0, warnings: [] } });
    expect(unscored().resume({ ...OTHER_CODE, keep_errors: true })).toMatchObject({ value: { owed_rollouts: 0, warnings: [] } });
  });

  it("are scored without a word on the code; what is to be generated besides wants its acceptance", () => {
    const run = unscored();
    expect(run.resume({ ...OTHER_CODE, num_examples: 5 })).toMatchObject({
      ok: false,
      error: { code: "resume_mismatch", message: expect.stringContaining("env_digest") },
    });
    expect(run.resume({ ...OTHER_CODE, num_examples: 5, accept_code_change: true })).toMatchObject({ ok: true, value: { owed_rollouts: 6, owed_scores: 3 } });
  });

  it("are scored by another version of the environment too, which the run then has; what is to be generated besides is refused with both", () => {
    const other = { ...OTHER_CODE, expect: { env_version: "9.9.9" } };
    expect(unscored().resume({ ...other, num_examples: 5 })).toMatchObject({
      ok: false,
      error: { code: "resume_mismatch", message: expect.stringMatching(/env_version: the run has .*, this command "9\.9\.9".*env_digest/) },
    });
    const run = unscored();
    expect(run.resume(other)).toMatchObject({ ok: true, value: { owed_scores: 3 } });
    expect(run.ledger.config().env_version).toBe("9.9.9");
  });

  it("count with their old rows until they are scored, and once", () => {
    const run = unscored();
    run.resume(OTHER_CODE);
    expect(run.head).toMatchObject({ done: 1, pending: 3, totals: { rollouts: 12, errors: { scorer_error: 3, bad_request: 1 } } });
    run.work((unit) => [summary(), summary({ reward: 0.5 }), summary({ error: unit === 2 ? "bad_request" : null })]);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 4, totals: { rollouts: 12, reward_sum: 3 * 2.5 + 2, errors: { bad_request: 1 } } });
  });

  it("that a resume left unscored are owed by the next, with the same code", () => {
    const run = unscored();
    run.resume(OTHER_CODE);
    const grant = run.grant("a");
    run.block(grant, 1, { free: 1 });
    run.commit(grant, [0], [summary(), summary(), summary()]);
    run.call("interrupt", null);
    run.leave(grant);
    expect(run.resume(OTHER_CODE)).toMatchObject({ value: { owed_rollouts: 2, owed_scores: 2 } });
    expect(redos(run)).toEqual([
      [1, [0, 1, 2], [1]],
      [2, [0, 1, 2], [1]],
    ]);
  });

  it("are told apart from those that run again, in one unit too", () => {
    const run = RuleRun.open(1, { rollouts_per_example: 3 });
    run.work(() => [summary({ error: "scorer_error" }), summary({ error: "connection_cut" }), summary()]);
    run.settle();
    expect(run.resume(OTHER_CODE)).toMatchObject({ value: { owed_rollouts: 2, owed_scores: 1 } });
    expect(redos(run)).toEqual([[0, [0, 2], [0]]]);
  });

  it("whose rows lack what the functions read keep them, and the run says what that is", () => {
    const run = RuleRun.open(2);
    run.work(() => [summary({ reward: 0, error: "scorer_error" })]);
    expect(run.head.failure).toMatchObject({
      code: "all_rollouts_failed",
      hint: expect.stringContaining("2 rollouts are scored again, and none is generated"),
    });
    run.settle();
    run.resume(OTHER_CODE);
    const grant = run.grant("a");
    run.block(grant, 1);
    const unit = { offset: 0, length: 10, rollouts: [summary({ reward: 0, error: "scorer_error" as const })], unscored: { rollouts: 1, state: ["board"] } };
    run.call("commit", { ...run.id(grant), segment: run.newSegment(grant), units: [0, 1].map((at) => ({ unit: at, ...unit })) });
    run.leave(grant);
    expect(run.head).toMatchObject({ status: "FAILED", done: 2, totals: { rollouts: 2, errors: { scorer_error: 2 } } });
    expect(run.head.failure?.hint).toContain(
      "2 rollouts could not be scored again, since the reward functions read state.board, which stored rows do not hold",
    );
    expect(run.ledger.events.at(-2)).toMatchObject({ level: "WARNING", message: expect.stringContaining("--state-columns board") });
  });
});
