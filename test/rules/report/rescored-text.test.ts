import { describe, expect, it } from "vitest";
import { type RescoredMetadata, rescoredMetadata } from "../../../src/report/metadata.ts";
import { rescoredText } from "../../../src/report/rescored-text.ts";

const FROM: RescoredMetadata = {
  run_id: "0a0a0a0a",
  env_id: "numbers",
  env_digest: null,
  rows_sha256: null,
  examples: "data",
  avg_reward: 0.5,
  avg_metrics: {},
  changed_examples: 2,
};
const FOLDER: RescoredMetadata = { ...FROM, from_folder: true };

describe("what the report says of rollouts that were scored again", () => {
  it("is what they were worth, how they are scored and how many examples changed; nothing of a run that made its own", () => {
    expect(rescoredText(undefined, "0b0b0b0b", 3, null)).toBeNull();
    expect(rescoredText({ ...FROM, rubric: "strict", errors_only: true }, "0b0b0b0b", 3, null)).toBe(
      "rollouts of run 0a0a0a0a, whose reward was 0.500, by the rubric strict, failed scorers only; 2 of 3 examples have other scores now (npx edgewise compare 0a0a0a0a 0b0b0b0b)",
    );
  });

  it("names as what to compare with only what is found: the folder where it is known, a run that the service knows, else nothing", () => {
    expect(rescoredText(FOLDER, "0b0b0b0b", 3, "imported/my log")).toContain("(npx edgewise compare 'imported/my log' 0b0b0b0b)");
    expect(rescoredText({ ...FOLDER, run_id: null }, "0b0b0b0b", 3, "logs/one")).toMatch(/^rollouts of logs\/one, .*compare logs\/one 0b0b0b0b\)$/);
    for (const from of [FOLDER, { ...FOLDER, run_id: null }]) expect(rescoredText(from, "0b0b0b0b", 3, null)).not.toContain("compare");
  });

  it("tells rows that were uploaded from those of a run of the service, and never names the upload", () => {
    const { avg_reward: _, avg_metrics: __, changed_examples: ___, ...source } = FROM;
    expect(rescoredMetadata({ rescored_from: { ...source, results: "f".repeat(64) } }, undefined)).toEqual({
      rescored_from: { ...source, from_folder: true, changed_examples: 0 },
    });
    expect(rescoredMetadata({ rescored_from: source }, undefined)).toEqual({ rescored_from: { ...source, changed_examples: 0 } });
  });
});
