import { describe, expect, it } from "vitest";
import { clientOf, resolveEndpointConfigs } from "../../../src/clients/client-config.ts";
import { ask, refuses, says, scriptedEndpoint } from "../../support/clients/scripted-endpoint.ts";

const at = (example_id: number) => ask({ state: { example_id } });

describe("a client config", () => {
  it("has replicas whose own fields win, and everything else from the parent", () => {
    const config = {
      client_type: "openai_completions",
      api_key_var: "A_KEY",
      max_retries: 3,
      extra_headers: { X: "1" },
      endpoint_configs: [{ api_base_url: "a" }, { api_base_url: "b", api_key_var: "B_KEY", max_retries: 0 }],
    } as const;
    expect(resolveEndpointConfigs(config)).toEqual([
      { client_type: "openai_completions", api_key_var: "A_KEY", max_retries: 3, extra_headers: { X: "1" }, api_base_url: "a" },
      { client_type: "openai_completions", api_key_var: "B_KEY", max_retries: 0, extra_headers: { X: "1" }, api_base_url: "b" },
    ]);
  });

  it("is refused when a replica has replicas; an empty list is none", () => {
    const nested = (endpoint_configs: object[]) => ({ endpoint_configs: [{ api_base_url: "a" }, { api_base_url: "b", endpoint_configs }] });
    expect(() => resolveEndpointConfigs(nested([{}]))).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringContaining("endpoint_configs[1]") }),
    );
    expect(resolveEndpointConfigs(nested([]))).toHaveLength(2);
  });

  it("makes a client that needs a key where one is asked for, and none at private addresses", async () => {
    await using server = await scriptedEndpoint(says("hi"));
    expect((await clientOf({ api_base_url: server.url }, {}).getResponse(at(0))).message.content).toBe("hi");
    expect(server.seen[0]?.headers.authorization).toBe("Bearer EMPTY");
    await clientOf({ api_base_url: server.url, api_key_var: "MY_KEY" }, { MY_KEY: "sk-1" }).getResponse(at(0));
    expect(server.seen[1]?.headers.authorization).toBe("Bearer sk-1");
    expect(() => clientOf({ api_base_url: "https://models.example/v1", api_key_var: "MY_KEY" }, {})).toThrow(expect.objectContaining({ code: "missing_key" }));
  });

  it("makes a client that keeps the rollouts of an example at one replica, and examples in turn", async () => {
    await using a = await scriptedEndpoint(says("a"));
    await using b = await scriptedEndpoint(says("b"));
    const client = clientOf({ endpoint_configs: [{ api_base_url: a.url }, { api_base_url: b.url }] }, {});
    const said = await Promise.all([0, 0, 1, 2, 3].map(async (example) => (await client.getResponse(at(example))).message.content));
    expect(said).toEqual(["a", "a", "b", "a", "b"]);
  });

  it("says how often a request is repeated, and how long it may take", async () => {
    await using server = await scriptedEndpoint(refuses(500));
    await expect(clientOf({ api_base_url: server.url, max_retries: 0 }, {}).getResponse(at(0))).rejects.toMatchObject({ code: "provider_error" });
    expect(server.seen).toHaveLength(1);
  });
});
