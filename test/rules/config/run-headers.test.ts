import { describe, expect, it } from "vitest";
import { stateHeaders } from "../../../src/clients/transport/state-headers.ts";
import { headerNameProblem, stateHeaderNames, staticHeaders } from "../../../src/config/endpoints/headers.ts";
import { parseOptionText } from "../../../src/config/options/option-text.ts";

describe("headers of a run", () => {
  it("are read from a list, in which the last of a name wins, or from an object", () => {
    expect(staticHeaders.parse(["X-A: 1", "x-a:2 ", "X-B: a: b", "X-C:"])).toEqual({ "x-a": "2", "X-B": "a: b", "X-C": "" });
    expect(staticHeaders.parse({ "X-A": "1", "x-a": "2" })).toEqual({ "x-a": "2" });
    expect(stateHeaderNames.parse(["X-Example: example_id"])).toEqual({ "X-Example": "example_id" });
    expect(parseOptionText("headers", "X-A: 1")).toEqual({ ok: true, value: { "X-A": "1" } });
  });

  it.each([
    "Authorization",
    "proxy-authorization",
    "X-API-Key",
    "api-key",
    "Cookie",
    "Set-Cookie",
    "X-Auth-Token",
    "Ocp-Apim-Subscription-Key",
    "x_secret",
    "X-Goog-Api-Key",
  ])("cannot be %s, which carries a credential or belongs to a proxy", (name) => expect(headerNameProblem(name)).not.toBeNull());
  it("say how a key is named instead", () => expect(headerNameProblem("Authorization")).toContain("api_key_var"));
  it.each(["Host", "content-length", "Content-Type", "Transfer-Encoding", "connection", "Proxy-Foo", "Sec-Fetch-Mode", "__proto__", "", "a b", "a\nb", "ä"])(
    "cannot be %j",
    (name) => expect(headerNameProblem(name)).not.toBeNull(),
  );
  it.each(["OpenAI-Organization", "X-Max-Tokens", "Idempotency-Key", "User-Agent", "X-Author", "anthropic-beta"])("may be %s", (name) =>
    expect(headerNameProblem(name)).toBeNull(),
  );

  it.each([
    [["no colon"]],
    [["X-A: a\r\nX-B: b"]],
    [{ "X-A": "é" }],
    [{ "X-A": "x".repeat(3000) }],
    [Array.from({ length: 33 }, (_, n) => `X-${n}: 1`)],
    [5],
    [{ "X-A": 1 }],
  ])("are refused as %j", (given) => expect(staticHeaders.safeParse(given).success).toBe(false));
});

describe("headers from the state", () => {
  it("carry what the key holds, whatever it is, in a form that a header can hold", () => {
    const state = { example_id: 7, note: "a\r\nb é \ud800", info: { a: 1 }, gone: null, long: "x".repeat(5000) };
    const headers = stateHeaders({ "X-Note": "note", "X-Info": "info", "X-Gone": "gone", "X-None": "none", "X-Long": "long" }, state);
    expect(headers).toMatchObject({ "x-session-id": "7", "x-note": "a%0D%0Ab %C3%A9 %EF%BF%BD", "x-info": '{"a":1}' });
    expect(Object.keys(headers).sort()).toEqual(["x-info", "x-long", "x-note", "x-session-id"]);
    expect(() => new Headers(headers)).not.toThrow();
  });

  it("replace the default of the same name, however it is written", () => {
    expect(stateHeaders({ "X-SESSION-ID": "note" }, { example_id: 1, note: "n" })).toEqual({ "x-session-id": "n" });
  });
});
