import { describe, expect, it } from "vitest";
import type { CrossedTraits } from "../../../src/environment-protocol/values.ts";
import { traitsFrom } from "../../../src/walled/believed-traits.ts";

const crossed = (reward_range: CrossedTraits["reward_range"]): CrossedTraits => ({
  ...{ id: "other", version: "9", args: {}, dataset_name: null, pass_threshold: 0.5, reward_range, reward_weights: {}, sampling_args: {} },
  ...{ tool_defs: [], shared_tools: null, concurrency: null, metric_names: [], score_rollouts: true, has_group_rewards: false },
  ...{ scores_alone: false, resumable: false, access: [], independent_problem: null },
});
const rangeOf = (range: CrossedTraits["reward_range"]) => traitsFrom(crossed(range), { id: "mine", version: "1" }).rewardRange;

describe("what an environment elsewhere says of itself", () => {
  it("has a range of rewards that numbers are counted with, whatever is said of it", () => {
    expect(rangeOf([0, 2.2])).toEqual([0, 2.2]);
    expect(rangeOf([null, null])).toEqual([0, 1]);
    expect(rangeOf([null, -3]), "one end that is not known").toEqual([-3, -3]);
    expect(rangeOf([5, null])).toEqual([5, 5]);
    expect(rangeOf([2, 1]), "no range").toEqual([0, 1]);
  });

  it("may not have its requests in batches where it says nothing of them, as libraries of before", () => {
    const problemOf = (said: Pick<CrossedTraits, "batch_problem">) => traitsFrom({ ...crossed([0, 1]), ...said }, { id: "mine", version: "1" }).batchProblem;
    expect(problemOf({})).toMatchObject({ code: "environment_failed", message: expect.stringContaining("does not say that its rollouts are of one turn") });
    expect(problemOf({ batch_problem: null })).toBeNull();
    expect(problemOf({ batch_problem: { code: "fatal", message: "several" } })).toEqual({ code: "environment_failed", message: "several" });
  });
});
