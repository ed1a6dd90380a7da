import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/config/plan/run-config.ts";
import { ExampleNaming } from "../../../../src/cli/exports/example-naming.ts";

const problemOf = (rows: readonly JsonObject[], rolloutsPerExample: number): string | null => {
  const naming = new ExampleNaming();
  for (const row of rows) naming.add(row);
  return naming.problem(rolloutsPerExample);
};
const row = (id: number, prompt: number | string = id) => ({ id, prompt: String(prompt), answer: "", info: {} });

describe("rows that name their example by `id` alone", () => {
  it("are taken as they come where those of an example stand together, as many as the folder says", () => {
    expect(
      problemOf(
        [0, 1, 2].map((id) => row(id)),
        1,
      ),
    ).toBeNull();
    expect(
      problemOf(
        [0, 0, 1, 1].map((id) => row(id)),
        2,
      ),
    ).toBeNull();
    expect(problemOf([], 1)).toBeNull();
  });

  it("have neither rates nor intervals where they stand otherwise, or nobody can tell; the import that groups them is named", () => {
    const apart = [0, 1, 0, 1].map((id) => row(id));
    for (const size of [1, 2]) expect(problemOf(apart, size)).toMatch(`4 rollouts of 2 examples do not stand as ${size} of each one: \`npx edgewise import\``);
    // As verifiers numbered them then: by rows, where row i is of example i mod n.
    expect(problemOf([row(0, "a"), row(0, "b"), row(1, "a"), row(1, "b")], 2)).toContain("`npx edgewise import`");
    expect(problemOf([row(0, "a"), row(0, "b"), row(1, "c"), row(1, "d")], 2)).toContain("groups equal prompts");
  });

  it("are not looked at where they carry example_id too", () => {
    expect(
      problemOf(
        [0, 1, 0].map((id) => ({ ...row(id), example_id: id })),
        1,
      ),
    ).toBeNull();
  });
});
