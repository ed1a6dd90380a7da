import { describe, expect, it } from "vitest";
import type { AppFacts } from "../../../../src/api/app-ports.ts";
import { COMMAND_SECRET, CONFIG, openDoor, viewFor } from "../../../support/door/fake-ports.ts";

const SECRETS = { PRIME_API_KEY: "k1", OPENAI_API_KEY: "k2", MY_API_KEY: "k3", HF_TOKEN: "k4" };
const DEPLOYED: Partial<AppFacts> = { local: false, token: "t", baseUrl: "https://api.pinference.ai/api/v1" };
const AT_TERMINAL = { "x-edgewise-attended": COMMAND_SECRET };

/** What a creation and a resume with these fields answer: the fields that are refused, or nothing. */
async function refused(facts: Partial<AppFacts>, endpoint: Record<string, string>, headers: Record<string, string> = {}): Promise<string[]> {
  const answers = await Promise.all(
    (["creation", "resume"] as const).map(async (what) => {
      const door = openDoor({ baseUrl: "https://api.pinference.ai/api/v1", ...facts }, SECRETS);
      door.run("0000abcd").state = viewFor({ ...CONFIG, base_url: "https://api.pinference.ai/api/v1" });
      const sent = { authorization: "Bearer t", ...headers };
      const response =
        what === "creation"
          ? await door.call("POST", "/hosted-evaluations", { environment_ids: ["gsm8k"], inference_model: "m", eval_config: endpoint }, sent)
          : await door.call("POST", "/evaluations/0000abcd/resume", endpoint, sent);
      expect([200, 422]).toContain(response.status);
      expect([door.registry.reserved.length + door.run("0000abcd").resumes.length, what]).toEqual([response.status === 200 ? 1 : 0, what]);
      const { detail = [] } = (await response.json()) as { detail?: { loc: string[] }[] };
      return detail.map(({ loc }) => loc.at(-1) ?? "");
    }),
  );
  expect(answers[1]).toEqual(answers[0]);
  return answers[0] ?? [];
}

describe("a deployed service", () => {
  it.each([
    [{}],
    [{ api_base_url: "https://api.pinference.ai/api/v1" }],
    [{ api_base_url: "https://api.openai.com/v1", api_key_var: "OPENAI_API_KEY" }],
    [{ api_base_url: "https://openrouter.ai/api/v1", api_key_var: "MY_API_KEY" }],
    [{ heartbeat_url: "https://watch.example.com/token?a=b" }],
  ])("takes %j", async (endpoint) => expect(await refused(DEPLOYED, endpoint as Record<string, string>)).toEqual([]));

  it.each([
    [{ api_base_url: "http://models.example/v1", api_key_var: "MY_API_KEY" }, "api_base_url"],
    [{ api_base_url: "https://10.0.0.1/v1", api_key_var: "MY_API_KEY" }, "api_base_url"],
    [{ api_base_url: "https://[::ffff:169.254.169.254]/", api_key_var: "MY_API_KEY" }, "api_base_url"],
    [{ api_base_url: "https://0251.0376.0251.0376/", api_key_var: "MY_API_KEY" }, "api_base_url"],
    [{ api_base_url: "https://metadata.google.internal/", api_key_var: "MY_API_KEY" }, "api_base_url"],
    [{ api_base_url: "https://models.example/v1" }, "api_key_var"],
    [{ api_base_url: "https://models.example/v1", api_key_var: "OPENAI_API_KEY" }, "api_key_var"],
    [{ api_key_var: "OPENAI_API_KEY" }, "api_key_var"],
    [{ api_base_url: "https://models.example/v1", api_key_var: "MY_API_KEY" }, "api_key_var"],
    [{ api_key_var: "HF_TOKEN" }, "api_key_var"],
    [{ api_key_var: "SIGNING_KEY" }, "api_key_var"],
    [{ api_key_var: "EDGEWISE_TOKEN" }, "api_key_var"],
    [{ api_key_var: "COMMAND_SECRET" }, "api_key_var"],
    [{ heartbeat_url: "http://watch.example.com/a" }, "heartbeat_url"],
    [{ heartbeat_url: "https://169.254.169.254/latest" }, "heartbeat_url"],
    [{ heartbeat_url: "https://169.254.169.254.nip.io/latest" }, "heartbeat_url"],
    [{ heartbeat_url: "https://watch.internal/a" }, "heartbeat_url"],
    [{ heartbeat_url: "https://user:word@watch.example.com/a" }, "heartbeat_url"],
  ])("refuses %j", async (endpoint, field) => expect(await refused(DEPLOYED, endpoint as Record<string, string>)).toEqual([field]));

  it("does not believe that anybody is at a terminal", async () => {
    expect(await refused(DEPLOYED, { api_base_url: "http://127.0.0.1/v1", api_key_var: "MY_API_KEY" }, AT_TERMINAL)).toEqual(["api_base_url"]);
  });

  it("lets KEY_VARS decide", async () => {
    const keyVars = "HF_*@models.example,OPENAI_API_KEY@gateway.example";
    expect(await refused({ ...DEPLOYED, keyVars }, { api_base_url: "https://models.example/v1", api_key_var: "HF_TOKEN" })).toEqual([]);
    expect(await refused({ ...DEPLOYED, keyVars: "HF_*" }, { api_base_url: "https://models.example/v1", api_key_var: "HF_TOKEN" })).toEqual(["api_key_var"]);
    expect(await refused({ ...DEPLOYED, keyVars }, { api_base_url: "https://gateway.example/v1", api_key_var: "OPENAI_API_KEY" })).toEqual([]);
    expect(await refused({ ...DEPLOYED, keyVars }, { api_base_url: "https://models.example/v1", api_key_var: "MY_API_KEY" })).toEqual(["api_key_var"]);
  });
});

describe("the local service", () => {
  it("calls this machine with any key that requests may name, and nobody else with another's", async () => {
    expect(await refused({}, { api_base_url: "http://127.0.0.1:8000/v1" })).toEqual([]);
    expect(await refused({}, { heartbeat_url: "http://127.0.0.1:8000/ping" })).toEqual([]);
    expect(await refused({}, { api_base_url: "http://127.0.0.1:8000/v1", api_key_var: "HF_TOKEN" })).toEqual(["api_key_var"]);
    expect(await refused({}, { api_base_url: "https://models.example/v1" })).toEqual(["api_key_var"]);
  });

  it.each([["1"], ["secret-of-another-boot"], [""]])("refuses who only says to sit before it: %j", async (shown) => {
    const door = openDoor({}, SECRETS);
    const body = { environment_ids: ["gsm8k"], inference_model: "m", eval_config: { api_base_url: "https://models.example/v1", api_key_var: "HF_TOKEN" } };
    const response = await door.call("POST", "/hosted-evaluations", body, { "x-edgewise-attended": shown });
    expect([response.status, await response.json()]).toEqual([401, expect.objectContaining({ code: "unauthorized" })]);
    expect(door.registry.reserved).toEqual([]);
  });

  it("takes any variable and any address from whoever sits before it", async () => {
    expect(await refused({}, { api_base_url: "https://models.example/v1", api_key_var: "HF_TOKEN" }, AT_TERMINAL)).toEqual([]);
    expect(await refused({}, { api_base_url: "http://192.168.0.9/v1" }, AT_TERMINAL)).toEqual([]);
    expect(await refused({}, { api_key_var: "EDGEWISE_TOKEN" }, AT_TERMINAL)).toEqual(["api_key_var"]);
  });
});
