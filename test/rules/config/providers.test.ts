import { describe, expect, it } from "vitest";
import { OPTIONS } from "../../../src/config/options/options.ts";
import { parseOptionText } from "../../../src/config/options/option-text.ts";
import { PROVIDER_NAMES, PROVIDERS, providerOfKey, withProvider } from "../../../src/config/endpoints/providers.ts";
import { isKeyVariable, resolveKey } from "../../../src/config/endpoints/secrets.ts";

describe("a provider's name", () => {
  it("stands for its endpoint and key variable; what is given explicitly wins", () => {
    expect(withProvider({ provider: "openai", model: "m" })).toMatchObject({
      api_base_url: "https://api.openai.com/v1",
      api_key_var: "OPENAI_API_KEY",
      model: "m",
    });
    expect(withProvider({ provider: "vllm", api_base_url: "http://gpu:9000/v1", api_key_var: "MY_KEY" })).toMatchObject({
      api_base_url: "http://gpu:9000/v1",
      api_key_var: "MY_KEY",
    });
  });

  it("leaves open what nobody named, so that the service's own default stays", () => {
    expect(withProvider({})).toEqual({});
    expect(withProvider({ provider: "openai" })).not.toHaveProperty("model");
  });

  it("that is unknown is refused with those that are known", () => {
    expect(parseOptionText("provider", "openay")).toEqual({ ok: false, msg: expect.stringContaining(PROVIDER_NAMES.join(", ")) });
  });

  it("is found by its key variable, and each variable may hold a key", () => {
    expect(providerOfKey("OPENROUTER_API_KEY")).toBe("openrouter");
    expect(providerOfKey("VLLM_API_KEY")).toBe("local");
    expect(providerOfKey("OTHER_API_KEY")).toBeNull();
    for (const { api_key_var } of Object.values(PROVIDERS)) if (api_key_var !== null) expect(isKeyVariable(api_key_var)).toBe(true);
  });
});

describe("the embedded model", () => {
  it("is the default model where it is the endpoint, however that was named", () => {
    expect(withProvider({ provider: "embedded" })).toEqual({ provider: "embedded", api_base_url: "embedded", model: "edgewise/tiny" });
    expect(withProvider({ api_base_url: "embedded" })).toMatchObject({ model: "edgewise/tiny" });
    expect(withProvider({ provider: "embedded", model: "other" }).model).toBe("other");
    expect(withProvider({ provider: "embedded", api_base_url: "http://localhost:1/v1" })).not.toHaveProperty("model");
  });

  it("is a base URL like any other, and no other bare word is one", () => {
    expect(OPTIONS.api_base_url.schema.safeParse("embedded").success).toBe(true);
    expect(OPTIONS.api_base_url.schema.safeParse("Embedded").success).toBe(false);
  });

  it("gets no key, whatever variable is named", () => {
    expect(resolveKey({ EMBEDDED: {}, LOCAL_SECRETS: { PRIME_API_KEY: "secret" } }, "PRIME_API_KEY", "embedded")).toEqual({
      ok: true,
      value: { key: "EMPTY", headers: {} },
    });
  });

  it("is refused where it is not, saying where it is", () => {
    expect(resolveKey({}, "PRIME_API_KEY", "embedded")).toMatchObject({
      ok: false,
      error: { code: "invalid_request", message: expect.stringContaining("local service only"), hint: expect.stringContaining("another endpoint") },
    });
  });
});
