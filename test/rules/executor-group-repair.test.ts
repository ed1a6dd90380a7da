import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EdgewiseError } from "../../src/errors/result.ts";
import { type GroupRewardContext, groupReward } from "../../src/rubrics/reward-function.ts";
import { Rubric } from "../../src/rubrics/rubric.ts";
import { env, length, Line } from "../support/executor-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How much longer each answer is than the shortest of its example. */
const ahead = groupReward(function ahead({ completions }: GroupRewardContext) {
  const lengths = completions.map((completion) => length({ completion }));
  return lengths.map((each) => each - Math.min(...lengths));
});

it("a repaired example draws only what failed, is scored anew as a whole, and the run's log says that other scores may have changed", async () => {
  const line = new Line({ units: 2, lanes: 8, rollouts: 3, environment: env(new Rubric([ahead])) });
  const answer = async (): Promise<string> => {
    const call = ++line.calls;
    if (call === 2 || call === 5) throw new EdgewiseError("provider_error", "no");
    return "x".repeat(call);
  };
  const first = line.next(0, { answer });
  await vi.advanceTimersByTimeAsync(5_000);
  await first.over;
  first.run.settle();
  const before = line.rows().map(({ reward }) => reward);
  expect([line.calls, line.notes]).toEqual([6, []]);
  expect(first.run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
  const second = line.next(0, { answer });
  await vi.advanceTimersByTimeAsync(5_000);
  await second.over;
  expect(line.calls).toBe(8);
  expect([before, line.rows().map(({ reward }) => reward)]).toEqual([
    [1, 0, 3, 4, 0, 6],
    [0, 6, 2, 0, 4, 2],
  ]);
  expect([...new Set(line.notes)]).toEqual([expect.stringMatching(/^Rollouts that failed are drawn again, and their examples scored anew as a whole/)]);
});
