import { describe, expect, it } from "vitest";
import { comparability, comparedFacts } from "../../../src/metrics/comparison/comparability.ts";

const SOURCE = "a".repeat(64);

/** A `metadata.json`; each has code of its own, which is refused where nothing explains it. */
const file = (run_id: string, own: object = {}, more: object = {}) =>
  comparedFacts({
    env_id: "numbers",
    env_args: {},
    ...more,
    edgewise: { run_id, status: "COMPLETED", env_digest: `v2:${run_id.repeat(8)}`, rows_digest: { sha256: run_id.repeat(8) }, ...own },
  });
const original = file("0a0a0a0a", { rows_digest: { sha256: SOURCE } });
const again = (run_id: string, rescored_from: object, more: object = {}) =>
  file(run_id, { rescored_from: { run_id: "0a0a0a0a", rows_sha256: SOURCE, ...rescored_from } }, more);
const PURPOSE = "the scorers differ on purpose";
const warned = (...[a, b]: readonly ReturnType<typeof file>[]): string => {
  if (a === undefined || b === undefined) throw new Error("two runs");
  const { refusals, warnings } = comparability(a, b, false);
  expect(refusals).toEqual([]);
  return warnings.join("\n");
};

describe("two runs whose code differs", () => {
  it("are refused, unless the one scores the rollouts of the other again: then the scorers differ on purpose, either way round", () => {
    const other = file("0c0c0c0c");
    expect(comparability(original, other, false).refusals).toHaveLength(1);
    const b = again("0b0b0b0b", {});
    expect(warned(original, b)).toContain(PURPOSE);
    expect(warned(b, original)).toContain(PURPOSE);
    expect(comparability(other, b, false).refusals).toHaveLength(1);
  });

  it("are compared where both score the same rollouts again, also in another environment, and each scorer is named with its rubric", () => {
    const strict = again("0b0b0b0b", { rubric: "strict" });
    const elsewhere = again("0c0c0c0c", {}, { env_id: "letters", env_args: { hard: true } });
    expect(warned(strict, elsewhere)).toBe(
      "the same rollouts, scored by numbers (rubric strict) and by letters: the scorers differ on purpose, and the difference is theirs",
    );
  });

  it("are told by their rows: a run of that id whose rows are others by now is not the source; without a digest of its rows the id is what there is", () => {
    const grown = file("0a0a0a0a", { rows_digest: { sha256: "c".repeat(64) } });
    expect(comparability(grown, again("0b0b0b0b", {}), false).refusals).toHaveLength(1);
    expect(warned(grown, again("0b0b0b0b", { rows_sha256: null }))).toContain(PURPOSE);
    const unknown = again("0b0b0b0b", { run_id: null, rows_sha256: null });
    expect(comparability(file("0c0c0c0c"), unknown, false).refusals).toHaveLength(1);
    expect(comparability(again("0d0d0d0d", { run_id: null, rows_sha256: null }), unknown, false).refusals).toHaveLength(1);
  });
});
