import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { metadataOf } from "../../../durable-objects/run/reading/run-metadata.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { type GroupRewardContext, groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { env, length, Line } from "../../support/run/executor-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How much longer each answer is than the shortest of its example. */
const ahead = groupReward(function ahead({ completions }: GroupRewardContext) {
  const lengths = completions.map((completion) => length({ completion }));
  return lengths.map((each) => each - Math.min(...lengths));
});

it("a repaired example draws only what failed, is scored anew as a whole, and log, rows and metadata say so", async () => {
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
  const marks = () => line.rows().map(({ scored_anew }) => scored_anew);
  expect(marks()).toEqual(Array.from({ length: 6 }, () => false));
  expect(first.run.head.scored_anew).toBeUndefined();
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
  expect(marks()).toEqual(Array.from({ length: 6 }, () => true));
  expect(await metadataOf(second.run.ledger, async () => true)).toMatchObject({ edgewise: { scored_anew: 2 } });
  expect([...new Set(line.notes)]).toEqual([expect.stringMatching(/^Rollouts that failed are drawn again, and their examples scored anew as a whole/)]);
});

it("one that is repaired twice counts once, and examples whose rollouts are scored one by one have no mark", async () => {
  const play = async (rubric: Rubric) => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 3, environment: env(rubric) });
    const answer = async (): Promise<string> => {
      const call = ++line.calls;
      if (call === 2 || call === 4) throw new EdgewiseError("provider_error", "no");
      return "x".repeat(call);
    };
    for (let generation = 1; generation <= 3; generation++) {
      if (generation > 1) expect(line.run?.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 1 } });
      const next = line.next(0, { answer });
      await vi.advanceTimersByTimeAsync(5_000);
      await next.over;
      next.run.settle();
    }
    return { calls: line.calls, head: line.run?.head, marks: line.rows().map(({ scored_anew }) => scored_anew) };
  };
  expect(await play(new Rubric([ahead]))).toMatchObject({ calls: 5, head: { scored_anew: 1 }, marks: [true, true, true] });
  const { head, ...alone } = await play(new Rubric([length]));
  expect(alone).toEqual({ calls: 5, marks: [undefined, undefined, undefined] });
  expect(head?.scored_anew).toBeUndefined();
});
