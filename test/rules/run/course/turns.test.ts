import { describe, expect, it } from "vitest";
import type { CommitPiece, Grant } from "../../../../durable-objects/run/protocol.ts";
import { RuleRun } from "../../../support/run/rule-run.ts";

const four = (): RuleRun => RuleRun.open(10, { rollouts_per_example: 4 });

function keep(run: RuleRun, grant: Grant, pieces: readonly Pick<CommitPiece, "unit" | "rollouts" | "begun">[], segment: string): void {
  run.call("commit", { ...run.id(grant), segment, units: [], pieces: pieces.map((piece) => ({ ...piece, offset: 0, length: 10 })) });
}

describe("a rollout between two turns", () => {
  it("takes the place of where it stood between two turns, of which the newest is kept", () => {
    const run = four();
    const first = run.grant("a");
    run.block(first, 1);
    const [one, two, three] = [run.newSegment(first), run.newSegment(first), run.newSegment(first)];
    const stands = () => run.ledger.piecesIn({ lo: 0, hi: 10 }).map(({ segment, rollouts, begun = [] }) => [segment, rollouts, begun]);
    keep(run, first, [{ unit: 0, rollouts: [3], begun: [0, 1] }], one);
    keep(run, first, [{ unit: 0, rollouts: [], begun: [0, 1, 2] }], two);
    expect(stands()).toEqual([
      [one, [3], []],
      [two, [], [0, 1, 2]],
    ]);
    // Repeated after the next one went through: what it says is older.
    keep(run, first, [{ unit: 0, rollouts: [3], begun: [0, 1] }], one);
    keep(run, first, [{ unit: 0, rollouts: [1], begun: [3] }], three);
    expect(stands()).toEqual([
      [one, [3], []],
      [two, [], [0, 2]],
      [three, [1], []],
    ]);
    run.leave(first);
    const second = run.grant("b");
    const { pieces } = run.block(second, 1);
    expect(pieces?.flatMap(({ begun = [] }) => begun)).toEqual([0, 2]);
    const last = run.newSegment(second);
    keep(run, second, [{ unit: 0, rollouts: [0, 2] }], last);
    expect(stands()).toEqual(
      [
        [one, [3], []],
        [last, [0, 2], []],
        [three, [1], []],
      ].sort(),
    );
    expect(run.ledger.keptRollouts()).toBe(4);
  });

  it("stands where a later segment says, also when an earlier one is committed after it", () => {
    const run = four();
    const grant = run.grant("a");
    run.block(grant, 1);
    const [one, two] = [run.newSegment(grant), run.newSegment(grant)];
    keep(run, grant, [{ unit: 0, rollouts: [], begun: [0] }], two);
    keep(run, grant, [{ unit: 0, rollouts: [], begun: [0, 1] }], one);
    const pieces = run.ledger.piecesIn({ lo: 0, hi: 1 });
    expect(pieces.map(({ segment, begun }) => [segment, begun])).toEqual([
      [one, [1]],
      [two, [0]],
    ]);
  });
});
