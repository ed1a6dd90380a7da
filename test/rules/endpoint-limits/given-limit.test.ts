import { describe, expect, it } from "vitest";
import { capsOf, givenAmounts } from "../../../src/endpoint-limits/given-limit.ts";

const URL = "https://api.example.com/v1";
const place = { base_url: URL, api_key_var: "ONE_API_KEY", model_class: "vendor/model-4-mini" };
describe("limits at a place", () => {
  it("are those of its address, however that is written, its key and its model", () => {
    const at = (more: object) => givenAmounts([{ base_url: URL, limits: { requests: 5 }, ...more }], place);
    expect(at({})).toEqual({ requests: 5 });
    for (const base_url of [`${URL}/`, "HTTPS://API.example.com:443/v1", "https://user:pw@api.example.com/v1?a=b"])
      expect(at({ base_url })).toEqual({ requests: 5 });
    for (const base_url of ["https://api.example.com/v2", "https://api.example.com", "http://api.example.com/v1"]) expect(at({ base_url })).toBeNull();
    expect([at({ api_key_var: "ONE_API_KEY" }), at({ api_key_var: "TWO_API_KEY" })]).toEqual([{ requests: 5 }, null]);
    expect([at({ model: "vendor/*" }), at({ model: "*mini" }), at({ model: "vendor/model-4" })]).toEqual([{ requests: 5 }, { requests: 5 }, null]);
  });

  it("are those of a model by any of its names that share a limit", () => {
    const dated = { ...place, model_class: "gpt-4.1-mini" };
    expect(givenAmounts([{ base_url: URL, model: "gpt-4.1-mini-2025-04-14", limits: { requests: 5 } }], dated)).toEqual({ requests: 5 });
    expect(givenAmounts([{ base_url: URL, model: "gpt-4.1-2025-04-14", limits: { requests: 5 } }], dated)).toBeNull();
  });

  it("are of each kind the strictest", () => {
    const given = [
      { base_url: URL, limits: { requests: 100, concurrent: 9 } },
      { base_url: URL, model: "vendor/*", limits: { requests: 200, tokens: 7 } },
      { base_url: "https://other.example", limits: { tokens: 1 } },
    ];
    expect(givenAmounts(given, place)).toEqual({ requests: 100, concurrent: 9, tokens: 7 });
    expect(givenAmounts(given, { ...place, base_url: "embedded" })).toBeNull();
  });

  it("are shared by the runs of a team that were told of them", () => {
    const limits = [{ base_url: URL, limits: { requests: 100 } }];
    expect(capsOf({ limits }, place, "model")).toEqual([{ id: "given/default", limits: { requests: 100 } }]);
    expect(capsOf({ limits, team: "acme" }, place, "judges")).toEqual([{ id: "given/acme", limits: { requests: 100 } }]);
    expect(capsOf({}, place, "model")).toEqual([]);
    expect(capsOf({ limits }, { ...place, base_url: "https://judge.example/v1" }, "judges")).toEqual([]);
  });

  it("stand beside the common limit of a command, which is for its models", () => {
    const config = { limits: [{ base_url: URL, limits: { requests: 100 } }], common_limit: { id: "c0ffee", concurrent: 32 } };
    const given = { id: "given/default", limits: { requests: 100 } };
    expect(capsOf(config, place, "model")).toEqual([{ id: "command/default/c0ffee", limits: { concurrent: 32 } }, given]);
    expect(capsOf(config, place, "judges")).toEqual([given]);
  });
});
