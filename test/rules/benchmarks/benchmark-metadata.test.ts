import { describe, expect, it } from "vitest";
import { readBenchmarkMetadata } from "../../../src/benchmarks/benchmark-metadata.ts";

describe("metadata.yaml of a benchmark", () => {
  it("says name, id, description and version, whatever else is in it; an empty one says nothing", () => {
    const yaml = 'name: bfcl-500\nid: 7\ndescription: "Function calls \\u2014 a sample."\nseed: 20240624\ncategories:\n- simple\ncounts: {simple: 55}\n';
    expect(readBenchmarkMetadata(yaml, "m.yaml")).toEqual({ name: "bfcl-500", id: "7", description: "Function calls — a sample.", version: null });
    expect(readBenchmarkMetadata("", "m.yaml")).toEqual({ name: null, id: null, description: null, version: null });
  });

  it("is refused by file and place where it is no YAML or no mapping, and one that unfolds without end", () => {
    const bomb = `a: &a [x]\n${"bcdefgh".replace(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`;
    for (const [yaml, why] of [
      ["name: [", /m\.yaml is no YAML: .*line 1/],
      ["- a\n- b", /m\.yaml: it must be a mapping/],
      ["name: {a: 1}", /m\.yaml: name: /],
      [bomb, /m\.yaml is no YAML: Excessive alias count/],
    ] as const) {
      expect(() => readBenchmarkMetadata(yaml, "m.yaml")).toThrow(expect.objectContaining({ code: "invalid_request", message: expect.stringMatching(why) }));
    }
  });
});
