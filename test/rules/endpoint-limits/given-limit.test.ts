import { describe, expect, it } from "vitest";
import { readGivenLimit } from "../../../src/config/endpoints/given-limit.ts";
import { capsOf, givenAmounts } from "../../../src/endpoint-limits/given-limit.ts";
import { MAX_GIVEN_AMOUNT } from "../../../src/limits.ts";

const URL = "https://api.example.com/v1";
const place = { base_url: URL, api_key_var: "ONE_API_KEY", model_class: "vendor/model-4-mini" };
const read = (row: Record<string, unknown>) => readGivenLimit(row, "limits.toml: [[limit]] #1", () => []);
const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("was accepted");
};

describe("a limit that is given", () => {
  it("is of an address, of one key and of models where it names them", () => {
    expect(read({ url: URL, requests_per_minute: 500, concurrent: 8 })).toEqual([{ base_url: URL, limits: { requests: 500, concurrent: 8 } }]);
    expect(
      read({ api_base_url: URL, api_key_var: "ONE_API_KEY", model: "vendor/*", tokens_per_minute: 1, input_tokens_per_minute: 2, output_tokens_per_minute: 3 }),
    ).toEqual([{ base_url: URL, api_key_var: "ONE_API_KEY", model: "vendor/*", limits: { tokens: 1, input_tokens: 2, output_tokens: 3 } }]);
  });

  it("is of each place that its endpoint has", () => {
    const places = ["https://one.example", "https://two.example"].map((base_url) => ({ base_url, api_key_var: "K", model: "m" }));
    const limits = readGivenLimit({ endpoint_id: "fast", concurrent: 4 }, "x", (id) => (id === "fast" ? places : []));
    expect(limits).toEqual(places.map((each) => ({ ...each, limits: { concurrent: 4 } })));
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no endpoint", { concurrent: 1 }, "limits.toml: [[limit]] #1: endpoint_id or url is missing"],
    ["no limit", { url: URL }, "no limit is given: it has none of concurrent, requests_per_minute, tokens_per_minute"],
    ["a key that there is not", { url: URL, request_per_minute: 5 }, "request_per_minute: there is no such key (did you mean requests_per_minute?)"],
    ["two addresses", { url: URL, api_base_url: "https://b.example", concurrent: 1 }, "url and api_base_url say different things"],
    ["an address that is no text", { url: 5, concurrent: 1 }, "url must be a text that is not empty"],
    ["an endpoint and its model", { endpoint_id: "e", model: "m", concurrent: 1 }, "endpoint_id names model already: leave out one of the two"],
    ["an unknown endpoint", { endpoint_id: "e", concurrent: 1 }, 'endpoint_id "e" is no endpoint that is known here'],
    ...[0, -1, 1.5, "5", null, MAX_GIVEN_AMOUNT + 1].map((concurrent): [string, Record<string, unknown>, string] => [
      `${JSON.stringify(concurrent)} at once`,
      { url: URL, concurrent },
      `concurrent must be a whole number from 1 to ${MAX_GIVEN_AMOUNT}`,
    ]),
  ])("is refused with %s", (_, row, problem) => {
    expect(messageOf(() => read(row))).toContain(problem);
  });

  it("may be as high as a number is exact", () => {
    expect(read({ url: URL, tokens_per_minute: MAX_GIVEN_AMOUNT })[0]?.limits).toEqual({ tokens: MAX_GIVEN_AMOUNT });
  });
});

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
    expect(capsOf(config, place, "model")).toEqual([{ id: "command/c0ffee", limits: { concurrent: 32 } }, given]);
    expect(capsOf(config, place, "judges")).toEqual([given]);
  });
});
