import { describe, expect, it } from "vitest";
import type { UnitRange } from "../../../../durable-objects/run/protocol.ts";
import { LivePrefix } from "../../../../durable-objects/run/reading/live.ts";
import { liveText } from "../../../../src/report/statistics/live-text.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

/** A run of `n` permuted examples of which those in `done` are committed with these rewards, all others handed out. */
function working(
  n: number,
  done: readonly (readonly [unit: number, reward: number])[],
  changes: ConstructorParameters<typeof RuleRun>[0] = {},
  permuted: readonly UnitRange[] = [{ lo: 0, hi: n }],
): RuleRun {
  const run = new RuleRun({ num_examples: n, max_concurrent: n, order_seed: 0, ...changes });
  run.pin(n, changes.order_seed === undefined && "order_seed" in changes ? {} : { permuted });
  const grant = run.grant("worker", 64);
  for (let seq = 1; run.head.cursor < n; seq++) run.claim(grant, seq, { free: 64 });
  for (const [unit, reward] of done) run.commit(grant, [unit], [summary({ reward })]);
  return run;
}
const look = (run: RuleRun, live = new LivePrefix()) => live.look(run.ledger, run.head);

describe("the mean of a run that goes on", () => {
  it("is over the first examples without a gap, whatever else is done, with the range that open ones leave", () => {
    const run = working(10, [
      [0, 1],
      [1, 0],
      [2, 1],
      [4, 1],
      [7, 1],
    ]);
    expect(look(run)).toEqual({
      order: "permuted",
      examples: 3,
      of: 10,
      mean: 2 / 3,
      ci95: [expect.closeTo(0.2077, 3), expect.closeTo(0.9385, 3)],
      range: [0.4, 0.9],
    });
    expect(look(working(10, [[1, 1]]))).toMatchObject({ examples: 0, mean: null, ci95: null });
  });

  it("follows the run, and begins anew where a resume puts other rows in the place of some", () => {
    const live = new LivePrefix();
    const run = working(3, [[0, 1]]);
    expect(look(run, live)).toMatchObject({ examples: 1, mean: 1 });
    const { ticket, epoch } = { ticket: run.ledger.tickets()[0]?.id ?? 0, epoch: run.ledger.tickets()[0]?.epoch ?? 0 };
    run.call("commit", {
      protocol: 1,
      ticket,
      epoch,
      segment: `${ticket}-${epoch}-99`,
      units: [{ unit: 1, offset: 0, length: 10, rollouts: [summary({ reward: 0, error: "timeout" })] }],
    });
    // An error is no score of 0: it may be anything.
    expect(look(run, live)).toMatchObject({ examples: 2, mean: 1, range: [1 / 3, 1] });
  });

  it("of a run in the order of its data set is that of all that is done, and says so", () => {
    const run = working(
      10,
      [
        [3, 1],
        [4, 0],
      ],
      { order_seed: undefined as never },
    );
    const live = look(run);
    expect(live).toEqual({ order: "data", examples: 2, mean: 0.5, ci95: null, range: [0.1, 0.9] });
    expect(live === null ? null : liveText(live)).toBe("0.500 over 2 examples, in data order: early numbers may mislead; with what is open 0.100 to 0.900");
  });

  it("says in few words what it is of", () => {
    expect(liveText({ order: "permuted", examples: 214, of: 500, mean: 0.532, ci95: [0.465, 0.598], range: [0.5, 0.571] })).toBe(
      "0.532 over the first 214 of 500, in random order; 95 % interval 0.465 to 0.598, with what is open 0.500 to 0.571",
    );
    expect(liveText({ order: "permuted", examples: 214, of: 8_192, first_part: true, mean: 0.532, ci95: null, range: null })).toBe(
      "0.532 over 214 of the first 8,192 of the data set, in random order: the rest may differ",
    );
    expect(liveText({ order: "permuted", examples: 9_000, mean: 0.532, ci95: null, range: null })).toBe(
      "0.532 over the first 9,000, in random order part by part: the rest may differ",
    );
    expect(liveText({ order: "permuted", examples: 0, of: 500, mean: null, ci95: null, range: [0, 1] })).toBeNull();
  });

  it("of a run of several parts is of the first while it plays that, of no sample beyond it", () => {
    const parts = [
      { lo: 0, hi: 4 },
      { lo: 4, hi: 8 },
    ];
    const playedTo = (played: number) => {
      const done = Array.from({ length: played }, (_, unit) => [unit, unit % 2] as const);
      const { examples, of, first_part, ci95 } = look(working(8, done, {}, parts)) ?? {};
      return { examples, of, first_part, interval: ci95 !== null };
    };
    expect(playedTo(3)).toEqual({ examples: 3, of: 4, first_part: true, interval: true });
    expect(playedTo(6)).toEqual({ examples: 6, of: undefined, first_part: undefined, interval: false });
  });

  it("is none before anything is pinned, and once the run has settled", () => {
    const run = new RuleRun({ num_examples: 1, order_seed: 0 });
    expect(look(run)).toBeNull();
    run.pin(1, { permuted: [{ lo: 0, hi: 1 }] });
    run.work();
    run.settle();
    expect(look(run)).toBeNull();
  });
});
