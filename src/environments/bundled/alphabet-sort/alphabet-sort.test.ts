import { describe, expect, it } from "vitest";
import { runExample, testEnvironment } from "../../../testing/index.ts";
import { alphabetSort } from "./alphabet-sort.ts";

const tagged = (lines: readonly string[]): string => `<alphabetical_sorted>\n${lines.join("\n")}\n</alphabetical_sorted>`;

describe("alphabet-sort", () => {
  it("asks for lists that a seed alone decides, longer runs beginning with those of shorter ones", async () => {
    const inputs = await testEnvironment(alphabetSort).getEvalDataset(50);
    expect(await testEnvironment(alphabetSort).getEvalDataset(20)).toEqual(inputs.slice(0, 20));
    expect(await testEnvironment(alphabetSort, { args: { seed: 1 } }).getEvalDataset(5)).not.toEqual(inputs.slice(0, 5));
    expect(new Set(inputs.map(({ info }) => info?.sort_by))).toEqual(new Set(["first", "last"]));
    expect(new Set(inputs.map(({ info }) => info?.names))).toEqual(new Set([2, 3, 4, 5, 6]));
  });

  it("is worth 1 when it is sorted, little when two names have changed places, 0 without the tags", async () => {
    const environment = testEnvironment(alphabetSort, { args: { min_names: 6 } });
    const [input] = await environment.getEvalDataset(1);
    const sorted = String(input?.answer).split("\n");
    const reward = async (text: string) => (await runExample(environment, { answers: [text] })).state;
    expect(await reward(tagged(sorted.map((name) => `  ${name} `)))).toMatchObject({ reward: 1, metrics: { exactly_sorted: 1 } });
    const [first = "", second = "", ...rest] = sorted;
    const swapped = (await reward(tagged([second, first, ...rest]))).reward ?? 1;
    expect(swapped).toBeGreaterThan(0);
    expect(swapped).toBeLessThan(0.9);
    expect((await reward(sorted.join("\n"))).reward).toBe(0);
  });

  it("takes names of a data set, in either spelling, and leaves out rows with too few", async () => {
    const rows = [{ names: ["Ada Lovelace", "AlanTuring", "Grace Hopper"] }, { names: ["Solo"] }];
    const inputs = await testEnvironment(alphabetSort, { rows, args: { min_names: 3, max_names: 3 } }).getEvalDataset();
    expect(inputs).toHaveLength(1);
    const by = inputs[0]?.info?.sort_by;
    expect(inputs[0]?.answer).toBe(by === "first" ? "AdaLovelace\nAlanTuring\nGraceHopper" : "GraceHopper\nAdaLovelace\nAlanTuring");
  });

  it("refuses arguments that contradict each other", () => {
    expect(() => testEnvironment(alphabetSort, { args: { min_names: 5, max_names: 2 } })).toThrow(/min_names \(5\) is above max_names \(2\)/);
  });
});
