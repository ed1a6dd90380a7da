import { describe, expect, it } from "vitest";
import { LEAST_USED, SATURATED, utilisationOf } from "./full-fleet.ts";

describe("a full fleet", () => {
  it("uses at least 95 % of its requests with 20 runs that want everything", { timeout: 120_000 }, () => {
    for (const seed of [1, 2]) expect(utilisationOf(seed, SATURATED)).toBeGreaterThan(LEAST_USED);
  });
});
