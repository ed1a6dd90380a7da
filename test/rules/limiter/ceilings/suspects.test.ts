import { describe, expect, it } from "vitest";
import { bindingKind, type Suspicion, type Uses } from "../../../../durable-objects/limiter/ceilings/suspects.ts";

const uses = (requests: number, tokens: number, concurrent: number): Uses => ({
  requests,
  tokens,
  input_tokens: tokens / 2,
  output_tokens: tokens / 2,
  concurrent,
});
const SUSPICION: Suspicion = {
  uses: uses(600, 300_000, 20),
  before: [],
  in_flight: { least: 20, most: 20 },
  isFirst: true,
  clean: uses(0, 0, 0),
  limits: {},
  sure: new Set(),
  tried: new Set(),
  buckets: new Set(),
  plenty: new Set(),
};

describe("what a refusal that says nothing is for", () => {
  it("is requests where nothing tells the kinds apart: a mix that stays the same is bounded as well by either", () => {
    expect(bindingKind(SUSPICION)).toBe("requests");
  });

  it("is the kind of which the same was used each time", () => {
    expect(bindingKind({ ...SUSPICION, before: [uses(500, 299_000, 30), uses(700, 302_000, 12)] })).toBe("tokens");
    expect(bindingKind({ ...SUSPICION, before: [uses(500, 250_000, 20), uses(700, 380_000, 20)] })).toBe("concurrent");
  });

  it("is no kind of which more went well lately", () => {
    expect(bindingKind({ ...SUSPICION, clean: uses(900, 450_000, 10) })).toBe("concurrent");
  });

  it("may be one that is saved up, though more of it went well in a minute in which there was some", () => {
    const known = { tried: new Set(["requests"] as const), limits: { requests: 600 }, clean: uses(900, 450_000, 10) };
    expect(bindingKind({ ...SUSPICION, ...known, buckets: new Set(["requests"]) })).toBe("requests");
  });

  it("is not requests in flight where one was refused with nothing open", () => {
    const before = [uses(500, 250_000, 20), uses(700, 380_000, 20)];
    expect(bindingKind({ ...SUSPICION, before, in_flight: { least: 0, most: 20 } })).toBe("requests");
  });

  it("is no kind that the endpoint says there is plenty of", () => {
    expect(bindingKind({ ...SUSPICION, plenty: new Set(["requests"]) })).toBe("tokens");
  });

  it("is what was just raised, and what is known where nothing was refused for a while: it may have fallen", () => {
    expect(bindingKind({ ...SUSPICION, tried: new Set(["tokens"]), sure: new Set(["requests", "tokens"]) })).toBe("tokens");
    expect(bindingKind({ ...SUSPICION, sure: new Set(["concurrent"]), limits: { concurrent: 20 } })).toBe("concurrent");
  });

  it("is what was found a moment ago, where nothing tells more: of that there is less", () => {
    const before = [uses(400, 200_000, 40)];
    expect(bindingKind({ ...SUSPICION, before, isFirst: false, limits: { tokens: 800_000 } })).toBe("tokens");
  });

  it("is requests in flight where one more or less of them is all the difference, and they are known", () => {
    const before = [uses(596, 299_000, 21), uses(590, 298_000, 20)];
    expect(bindingKind({ ...SUSPICION, before, tried: new Set(["concurrent"]), limits: { concurrent: 20 } })).toBe("concurrent");
  });

  it("is what was sure and has fallen, once less of it was used at each of several refusals", () => {
    const fallen = { in_flight: { least: 10, most: 10 }, sure: new Set(["concurrent"] as const), limits: { concurrent: 20 } };
    const before = [uses(630, 318_000, 10), uses(660, 330_000, 10)];
    expect(bindingKind({ ...SUSPICION, ...fallen, uses: uses(600, 300_000, 10), before, isFirst: false })).toBe("concurrent");
  });
});
