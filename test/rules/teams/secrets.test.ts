import { describe, expect, it } from "vitest";
import { isLoopbackHost, isPrivateAddress } from "../../../src/config/endpoints/addresses.ts";
import { isKeyVariable, resolveKey } from "../../../src/config/endpoints/secrets.ts";

const REMOTE = "https://api.example.com/v1";

describe("private addresses", () => {
  it.each([
    "http://localhost:8000/v1",
    "http://LOCALHOST/v1",
    "http://api.localhost/v1",
    "http://printer.local/v1",
    "http://127.0.0.1:1/v1",
    "http://127.255.255.255",
    "http://0x7f.1",
    "http://2130706433",
    "http://0.0.0.0:8000",
    "http://10.0.0.0",
    "http://10.255.255.255",
    "http://172.16.0.0",
    "http://172.31.255.255",
    "http://192.168.0.1",
    "http://169.254.0.1",
    "http://[::1]:8000",
    "http://[0:0:0:0:0:0:0:1]",
    "http://[::ffff:10.0.0.1]",
    "http://[fc00::1]",
    "http://[fdff:ffff::1]",
    "http://[fe80::1]",
    "http://[febf::1]",
  ])("%s is one", (url) => {
    expect(isPrivateAddress(url)).toBe(true);
  });

  it.each([
    "http://126.255.255.255",
    "http://128.0.0.1",
    "http://9.255.255.255",
    "http://11.0.0.0",
    "http://172.15.255.255",
    "http://172.32.0.0",
    "http://192.167.255.255",
    "http://192.169.0.0",
    "http://169.253.255.255",
    "http://169.255.0.0",
    "http://0.0.0.1",
    "http://[fbff::1]",
    "http://[fe00::1]",
    "http://[fec0::1]",
    "http://[2001:db8::1]",
    "http://[::2]",
    "http://[::ffff:8.8.8.8]",
    "http://local",
    "http://notlocalhost",
    "http://localhost.example.com",
    "http://10.0.0.1.example.com",
    "https://api.example.com",
    "not a url",
  ])("%s is none", (url) => {
    expect(isPrivateAddress(url)).toBe(false);
  });
});

describe("loopback names", () => {
  it.each(["localhost", "edgewise.localhost", "127.0.0.1", "127.9.9.9", "[::1]"])("%s is one", (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });
  it.each(["example.com", "127.0.0.1.example.com", "192.168.0.1", "printer.local", "", "localhost.example.com"])("%j is none", (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});

describe("the key of an endpoint", () => {
  it("comes from the Worker's secrets, or locally from the process that started it", () => {
    expect(resolveKey({ OPENAI_API_KEY: "sk-1" } as object, "OPENAI_API_KEY", REMOTE)).toEqual({ ok: true, value: { key: "sk-1", headers: {} } });
    expect(resolveKey({ LOCAL: "1", LOCAL_SECRETS: { OPENAI_API_KEY: " sk-2\n" } }, "OPENAI_API_KEY", REMOTE)).toMatchObject({ value: { key: "sk-2" } });
  });

  it("carries the team of a Prime key, and of no other", () => {
    const secrets = { PRIME_API_KEY: "k", OTHER_KEY: "o", PRIME_TEAM_ID: "team" };
    expect(resolveKey({ LOCAL_SECRETS: secrets }, "PRIME_API_KEY", REMOTE)).toMatchObject({ value: { headers: { "X-Prime-Team-ID": "team" } } });
    expect(resolveKey({ LOCAL_SECRETS: secrets }, "OTHER_KEY", REMOTE)).toMatchObject({ value: { headers: {} } });
  });

  it("is EMPTY at a private address that asks for none", () => {
    expect(resolveKey({}, "PRIME_API_KEY", "http://127.0.0.1:8000/v1")).toEqual({ ok: true, value: { key: "EMPTY", headers: {} } });
  });

  it("is missed with its name and the way to set it", () => {
    expect(resolveKey({}, "OPENAI_API_KEY", REMOTE)).toMatchObject({
      error: { code: "missing_key", message: expect.stringContaining("OPENAI_API_KEY"), hint: "Type `wrangler secret put OPENAI_API_KEY`." },
    });
    expect(resolveKey({ LOCAL: "1" }, "OPENAI_API_KEY", REMOTE)).toMatchObject({ error: { hint: expect.stringContaining("export OPENAI_API_KEY=") } });
    expect(resolveKey({ LOCAL_SECRETS: { OPENAI_API_KEY: "  " } }, "OPENAI_API_KEY", REMOTE)).toMatchObject({ error: { code: "missing_key" } });
  });

  it("never shows a value that cannot be sent", () => {
    const result = resolveKey({ LOCAL_SECRETS: { A_KEY: "sk secret" } }, "A_KEY", REMOTE);
    expect(result).toMatchObject({ ok: false, error: { code: "missing_key" } });
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("may not be one of the service's own settings, nor anything inherited", () => {
    for (const name of ["EDGEWISE_TOKEN", "BOOT_ID", "LOCAL_SECRETS", "CLOUDFLARE_API_TOKEN", "ROLLOUTS_0", "openai_key", "__proto__", "toString", "A-B", ""]) {
      expect(isKeyVariable(name), name).toBe(false);
      expect(resolveKey({ LOCAL_SECRETS: { [name]: "value" } }, name, "http://127.0.0.1/v1")).toMatchObject({ ok: false });
    }
    expect(isKeyVariable("VLLM_API_KEY_2")).toBe(true);
    expect(isKeyVariable("LOCAL_KEY")).toBe(true);
  });

  it("takes nothing that is not a text", () => {
    expect(resolveKey({ SOME_BINDING: { fetch: 1 } } as object, "SOME_BINDING", REMOTE)).toMatchObject({ ok: false });
  });
});
