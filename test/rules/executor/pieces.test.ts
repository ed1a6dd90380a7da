import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { KEEP_AGE_MS } from "../../../src/limits.ts";
import { type GroupRewardContext, groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { begun, env, kept, length, Line, NEVER } from "../../support/run/executor-line.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How much longer each answer is than the mean of its example's: nothing of it can be said of one rollout alone. */
const ahead = groupReward(function ahead({ completions }: GroupRewardContext) {
  const lengths = completions.map((completion) => length({ completion }));
  const mean = lengths.reduce((sum, each) => sum + each, 0) / lengths.length;
  return lengths.map((each) => each - mean);
});

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("rollouts that are generated while their unit is not done", () => {
  it("are kept when the executor stops, and whoever has the unit next asks for the others only", async () => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 4, environment: env(new Rubric([ahead])) });
    const first = line.next(3);
    await advance(200);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    expect(kept(line)).toEqual([[0, 0, 1, 2]]);
    const second = line.next(9);
    await advance(1_000);
    await second.over;
    expect(line.calls).toBe(5);
    // The fourth call was never answered, the fifth is the fourth rollout.
    expect(line.rows().map(({ rollout_index, completion, reward }) => [rollout_index, completion[0]?.content.length, reward])).toEqual([
      [0, 1, 1 - 11 / 4],
      [1, 2, 2 - 11 / 4],
      [2, 3, 3 - 11 / 4],
      [3, 5, 5 - 11 / 4],
    ]);
    expect([kept(line), line.run?.head.totals.rollouts, line.run?.head.status]).toEqual([[], 4, "COMPLETED"]);
  });

  it("are kept by age, so that an executor that is killed loses what is in flight and no more", async () => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 4 });
    line.next(3);
    await advance(KEEP_AGE_MS - 100);
    expect(kept(line)).toEqual([]);
    await advance(200);
    expect(kept(line)).toEqual([[0, 0, 1, 2]]);
  });

  it("are not written at all where units are done in a moment", async () => {
    const commits: object[] = [];
    const line = new Line({ units: 6, lanes: 8, rollouts: 4 });
    const { over } = line.next(99, {
      async onCall(name, send, request) {
        if (name === "commit") commits.push(request);
        return send();
      },
    });
    await advance(5_000);
    await over;
    expect(line.run?.head.status).toBe("COMPLETED");
    expect(commits.length).toBeGreaterThan(0);
    for (const commit of commits) expect(commit).not.toHaveProperty("pieces");
  });

  it("wait for their scores where scoring is slow, and are scored again without a call when it is killed", async () => {
    let scorings = 0;
    const judged = async (given: Parameters<typeof length>[0]): Promise<number> => {
      await (scorings++ < 2 ? NEVER : sleep(10));
      return length(given);
    };
    const line = new Line({ units: 2, lanes: 2, rollouts: 1, environment: env(new Rubric([judged])) });
    const first = line.next(2);
    await advance(KEEP_AGE_MS + 200);
    // Known as rollouts that are not done with: their scores will be kept in their place.
    expect([kept(line), begun(line)]).toEqual([
      [[0], [1]],
      [
        [0, 0],
        [1, 0],
      ],
    ]);
    first.run.call("interrupt", null);
    await advance(3_000);
    await first.over;
    expect(first.run.resume()).toMatchObject({ ok: true });
    const second = line.next(2);
    await advance(2_000);
    await second.over;
    expect([line.calls, scorings, line.rows().map(({ reward }) => reward)]).toEqual([2, 4, [1, 2]]);
  });

  it("of a group are scored by whoever has the unit next, without a call, and the scores of one that was given up count no more", async () => {
    let scorings = 0;
    const slow = groupReward(async function slow({ completions }: GroupRewardContext) {
      await sleep(scorings++ === 0 ? 60_000 : 10);
      return completions.map((completion) => 10 * scorings + length({ completion }));
    });
    const line = new Line({ units: 1, lanes: 8, rollouts: 3, environment: env(new Rubric([slow])) });
    let silent = false;
    const late: (() => unknown)[] = [];
    const first = line.next(3, {
      async onCall(_name, send) {
        if (!silent) return send();
        late.push(send);
        return NEVER;
      },
    });
    await advance(KEEP_AGE_MS + 200);
    expect(kept(line)).toEqual([[0, 0, 1, 2]]);
    silent = true;
    await advance(first.run.timing.lease + first.run.timing.grace + 1_000);
    const second = line.next(3);
    await advance(2_000);
    await second.over;
    expect([line.calls, line.rows().map(({ reward }) => reward)]).toEqual([3, [21, 22, 23]]);
    await advance(60_000);
    for (const send of late) await send();
    expect([line.run?.head.totals.rollouts, line.run?.head.done, line.rows().map(({ reward }) => reward)]).toEqual([3, 1, [21, 22, 23]]);
  });

  it("wait for their turn to be scored where that is postponed, and are not generated again", async () => {
    const line = new Line({ units: 3, lanes: 8, rollouts: 1, config: { no_interleave_scoring: true }, environment: env(new Rubric([length])) });
    const first = line.next(2);
    await advance(KEEP_AGE_MS + 200);
    expect(kept(line)).toEqual([
      [0, 0],
      [1, 0],
    ]);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const second = line.next(9);
    await advance(2_000);
    await second.over;
    expect([line.calls, line.rows().map(({ reward }) => reward)]).toEqual([4, [1, 2, 4]]);
  });

  it("are scored once each where they are scored by themselves", async () => {
    const scored: number[] = [];
    const counted = (given: Parameters<typeof length>[0]): number => {
      scored.push(length(given));
      return length(given);
    };
    const line = new Line({ units: 1, lanes: 8, rollouts: 3, config: { independent_scoring: true }, environment: env(new Rubric([counted])) });
    const first = line.next(2);
    await advance(200);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const second = line.next(9);
    await advance(2_000);
    await second.over;
    expect([scored, line.rows().map(({ reward }) => reward)]).toEqual([
      [1, 2, 4],
      [1, 2, 4],
    ]);
  });

  it("stay with the executor where they could not be stored before its lease ended", async () => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 4 });
    let claims = 0;
    const isLost = (name: string): boolean => name === "commit" || name === "beat" || (name === "claim" && claims++ > 0);
    const first = line.next(3, { onCall: async (name, send) => (isLost(name) ? NEVER : send()) });
    await advance(first.run.timing.lease + 3_000);
    await first.over;
    expect([kept(line), line.saved.isEmpty]).toEqual([[], false]);
    const second = line.next(9);
    await advance(2_000);
    await second.over;
    expect([line.calls, line.run?.head.status, line.saved.isEmpty]).toEqual([5, "COMPLETED", true]);
  });

  it("are generated again when what was kept of them is gone, and the run says so", async () => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 4 });
    const first = line.next(3);
    await advance(200);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    line.objects.clear();
    const second = line.next(99);
    await advance(2_000);
    await second.over;
    expect([line.calls, line.run?.head.status]).toEqual([8, "COMPLETED"]);
    expect(line.notes).toEqual([
      expect.stringMatching(/^Rollouts that were kept of example 0 are lost, and generated again: .*segments\/1-2-1\.jsonl is missing/),
    ]);
  });

  it("are drawn again where infrastructure had ended them", async () => {
    const line = new Line({ units: 1, lanes: 8, rollouts: 3 });
    const failing = async (): Promise<string> => {
      const call = ++line.calls;
      if (call === 2) throw new EdgewiseError("provider_error", "no");
      return call === 3 ? NEVER : "yes";
    };
    const first = line.next(0, { answer: failing });
    await advance(KEEP_AGE_MS + 200);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    expect(kept(line)).toEqual([[0, 0]]);
  });

  it("are kept with their unit only where their state is no JSON, of which the key is named once", async () => {
    const line = new Line({
      units: 2,
      lanes: 8,
      rollouts: 4,
      environment: env(new Rubric(), { afterwards: (state) => Object.assign(state, { board: { seen: new Set() } }) }),
    });
    const first = line.next(6);
    await advance(3 * KEEP_AGE_MS);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    expect(kept(line)).toEqual([]);
    expect(line.notes).toEqual(["Rollouts are kept with their whole example only, since their state is no JSON: state.board.seen is a Set"]);
  });
});
