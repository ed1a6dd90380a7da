import { describe, expect, it } from "vitest";
import { besideOrBelow, Distribution, KEPT_VALUES } from "../../../src/report/statistics/distribution.ts";
import { concurrencyText, endpointText, samplingText } from "../../../src/report/settings.ts";

const linesOf = (values: readonly number[]): string[] => {
  const distribution = new Distribution();
  for (const value of values) distribution.add(value);
  return distribution.lines("rewards");
};

describe("the distribution of rewards", () => {
  it("has eight bars from the lowest value to the highest, and what there is at all can be seen", () => {
    const lines = linesOf([...Array.from({ length: 100 }, () => 0), 0.5, 1, 1]);
    expect(lines).toHaveLength(9);
    expect(lines[1]).toBe(`0.000 to 0.125 ${"█".repeat(20)} 100`);
    expect(lines[2]).toBe("0.125 to 0.250 0");
    expect(lines[5]).toBe("0.500 to 0.625 █ 1");
    expect(lines[8]).toBe("0.875 to 1.000 █ 2");
  });

  it("is one line where all values are the same, and says where there is none", () => {
    expect(linesOf([0.25, 0.25])).toEqual(["rewards:", "all values = 0.250"]);
    expect(linesOf([])).toEqual(["rewards:", "no values"]);
  });

  it("lines up negative values", () => {
    const widths = linesOf([-10, 2])
      .slice(1)
      .map((line) => line.indexOf(" to "));
    expect(new Set(widths).size).toBe(1);
  });

  it("says when it stands on the first values only", () => {
    const lines = linesOf(Array.from({ length: KEPT_VALUES + 5 }, (_, i) => i % 2));
    expect(lines[0]).toBe(`rewards (of the first ${KEPT_VALUES}):`);
    expect(lines.at(-1)).toContain(String(KEPT_VALUES / 2));
  });

  it("stands beside another one where there is room, else above it", () => {
    expect(besideOrBelow(["ab", "c"], ["de"], 20)).toEqual(["ab    de", "c"]);
    expect(besideOrBelow(["ab", "c"], ["de"], 7)).toEqual(["ab", "c", "de"]);
  });
});

describe("settings in words", () => {
  it("name one endpoint by its address, several by number and addresses", () => {
    expect(endpointText("http://a/v1")).toBe("http://a/v1");
    expect(endpointText("http://a/v1,http://b/v1")).toBe("2 endpoints: http://a/v1, http://b/v1");
  });

  it("show as many at once as there can be", () => {
    expect(concurrencyText(32, 8)).toBe("8 at once");
    expect(concurrencyText(9, 10)).toBe("9 at once");
    expect(concurrencyText(-1, 10)).toBe("∞ at once");
    expect(concurrencyText(undefined, 10)).toBe("∞ at once");
  });

  it("leave out sampling that says nothing", () => {
    expect(samplingText({ n: 1, extra_body: {}, temperature: null })).toBeNull();
    expect(samplingText({ n: 1, temperature: 0.5, extra_body: { top_k: 5 }, stop: "x" })).toBe('temperature=0.5, extra_body={"top_k":5}, stop=x');
  });
});
