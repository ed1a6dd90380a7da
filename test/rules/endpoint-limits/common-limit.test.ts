import { describe, expect, it } from "vitest";
import { partOf, type Sharing, sharedPlace, sharingGroups } from "../../../src/endpoint-limits/common-limit.ts";

const at = (place: string | null, most = 32): Sharing => ({ place, most });

describe("a common limit of several evaluations", () => {
  it.each([
    ["all at one place, each with its own limit", 10, [at("a", 2), at("a"), at("a")], [[[0, 1, 2], 10]]],
    ["all at one place, which cannot use all of it", 100, [at("a", 2), at("a", 3)], [[[0, 1], 5]]],
    [
      "two places: each has what its members would have alone",
      12,
      [at("a"), at("b"), at("a")],
      [
        [[0, 2], 8],
        [[1], 4],
      ],
    ],
    [
      "fewer places than evaluations: each endpoint has about the same",
      3,
      [at("a"), at("a"), at("a"), at("b")],
      [
        [[0, 1, 2], 1],
        [[3], 2],
      ],
    ],
    [
      "several places of one evaluation, or unknown ones: by itself",
      9,
      [at(null), at(null), at("a")],
      [
        [[0], 3],
        [[1], 3],
        [[2], 3],
      ],
    ],
    [
      "no limit of their own",
      10,
      [at("a", -1), at("b", 0)],
      [
        [[0], 5],
        [[1], 5],
      ],
    ],
    [
      "fewer places than endpoints: some wait",
      1,
      [at("a"), at("b")],
      [
        [[0], 1],
        [[1], 0],
      ],
    ],
  ] as const)("%s", (_, total, evals, groups) => {
    expect(sharingGroups(total, evals).map(({ members, part }) => [members, part])).toEqual(groups);
  });

  it("is never exceeded by all parts together, and gives each group something as long as there are as many places", () => {
    for (let total = 1; total < 40; total++) {
      for (const places of ["aab", "abc", "aaaa", "abab-"]) {
        for (const most of [1, 7, 32, -1]) {
          const groups = sharingGroups(
            total,
            [...places].map((place) => at(place === "-" ? null : place, most)),
          );
          const sum = groups.reduce((all, { part }) => all + part, 0);
          expect(sum).toBe(Math.min(total, most <= 0 ? total : most * places.length));
          expect(groups.every(({ part }) => part > 0)).toBe(total >= groups.length);
        }
      }
    }
  });

  it("is a part of its own for who is alone, and a name and a number for who shares it", () => {
    const [together, alone] = sharingGroups(12, [at("a", 2), at("b"), at("a")]);
    if (together === undefined || alone === undefined) throw new Error("there are two groups");
    expect([partOf(together, together.part, 2, "x-1"), partOf(together, together.part, -1, "x-1")]).toEqual([
      { max_concurrent: 2, common_limit: { id: "x-1", concurrent: 7 } },
      { max_concurrent: 7, common_limit: { id: "x-1", concurrent: 7 } },
    ]);
    expect(partOf(alone, alone.part, 32, "x-2")).toEqual({ max_concurrent: 5 });
  });

  it("is shared where address, key and class of the model are the same, and by nobody with replicas", () => {
    const run = { base_url: "https://api.openai.com/v1", api_key_var: "OPENAI_API_KEY", model: "gpt-4o" };
    const same = sharedPlace(run);
    expect(same).not.toBeNull();
    expect([sharedPlace({ ...run, base_url: "https://API.openai.com/v1/" }), sharedPlace({ ...run, model: "gpt-4o-2024-08-06" })]).toEqual([same, same]);
    for (const other of [{ base_url: "https://other.example/v1" }, { api_key_var: "OTHER_KEY" }, { model: "gpt-4o-mini" }])
      expect(sharedPlace({ ...run, ...other })).not.toBe(same);
    expect(sharedPlace({ ...run, replicas: [run, run] })).toBeNull();
  });
});
