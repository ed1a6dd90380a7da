import { describe, expect, it } from "vitest";
import { isDead, mendHint, nextStep, owedText, prospectsOf } from "../../../src/errors/leftovers.ts";

const ended = (changes: Partial<Parameters<typeof nextStep>[0]> = {}) => ({ status: "COMPLETED", settled: true, rows: 10, missing: 0, errors: {}, ...changes });

describe("how a run goes on", () => {
  it.each([
    ["has nothing left to do", ended(), null],
    ["ended with errors that no resume draws again", ended({ errors: { bad_request: 2, environment_error: 1, poisoned: 1 } }), null],
    ["waits", ended({ settled: false, status: "RUNNING", missing: 4 }), { when: null, what: null }],
    ["lacks rollouts", ended({ status: "CANCELLED", missing: 4 }), { when: null, what: "4 rollouts to do" }],
    ["was ended by a budget", ended({ status: "CANCELLED", missing: 4, endedBy: "budget" }), { when: "once the budget allows more", what: "4 rollouts to do" }],
    ["has infrastructure errors", ended({ errors: { timeout: 1, rate_limited: 2 } }), { when: null, what: "3 rollouts that infrastructure ended run again" }],
    [
      "was not scored",
      ended({ status: "FAILED", errors: { scorer_error: 10 } }),
      { when: "once the reward function is mended", what: "10 rollouts are scored again, none is generated" },
    ],
    ["ended before its first row", ended({ status: "FAILED", rows: 0, missing: 10 }), { when: "once that is mended", what: null }],
  ])("that %s", (_what, run, step) => expect(nextStep(run)).toEqual(step));

  it("that could not be scored again for want of state: not by a resume", () => {
    expect(nextStep(ended({ status: "FAILED", errors: { scorer_error: 10 } }), ["board"])).toBeNull();
  });
});

describe("what a run owes", () => {
  it("is what infrastructure ended, by code, the most frequent first, and nothing else", () => {
    expect(owedText({ timeout: 2, bad_request: 4, connection_failed: 16, scorer_error: 1 }, 600)).toBe(
      "18 of 600 rollouts ended in errors of the infrastructure (connection_failed 16, timeout 2); this makes them again",
    );
    expect(owedText({ timeout: 1 }, 1)).toBe("1 of 1 rollout ended in an error of the infrastructure (timeout 1); this makes it again");
    expect([owedText({}, 5), owedText({ bad_request: 5 }, 5)]).toEqual([null, null]);
  });
});

describe("what a resume would do", () => {
  it("scores again only with other code", () => {
    expect(prospectsOf({ missing: 0, errors: { scorer_error: 2, timeout: 1 } }, false)).toEqual({ rollouts: 1, scores: 0 });
    expect(prospectsOf({ missing: 0, errors: { scorer_error: 2, timeout: 1 } }, true)).toEqual({ rollouts: 1, scores: 2 });
  });

  it("is nothing where data or environment never loaded; a refused key is another matter", () => {
    expect(isDead(ended({ status: "FAILED", rows: 0 }), "dataset_unreadable")).toBe(true);
    expect(isDead(ended({ status: "FAILED", rows: 0 }), "auth_failed")).toBe(false);
    expect(isDead(ended({ status: "FAILED", rows: 3 }), "dataset_changed")).toBe(false);
  });
});

describe("the hint of a run in which every rollout ended in an error", () => {
  it("says of each kind what helps", () => {
    expect(mendHint({ timeout: 2 })).toBe("Mend what the errors name, then resume: 2 rollouts run again.");
    expect(mendHint({ scorer_error: 1 })).toBe("Mend the reward function, then resume: 1 rollout is scored again, and none is generated.");
    expect(mendHint({ scorer_error: 1 }, ["board"])).toContain("read state.board");
    expect(mendHint({ environment_error: 2 })).toContain("start a new run");
    expect(mendHint({ timeout: 1, bad_request: 2 })).toBe(
      "Mend what the errors name, then resume: 1 rollout runs again. 2 rollouts ended in errors of the model or the environment; they are not drawn again.",
    );
  });
});
