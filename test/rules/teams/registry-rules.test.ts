import { describe, expect, it } from "vitest";
import { environmentName } from "../../../durable-objects/registry/environment-name.ts";
import { takesProjection } from "../../../durable-objects/registry/projection-rule.ts";

describe("a projection", () => {
  it("is taken first, then only when newer", () => {
    expect(takesProjection({ version: null }, { version: 1 })).toBe(true);
    expect(takesProjection({ version: 3 }, { version: 4 })).toBe(true);
    expect(takesProjection({ version: 3 }, { version: 3 })).toBe(false);
    expect(takesProjection({ version: 3 }, { version: 2 })).toBe(false);
  });
  it("does not bring a deleted run back", () => {
    expect(takesProjection(null, { version: 9 })).toBe(false);
  });
});

describe("an environment's name", () => {
  it.each([
    ["gsm8k", "", "gsm8k"],
    ["owner/gsm8k", "owner", "gsm8k"],
    ["owner/gsm8k@0.1.0", "owner", "gsm8k"],
    ["gsm8k@latest", "", "gsm8k"],
    ["", "", ""],
  ])("%s", (id, owner, name) => {
    expect(environmentName(id)).toEqual({ owner, name });
  });
});
