import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { KEEP_AGE_MS } from "../../../src/limits.ts";
import { type GroupRewardContext, groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";
import { begun, env, kept, length, Line, NEVER } from "../../support/run/executor-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const FOUR = { units: 1, lanes: 8, rollouts: 4 };

/** A reward function that counts its calls, and takes its time. */
function judge(ms: (answer: number) => number) {
  const scored: number[] = [];
  const judged = async (context: RewardContext): Promise<number> => {
    const own = length(context);
    scored.push(own);
    const took = ms(own);
    await (Number.isFinite(took) ? sleep(took) : NEVER);
    return own;
  };
  return { scored, judged };
}

describe("where no function judges the rollouts of an example together", () => {
  it("each is scored when it is generated, and one that is kept with its scores is not scored again", async () => {
    const { scored, judged } = judge(() => 0);
    const line = new Line({ ...FOUR, config: { state_columns: ["advantage"] }, environment: env(new Rubric([judged])) });
    const first = line.next(3);
    await advance(KEEP_AGE_MS + 200);
    expect([scored, kept(line)]).toEqual([[1, 2, 3], [[0, 0, 1, 2]]]);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const second = line.next(9);
    await advance(2_000);
    await second.over;
    expect([scored, line.calls]).toEqual([[1, 2, 3, 5], 5]);
    // Compared with the others as if they had been scored together.
    expect(line.rows().map((row) => [row.reward, (row as { advantage?: number }).advantage])).toEqual([1, 2, 3, 5].map((reward) => [reward, 0]));
  });

  it("the parts of several rubrics go with what is kept, so that steps are credited by the first", async () => {
    const { judged } = judge(() => 0);
    const environment = env(new RubricGroup([new Rubric([judged]), new Rubric([length], { weights: [10] })]));
    const line = new Line({ ...FOUR, config: { state_columns: ["trajectory"] }, environment });
    const first = line.next(3);
    await advance(KEEP_AGE_MS + 200);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const second = line.next(9);
    await advance(2_000);
    await second.over;
    type Stepped = { reward: number; trajectory: { reward: number; advantage: number }[] };
    const rows = line.rows() as unknown as Stepped[];
    expect(rows.map(({ reward, trajectory: [step] }) => [reward, step?.reward, step?.advantage])).toEqual(
      [1, 2, 3, 5].map((own) => [11 * own, own, own - 11 / 4]),
    );
  });

  it("one whose scoring takes long is kept before it and after it, and only what was being scored is scored again", async () => {
    const { scored, judged } = judge((answer) => (answer === 2 ? Number.POSITIVE_INFINITY : 3_000));
    const line = new Line({ ...FOUR, environment: env(new Rubric([judged])) });
    const first = line.next(3);
    await advance(KEEP_AGE_MS + 200);
    expect([kept(line), begun(line)]).toEqual([[[0]], [[0, 0, 1, 2]]]);
    await advance(3_000 + KEEP_AGE_MS);
    // The second was never scored.
    expect([kept(line), begun(line)]).toEqual([
      [[0], [0, 0, 2]],
      [[0, 1], [0]],
    ]);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const again = judge(() => 0);
    const second = line.next(9, { environment: env(new Rubric([again.judged])) });
    await advance(2_000);
    await second.over;
    expect([scored, again.scored]).toEqual([
      [1, 2, 3],
      [2, 5],
    ]);
    expect([line.calls, line.rows().map(({ reward }) => reward)]).toEqual([5, [1, 2, 3, 5]]);
  });

  it("what other code has scored is scored anew, from what is kept", async () => {
    const { judged } = judge(() => 0);
    const line = new Line({ ...FOUR, environment: env(new Rubric([judged])) });
    const first = line.next(3);
    await advance(KEEP_AGE_MS + 200);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const again = judge(() => 0);
    const second = line.next(9, { environment: env(new Rubric([again.judged])), envDigest: "b" });
    await advance(2_000);
    await second.over;
    expect(again.scored).toEqual([1, 2, 3, 5]);
    expect([line.calls, line.rows().map(({ reward }) => reward)]).toEqual([5, [1, 2, 3, 5]]);
  });
});

describe("scores wait for all rollouts of their example", () => {
  const sees = async (rubric: Rubric, changes: object = {}): Promise<number[][]> => {
    const { scored, judged } = judge(() => 0);
    rubric.addRewardFunc(judged);
    const line = new Line({ ...FOUR, environment: env(rubric), ...changes });
    const before: number[][] = [];
    line.next(3);
    await advance(KEEP_AGE_MS + 200);
    before.push([...scored], kept(line)[0] ?? []);
    return before;
  };

  it("where a group function judges them, where a rubric has a way of scoring of its own, and where scoring is postponed", async () => {
    const mean = groupReward(function mean({ states }: GroupRewardContext) {
      return states.map(() => 0);
    });
    class Own extends Rubric {
      override async scoreGroup(...given: Parameters<Rubric["scoreGroup"]>): Promise<void> {
        await super.scoreGroup(...given);
      }
    }
    const none = [[], [0, 0, 1, 2]];
    expect(await sees(new Rubric([mean]))).toEqual(none);
    expect(await sees(new Own())).toEqual(none);
    expect(await sees(new Rubric(), { config: { no_interleave_scoring: true } })).toEqual(none);
  });
});
