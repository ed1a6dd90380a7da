import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const A = "https://a.example/v1";
const B = "https://b.example/v1";
/** Keys of one's own servers, bound to them. */
const keyVars = "*_API_KEY,A_KEY@a.example,B_KEY@b.example";
const SECRETS = { PRIME_API_KEY: "sk-0", A_KEY: "sk-a", B_KEY: "sk-b" };

const create = (door: Door, eval_config: JsonObject) =>
  door.call("POST", "/hosted-evaluations", { environment_ids: ["gsm8k"], inference_model: "m", eval_config });

async function refusal(door: Door, eval_config: JsonObject): Promise<{ status: number; text: string }> {
  const response = await create(door, eval_config);
  return { status: response.status, text: await response.text() };
}

async function configOf(door: Door, eval_config: JsonObject): Promise<unknown> {
  const response = await create(door, eval_config);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, expect.any(String)]);
  const { evaluation_id } = JSON.parse(text) as { evaluation_id: string };
  return door.run(evaluation_id).creations[0]?.config;
}

describe("a creation with replicas", () => {
  it("keeps them in order; the first stands where one endpoint would, and the request's key variable where one names none", async () => {
    const replicas: JsonObject[] = [
      { api_base_url: A, api_key_var: "A_KEY" },
      { api_base_url: B, headers: { "X-Place": "b" } },
    ];
    expect(await configOf(openDoor({ keyVars }, SECRETS), { api_key_var: "B_KEY", replicas })).toMatchObject({
      base_url: A,
      api_key_var: "A_KEY",
      replicas: [
        { base_url: A, api_key_var: "A_KEY" },
        { base_url: B, api_key_var: "B_KEY", headers: { "X-Place": "b" } },
      ],
    });
  });

  it("shares no limit with others, since it meets them at several Limiters", async () => {
    const replicas: JsonObject[] = [{ api_base_url: A }, { api_base_url: B }];
    const { status, text } = await refusal(openDoor({ keyVars }, SECRETS), { replicas, common_limit: { id: "x", concurrent: 5 } });
    expect([status, text]).toEqual([422, expect.stringContaining('"common_limit"],"msg":"is for evaluations that call one place each')]);
  });

  it("is refused when the key of any is missing", async () => {
    const door = openDoor({ keyVars }, { A_KEY: "sk-a" });
    const { status, text } = await refusal(door, {
      replicas: [
        { api_base_url: A, api_key_var: "A_KEY" },
        { api_base_url: B, api_key_var: "B_KEY" },
      ],
    });
    expect([status, text]).toEqual([422, expect.stringContaining("B_KEY is not set")]);
  });

  it("is refused by a deployed service when one is no public address, or gets the key of another place", async () => {
    const facts = { local: false, token: "t", keyVars };
    const headers = { authorization: "Bearer t" };
    const door = openDoor(facts, SECRETS);
    const replicas: JsonObject[] = [
      { api_base_url: A },
      { api_base_url: "https://10.0.0.1/v1", api_key_var: "A_KEY" },
      { api_base_url: B, api_key_var: "PRIME_API_KEY" },
    ];
    const body = { environment_ids: ["gsm8k"], inference_model: "m", eval_config: { api_key_var: "A_KEY", replicas } };
    const response = await door.call("POST", "/hosted-evaluations", body, headers);
    const text = await response.text();
    expect([response.status, text]).toEqual([422, expect.stringMatching(/"replicas",1,"api_base_url"|"replicas","1","api_base_url"/)]);
    const second = { ...body, eval_config: { api_key_var: "A_KEY", replicas: [replicas[0] ?? {}, replicas[2] ?? {}] } };
    const other = await door.call("POST", "/hosted-evaluations", second, headers);
    expect([other.status, await other.text()]).toEqual([422, expect.stringContaining("is not sent to b.example")]);
  });

  it.each<[string, JsonObject]>([
    ["beside an endpoint", { api_base_url: A, replicas: [{ api_base_url: B }] }],
    ["for a client without an address", { api_client_type: "workers_ai", replicas: [{ api_base_url: B }] }],
    ["empty", { replicas: [] }],
    ["with a field that is none", { replicas: [{ base_url: B }] }],
  ])("is refused with the list %s", async (_what, config) => {
    const { status, text } = await refusal(openDoor({ keyVars }, SECRETS), config);
    expect([status, text]).toEqual([422, expect.stringContaining("replicas")]);
  });
});

describe("a creation with a client type", () => {
  it("that calls a binding needs no key and no address, but the binding", async () => {
    const { status, text } = await refusal(openDoor({ keyVars }, {}), { api_client_type: "workers_ai" });
    expect([status, text]).toEqual([422, expect.stringContaining("AI binding")]);
  });

  it.each(["renderer", "nemorl_chat_completions"])("%s of the Python tools is said not to be supported", async (api_client_type) => {
    const { status, text } = await refusal(openDoor({ keyVars }, SECRETS), { api_client_type });
    expect([status, text]).toEqual([422, expect.stringContaining(`${api_client_type} is not supported here: use one of openai_chat_completions`)]);
  });
});
