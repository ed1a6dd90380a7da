import { expect, it } from "vitest";
import { occurrenceSchema } from "../../../src/alerts/occurrence.ts";
import { driftOccurrences } from "../../../src/drift/drift-occurrences.ts";
import type { DriftEvent } from "../../../src/drift/series.ts";

const OWNER = { name: "nightly", id: "of-this-one", env: "gsm8k" };
const level = { difference: -0.06, ci95: [-0.08, -0.04] } as const;

it("that a series drifts alerts once in each direction, and once more when it does so no more", () => {
  const lasting = new Set<string>();
  const told = (event: DriftEvent): readonly string[] =>
    driftOccurrences(OWNER, [event], [...lasting], 1_000).map((occurrence) => {
      expect(occurrenceSchema.parse(occurrence)).toEqual(occurrence);
      expect(occurrence).toMatchObject({ type: "drift", names: ["nightly", "gsm8k"], subject: { schedule: "nightly" } });
      const { key = "", state } = occurrence.condition ?? {};
      if (state === "on") lasting.add(key);
      else lasting.delete(key);
      return `${key.split("/").at(-1)} ${state}`;
    });
  expect(told({ type: "drift.began", run_id: null, reason: "reset" })).toEqual([]);
  expect(told({ type: "drift.worse", run_id: "r5", since: "r4", ...level })).toEqual(["worse on"]);
  expect(told({ type: "drift.better", run_id: "r7", since: "r7", ...level })).toEqual(["worse off", "better on"]);
  expect(told({ type: "drift.steady", run_id: "r9", since: "r9", ...level })).toEqual(["better off"]);
  expect(told({ type: "drift.steady", run_id: "r9", since: "r9", ...level })).toEqual([]);
  told({ type: "drift.worse", run_id: "r11", since: "r11", ...level });
  expect(told({ type: "drift.began", run_id: "r12", reason: "data.changed" })).toEqual(["worse off"]);
  const [first] = driftOccurrences(OWNER, [{ type: "drift.worse", run_id: "r5", since: "r4", ...level }], [], 1);
  expect(first?.text).toBe("nightly is worse since run r4: -0.060 (-0.080 to -0.040) of where it was, as run r5 shows.");
});
