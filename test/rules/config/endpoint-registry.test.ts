import { describe, expect, it } from "vitest";
import { chooseEndpoint } from "../../../src/config/endpoints/endpoint-choice.ts";
import { type EndpointRegistry, emptyRegistry, readRegistry } from "../../../src/config/endpoints/endpoint-registry.ts";
import type { GivenOptions } from "../../../src/config/options/options.ts";
import { MAX_GIVEN_AMOUNT, MAX_USD_PER_MTOK } from "../../../src/limits.ts";
import { parseTomlText } from "../../../src/config/plan/toml-document.ts";

const FILE = "endpoints.toml";
const registry = (text: string): EndpointRegistry => readRegistry(parseTomlText(text, FILE), FILE);
/** An entry of id `e`; what is given replaces what it has. */
const entry = (more = "", { model = "m", url = 'url = "https://one.example/v1"', key = 'key = "ONE_API_KEY"' } = {}): string =>
  `[[endpoint]]\nendpoint_id = "e"\nmodel = "${model}"\n${url}\n${key}\n${more}\n`;
const ONE = { model: "m", base_url: "https://one.example/v1", api_key_var: "ONE_API_KEY", api_client_type: null, headers: {} };

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("was accepted");
};

describe("a registry", () => {
  it("groups entries by id, in the order of the file", () => {
    const text = `${entry()}[[endpoint]]\nendpoint_id = "f"\nmodel = "n"\nurl = "https://f.example"\nkey = "F_KEY"\n${entry("", { url: 'url = "https://two.example/v1"' })}`;
    const { entries } = registry(text);
    expect([...entries.keys()]).toEqual(["e", "f"]);
    expect(entries.get("e")).toEqual([ONE, { ...ONE, base_url: "https://two.example/v1" }]);
  });

  it.each([
    ["long names", entry("", { url: 'api_base_url = "https://one.example/v1"', key: 'api_key_var = "ONE_API_KEY"' }), {}],
    [
      "both names that say the same",
      entry('api_base_url = "https://one.example/v1"\napi_key_var = "ONE_API_KEY"\ntype = "anthropic_messages"\napi_client_type = "anthropic_messages"'),
      { api_client_type: "anthropic_messages" },
    ],
    ["a client type", entry('api_client_type = "openai_completions"'), { api_client_type: "openai_completions" }],
    ["a client type by its short name", entry('type = "anthropic_messages"'), { api_client_type: "anthropic_messages" }],
    ["headers", entry('headers = { "X-A" = "a" }'), { headers: { "X-A": "a" } }],
    ["headers by their other name", entry('extra_headers = { "X-A" = "a" }'), { headers: { "X-A": "a" } }],
    ["keys that it does not know", entry('note = "fast"'), {}],
  ])("takes %s", (_, text, more) => {
    expect(registry(text).entries.get("e")).toEqual([{ ...ONE, ...more }]);
  });

  it.each([
    ["no id", '[[endpoint]]\nmodel = "m"', "endpoints.toml: [[endpoint]] #1: endpoint_id must be a text that is not empty"],
    ["a blank id", '[[endpoint]]\nendpoint_id = " "', "endpoint_id must be a text that is not empty"],
    ["missing fields", '[[endpoint]]\nendpoint_id = "e"\nmodel = "m"', "endpoints.toml: [[endpoint]] #1 (e): url and key are missing"],
    ["a missing model", '[[endpoint]]\nendpoint_id = "e"\nurl = "u"\nkey = "K"', "model is missing"],
    ["two addresses", entry('api_base_url = "https://two.example"'), "url and api_base_url say different things"],
    ["two keys", entry('api_key_var = "TWO"'), "key and api_key_var say different things"],
    ["two client types", entry('type = "openai_completions"\napi_client_type = "anthropic_messages"'), "type and api_client_type say different things"],
    ["an unknown client type", entry('type = "grpc"'), "api_client_type must be one of openai_chat_completions, "],
    ["the old name of the client type", entry('client_type = "anthropic_messages"'), "client_type is an old name: write api_client_type"],
    ["both names of headers, even alike", entry('headers = { A = "a" }\nextra_headers = { A = "a" }'), "headers and extra_headers mean the same"],
    ["headers that are no table", entry('headers = ["A: a"]'), "headers must be a table of texts"],
    ["a header that is no text", entry("headers = { A = 1 }"), "headers.A must be a text"],
    ["a header without a name", entry('headers = { " " = "a" }'), "headers has an empty name"],
    ["a field that is no text", entry("", { url: "url = 1" }), "url must be a text that is not empty"],
    ["a single table", '[endpoint]\nendpoint_id = "e"', "endpoints.toml: endpoint must be an array of tables"],
  ])("refuses %s", (_, text, message) => {
    expect(messageOf(() => registry(text))).toContain(message);
  });
});

describe("limits of a registry", () => {
  const URL = "https://api.example.com/v1";
  const limits = (text: string) => registry(text).limits;

  it("are of an address, of one key and of models where they name them", () => {
    expect(limits(`[[limit]]\nurl = "${URL}"\nrequests_per_minute = 500\nconcurrent = 8`)).toEqual([
      { base_url: URL, limits: { requests: 500, concurrent: 8 } },
    ]);
    const named = `[[limit]]\napi_base_url = "${URL}"\nkey = "ONE_API_KEY"\nmodel = "vendor/*"\ntokens_per_minute = 1\ninput_tokens_per_minute = 2\noutput_tokens_per_minute = 3`;
    expect(limits(named)).toEqual([{ base_url: URL, api_key_var: "ONE_API_KEY", model: "vendor/*", limits: { tokens: 1, input_tokens: 2, output_tokens: 3 } }]);
    expect(limits(`[[limit]]\nurl = "${URL}"\ntokens_per_minute = ${MAX_GIVEN_AMOUNT}`)).toEqual([{ base_url: URL, limits: { tokens: MAX_GIVEN_AMOUNT } }]);
  });

  it("are of each place that their endpoint has", () => {
    const text = `${entry()}${entry("", { url: 'url = "https://two.example/v1"' })}[[limit]]\nendpoint_id = "e"\nconcurrent = 4`;
    const place = { api_key_var: "ONE_API_KEY", model: "m", limits: { concurrent: 4 } };
    expect(limits(text)).toEqual([
      { ...place, base_url: "https://one.example/v1" },
      { ...place, base_url: "https://two.example/v1" },
    ]);
  });

  it.each([
    ["no endpoint", "concurrent = 1", "endpoints.toml: [[limit]] #1: endpoint_id is missing: say which endpoint has the limit, by endpoint_id or by url"],
    ["no limit", `url = "${URL}"`, "concurrent is missing: give at least one of concurrent, requests_per_minute, tokens_per_minute"],
    ["a key that there is not", `url = "${URL}"\nrequest_per_minute = 5`, "request_per_minute"],
    ["two addresses", `url = "${URL}"\napi_base_url = "https://b.example"\nconcurrent = 1`, "api_base_url says something else than url"],
    ["what is no address", 'url = "example"\nconcurrent = 1', "url must be an http or https URL"],
    ["what is no key's name", `url = "${URL}"\nkey = "sk-123"\nconcurrent = 1`, "key must be the name of a variable that holds a key"],
    [
      "an endpoint and its model",
      `${'endpoint_id = "e"'}\nmodel = "m"\nconcurrent = 1`,
      "model is given beside endpoint_id, which names a place already: leave out one of the two",
    ],
    ["an unknown endpoint", 'endpoint_id = "x"\nconcurrent = 1', 'endpoint_id "x" is in no [[endpoint]] of the file'],
    ["none", `url = "${URL}"\nconcurrent = 0`, "concurrent must be at least 1"],
    ["a part", `url = "${URL}"\nconcurrent = 1.5`, "concurrent Invalid input: expected int"],
    ["too many", `url = "${URL}"\nconcurrent = ${MAX_GIVEN_AMOUNT + 1}`, `concurrent must be at most ${MAX_GIVEN_AMOUNT}`],
  ])("refuse %s", (_, row, problem) => {
    expect(messageOf(() => limits(`[[limit]]\n${row}`))).toContain(problem);
  });

  it("go with every evaluation that reads it, in front of its own; an endpoint that the registry lacks is left to the service", () => {
    const text = `${entry()}[[limit]]\nurl = "${URL}"\nconcurrent = 8`;
    const own = { api_base_url: URL, concurrent: 8 };
    expect(chooseEndpoint({ model: "x" }, registry(text)).given.limits).toEqual([own]);
    expect(
      chooseEndpoint(
        {
          model: "e",
          limits: [
            { endpoint_id: "e", concurrent: 2 },
            { endpoint_id: "other", concurrent: 3 },
          ],
        },
        registry(text),
      ).given.limits,
    ).toEqual([
      own,
      { api_base_url: "https://one.example/v1", api_key_var: "ONE_API_KEY", model: "m", concurrent: 2 },
      { endpoint_id: "other", concurrent: 3 },
    ]);
    expect(chooseEndpoint({ model: "x" }, registry(entry())).given).not.toHaveProperty("limits");
  });
});

describe("prices of a registry", () => {
  const URL = "https://api.example.com/v1";
  const prices = (text: string) => registry(text).prices;
  const cost = "input_usd_per_mtok = 2\noutput_usd_per_mtok = 8.5";
  const price = { input_usd_per_mtok: 2, output_usd_per_mtok: 8.5 };

  it("are of models, anywhere or at an address, in the order of the file", () => {
    const cached = `[[price]]\nmodel = "m"\napi_base_url = "${URL}"\n${cost}\ncached_input_usd_per_mtok = 0`;
    expect(prices(`[[price]]\nmodel = "vendor/*"\n${cost}\n${cached}`)).toEqual([
      { model: "vendor/*", ...price },
      { model: "m", url: URL, ...price, cached_input_usd_per_mtok: 0 },
    ]);
    expect(prices(`[[price]]\nmodel = "m"\n${cost}\nbatch_factor = 0.4`)).toEqual([{ model: "m", ...price, batch_factor: 0.4 }]);
  });

  it("are of each place that their endpoint has", () => {
    const text = `${entry()}${entry("", { url: 'url = "https://two.example/v1"' })}[[price]]\nendpoint_id = "e"\n${cost}`;
    expect(prices(text)).toEqual(["https://one.example/v1", "https://two.example/v1"].map((url) => ({ model: "m", url, ...price })));
  });

  it.each([
    ["no model", `url = "${URL}"\n${cost}`, "endpoints.toml: [[price]] #1: model is missing: say what has the price, by model or by endpoint_id"],
    [
      "no price of output",
      'model = "m"\ninput_usd_per_mtok = 1',
      'endpoints.toml: [[price]] #1 (model "m"): output_usd_per_mtok is missing: a number belongs here',
    ],
    ["a key that there is not", `model = "m"\n${cost}\nprice = 5`, "price"],
    ["a batch that is dearer", `model = "m"\n${cost}\nbatch_factor = 1.5`, "batch_factor"],
    ["two addresses", `model = "m"\nurl = "${URL}"\napi_base_url = "https://b.example"\n${cost}`, "api_base_url says something else than url"],
    ["what is no address", `model = "m"\nurl = "example"\n${cost}`, "url must be an http or https URL"],
    ["an endpoint and its model", `endpoint_id = "e"\nmodel = "m"\n${cost}`, "model is given beside endpoint_id, which names model and place already"],
    ["an unknown endpoint", `endpoint_id = "x"\n${cost}`, 'endpoint_id "x" is in no [[endpoint]] of the file'],
    ["less than nothing", 'model = "m"\ninput_usd_per_mtok = -1\noutput_usd_per_mtok = 1', "input_usd_per_mtok must be at least 0"],
    ["what is no number", 'model = "m"\ninput_usd_per_mtok = nan\noutput_usd_per_mtok = 1', "input_usd_per_mtok"],
    [
      "too much",
      `model = "m"\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = ${MAX_USD_PER_MTOK + 1}`,
      `output_usd_per_mtok must be at most ${MAX_USD_PER_MTOK}`,
    ],
  ])("refuse %s", (_, row, problem) => {
    expect(messageOf(() => prices(`[[price]]\n${row}`))).toContain(problem);
  });

  it("go with every evaluation that reads it, in front of its own; an endpoint that the registry lacks is left to the service", () => {
    const text = `${entry()}[[price]]\nmodel = "x"\n${cost}`;
    const own = [
      { endpoint_id: "e", ...price },
      { endpoint_id: "other", ...price },
    ];
    expect(chooseEndpoint({ model: "x" }, registry(text)).given.prices).toEqual([{ model: "x", ...price }]);
    expect(chooseEndpoint({ model: "e", prices: own }, registry(text)).given.prices).toEqual([
      { model: "x", ...price },
      { api_base_url: "https://one.example/v1", model: "m", ...price },
      { endpoint_id: "other", ...price },
    ]);
    expect(chooseEndpoint({ model: "x" }, registry(entry())).given).not.toHaveProperty("prices");
  });
});

describe("the endpoint of an evaluation", () => {
  const choose = (given: GivenOptions, text: string) => chooseEndpoint(given, text === "" ? emptyRegistry(FILE) : registry(text));

  it("is an entry that the model names", () => {
    expect(choose({ model: "e" }, entry('type = "anthropic_messages"')).given).toEqual({
      model: "m",
      api_base_url: "https://one.example/v1",
      api_key_var: "ONE_API_KEY",
      api_client_type: "anthropic_messages",
    });
  });

  it("is an entry that has the name of the model of an evaluation that names none", () => {
    const text = entry().replace('"e"', '"openai/gpt-4.1-mini"');
    expect(choose({}, text).given).toMatchObject({ model: "m", api_base_url: "https://one.example/v1" });
  });

  it("is what is given where the registry has no such name", () => {
    expect(choose({ model: "x" }, entry())).toEqual({ given: { model: "x" }, replicas: [] });
    expect(choose({ model: "x", provider: "openai" }, entry()).given).toMatchObject({ model: "x", api_key_var: "OPENAI_API_KEY" });
  });

  it("is an entry by its id; another one, or one beside a model, is refused", () => {
    expect(choose({ endpoint_id: "e" }, entry()).given).toEqual({ model: "m", api_base_url: "https://one.example/v1", api_key_var: "ONE_API_KEY" });
    expect(messageOf(() => choose({ endpoint_id: "x" }, entry()))).toBe('endpoint_id "x" is not in endpoints.toml');
    expect(messageOf(() => choose({ endpoint_id: "e" }, ""))).toBe('endpoint_id "e" is not in endpoints.toml');
    expect(messageOf(() => choose({ endpoint_id: "e", model: "m" }, entry()))).toContain("leave out model");
  });

  it("is overridden by a provider, and both by what is given", () => {
    const { given } = choose({ model: "e", provider: "anthropic" }, entry());
    expect(given).toMatchObject({
      model: "m",
      api_base_url: "https://api.anthropic.com",
      api_key_var: "ANTHROPIC_API_KEY",
      api_client_type: "anthropic_messages",
    });
    const own = { api_base_url: "http://localhost:1/v1", api_key_var: "OWN_KEY", api_client_type: "openai_completions" } as const;
    expect(choose({ model: "e", provider: "anthropic", ...own }, entry()).given).toMatchObject({ model: "m", ...own });
    expect(choose({ model: "e", api_key_var: "OWN_KEY" }, entry()).given).toMatchObject({ api_base_url: "https://one.example/v1", api_key_var: "OWN_KEY" });
  });

  it("has the headers of its entry under those that are given", () => {
    const text = entry('headers = { "X-A" = "row", "X-B" = "row" }');
    expect(choose({ model: "e", headers: { "X-B": "own" } }, text).given.headers).toEqual({ "X-A": "row", "X-B": "own" });
  });

  const TWO = entry('headers = { "X-Row" = "1" }') + entry("", { url: 'url = "https://two.example/v1"', key: 'key = "TWO_API_KEY"' });

  it("is several replicas where the id has several entries, each with its own key and headers", () => {
    const { given, replicas } = choose({ model: "e", headers: { "X-B": "own" } }, TWO);
    expect(replicas).toEqual([
      { api_base_url: "https://one.example/v1", api_key_var: "ONE_API_KEY", headers: { "X-Row": "1" } },
      { api_base_url: "https://two.example/v1", api_key_var: "TWO_API_KEY" },
    ]);
    expect(given.headers).toEqual({ "X-B": "own" });
    expect(choose({ model: "e", api_key_var: "OWN_KEY" }, TWO).replicas.map(({ api_key_var }) => api_key_var)).toEqual(["OWN_KEY", "OWN_KEY"]);
  });

  it("is one place where an address or a provider is given", () => {
    expect(choose({ model: "e", api_base_url: "http://localhost:1/v1" }, TWO)).toMatchObject({
      replicas: [],
      given: { api_base_url: "http://localhost:1/v1" },
    });
    expect(choose({ model: "e", provider: "openai" }, TWO).replicas).toEqual([]);
  });

  it("is refused where its entries serve different models", () => {
    expect(messageOf(() => choose({ model: "e" }, entry() + entry("", { model: "n" })))).toContain("endpoint e: the entries name different models (m, n)");
  });
});
