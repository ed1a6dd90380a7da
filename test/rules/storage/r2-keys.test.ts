import { describe, expect, it } from "vitest";
import {
  configKey,
  datasetKey,
  inputsKey,
  isDigest,
  isRunId,
  OUTPUT_FILES,
  outputKey,
  runFolder,
  runPrefix,
  segmentKey,
  segmentName,
  segmentPrefix,
} from "../../../r2-layout/keys.ts";

const RUN = "0a1b2c3d";
const DIGEST = "ab".repeat(32);

describe("keys of R2 objects", () => {
  it("are the ones of the storage schema", () => {
    expect(OUTPUT_FILES.map((file) => outputKey("gsm8k", "openai/gpt-4.1-mini", RUN, file))).toEqual([
      "outputs/evals/gsm8k--openai--gpt-4.1-mini/0a1b2c3d/results.jsonl",
      "outputs/evals/gsm8k--openai--gpt-4.1-mini/0a1b2c3d/metadata.json",
      "outputs/evals/gsm8k--openai--gpt-4.1-mini/0a1b2c3d/eval.log",
    ]);
    expect(configKey(RUN)).toBe("runs/0a1b2c3d/config.json");
    expect(inputsKey(RUN, DIGEST)).toBe(`runs/0a1b2c3d/inputs/${DIGEST}.jsonl`);
    expect(segmentKey(RUN, segmentName(3, 12, 0))).toBe("runs/0a1b2c3d/segments/3-12-0.jsonl");
    expect(datasetKey(DIGEST)).toBe(`datasets/${DIGEST}`);
  });

  it("lie under the prefixes by which a run is listed and deleted", () => {
    expect(segmentKey(RUN, "1-2-3").startsWith(segmentPrefix(RUN))).toBe(true);
    for (const key of [configKey(RUN), inputsKey(RUN, DIGEST), segmentPrefix(RUN)]) expect(key.startsWith(runPrefix(RUN))).toBe(true);
  });

  it("keep the folders of an environment of the hub nested, and every slash of a model out", () => {
    expect(runFolder("owner/name", "a/b/c:free", RUN)).toBe("owner/name--a--b--c:free/0a1b2c3d");
  });

  it.each(["", "0A1B2C3D", "0a1b2c3", "0a1b2c3d/", "../../up", "0a1b2c3d\n"])("refuse the run id %j", (id) => {
    expect(isRunId(id)).toBe(false);
    expect(() => runPrefix(id)).toThrow(RangeError);
    expect(() => runFolder("env", "model", id)).toThrow(RangeError);
  });

  it.each(["", "ab", "AB".repeat(32), "g".repeat(64), `${DIGEST}\n`])("refuse the digest %j", (digest) => {
    expect(isDigest(digest)).toBe(false);
    expect(() => datasetKey(digest)).toThrow(RangeError);
    expect(() => inputsKey(RUN, digest)).toThrow(RangeError);
  });

  it.each(["", "1-2", "1-2-3-4", "-1-2-3", "1-2-x", "1-2-3/.."])("refuse the segment %j", (segment) => {
    expect(() => segmentKey(RUN, segment)).toThrow(RangeError);
  });
  it.each([-1, 1.5, Number.NaN, 1e9])("refuse a segment numbered %d", (n) => {
    expect(() => segmentName(0, 0, n)).toThrow(RangeError);
  });

  it.each([
    ["../up", "model"],
    ["/root", "model"],
    ["a//b", "model"],
    ["a/./b", "model"],
    ["a\\b", "model"],
    ["env", "mo\u0000del"],
    ["env", "..\\model"],
  ])("refuse the folder of environment %j with model %j", (env, model) => {
    expect(() => outputKey(env, model, RUN, "results.jsonl")).toThrow(RangeError);
  });

  it("refuse a name that R2 would refuse, counted in bytes", () => {
    const around = outputKey("e", "m", RUN, "results.jsonl").length - 1;
    expect(() => outputKey("é".repeat((1024 - around) / 2), "m", RUN, "results.jsonl")).not.toThrow();
    expect(() => outputKey("é".repeat((1024 - around) / 2 + 1), "m", RUN, "results.jsonl")).toThrow(RangeError);
  });
});
