import { describe, expect, it } from "vitest";
import { addResponseModels, MOST_RESPONSE_MODELS, NO_RESPONSE_MODELS, ResponseModelMeter, responseModelsSince } from "../../../src/metrics/response-models.ts";
import { responseModelsText, severalModelsText } from "../../../src/report/text/response-models-text.ts";

const told = (...answers: readonly unknown[]) => {
  const meter = new ResponseModelMeter();
  for (const answer of answers) meter.count(answer);
  return meter.told;
};

describe("what answers say of their model", () => {
  it("is counted by model and configuration; what has the wrong form counts as nothing", () => {
    const counted = told(
      ...[
        { model: "m-1", system_fingerprint: "fp_a" },
        { model: "m-1", system_fingerprint: "fp_b" },
        { model: "m-1", system_fingerprint: "fp_a" },
      ],
      ...[{ model: "m-1" }, { model: 7, system_fingerprint: null }, null, "m-1", {}],
    );
    expect(counted).toEqual({
      seen: [
        { model: "m-1", system_fingerprint: "fp_a", answers: 2 },
        { model: "m-1", system_fingerprint: "fp_b", answers: 1 },
        { model: "m-1", system_fingerprint: null, answers: 1 },
      ],
    });
    expect(severalModelsText(counted)).toBe("m-1 (fp_a) 2 answers, m-1 (fp_b) 1 answer, m-1 1 answer");
  });

  it("stays small, whatever a server makes up: beyond the first eight answers are only counted, and texts are cut", () => {
    const counted = told(...Array.from({ length: 1_000 }, (_, i) => ({ model: "m".repeat(10_000), system_fingerprint: `fp_${i}` })));
    expect(counted.seen).toHaveLength(MOST_RESPONSE_MODELS);
    expect(counted.other_answers).toBe(1_000 - MOST_RESPONSE_MODELS);
    expect(JSON.stringify(counted).length).toBeLessThan(3_000);
    const both = addResponseModels(counted, told({ model: "n" }, { model: "m".repeat(10_000), system_fingerprint: "fp_0" }));
    expect(both.seen).toHaveLength(MOST_RESPONSE_MODELS);
    expect([both.seen[0]?.answers, both.other_answers]).toEqual([2, 993]);
    expect(responseModelsText(both)).toMatch(/, others 993 answers$/);
  });

  it("is told as sums, of which what is new is counted once, in whatever order they arrive", () => {
    const [a, b] = [{ model: "a" }, { model: "b" }];
    const [early, late] = [told(a, a), told(a, b, a, a, b)];
    const afterLate = responseModelsSince(NO_RESPONSE_MODELS, late);
    expect(afterLate).toEqual(late);
    expect(responseModelsSince(afterLate, early)).toEqual({ seen: [] });
    const rest = responseModelsSince(early, late);
    expect(addResponseModels(early, rest)).toEqual(late);
  });

  it("has one line where it is one, and none in a report", () => {
    const one = told({ model: "m-1", system_fingerprint: "fp_a" });
    expect([responseModelsText(one), severalModelsText(one), responseModelsText(), severalModelsText(undefined)]).toEqual(["m-1 (fp_a)", null, null, null]);
    const hostile = responseModelsText(told({ model: "m\n\u001b[31m" }));
    expect([hostile?.includes("\n"), hostile?.includes("\u001b")]).toEqual([false, false]);
  });
});
