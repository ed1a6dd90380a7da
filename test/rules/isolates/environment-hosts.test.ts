import { describe, expect, it } from "vitest";
import { declaredHostsProblem, hostsProblem, requestProblem } from "../../../src/config/endpoints/environment-hosts.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { describeEnvironment } from "../../../src/environments/definition/describe.ts";
import { boundedBody, statedTooLarge } from "../../../src/isolates/bounded-body.ts";
import { z } from "../../../src/zod.ts";

describe("hosts that an environment declares", () => {
  it("are names, with a port or without", () => {
    expect(declaredHostsProblem(["api.example.com", "api.example.com:8443", "localhost:3000", "xn--bcher-kva.example"])).toBeNull();
  });

  it.each([
    ["https://api.example.com"],
    ["api.example.com/v1"],
    ["API.example.com"],
    ["*.example.com"],
    ["*"],
    [""],
    ["api.example.com."],
    ["user@api.example.com"],
    ["10.0.0.1"],
    ["93.184.216.34"],
    ["2130706433"],
    ["0x7f.1"],
    ["[::1]"],
    ["api.example.com:0"],
    ["api.example.com:70000"],
    [`${"a".repeat(64)}.example`],
  ])("are not %j, which is said", (host) => {
    expect(declaredHostsProblem([host])).toContain("write the name of a host");
  });

  it("stand in what is known of it, and are refused where it is defined", () => {
    const options = { id: "x", version: "1", description: "", args: z.object({}), load: () => expect.unreachable() };
    expect(describeEnvironment(defineEnvironment({ ...options, hosts: ["api.example.com"] })).hosts).toEqual(["api.example.com"]);
    expect(describeEnvironment(defineEnvironment(options)).hosts).toBeUndefined();
    expect(() => defineEnvironment({ ...options, hosts: ["http://x"] })).toThrow('environment x: hosts has "http://x"');
    expect(() => defineEnvironment({ ...options, hosts: Array.from({ length: 21 }, (_, n) => `h${n}.example.com`) })).toThrow("at most 20");
  });
});

describe("a service", () => {
  const asks = (allowed: string | null, local: boolean, ...declared: string[]) => hostsProblem({ declared, allowed, local });

  it("that is deployed lets environments call what its operator has named, and the others are told where to ask", () => {
    expect(asks("api.example.com, *.example.org", false, "api.example.com", "a.example.org")).toBeNull();
    expect(asks("api.example.com", false, "api.example.com", "b.example.com")).toContain("asks for b.example.com, and this service does not let");
    expect(asks(null, false, "api.example.com")).toContain("ENVIRONMENT_HOSTS");
    expect(asks("", false, "api.example.com")).toContain("ENVIRONMENT_HOSTS");
    expect(asks(null, false)).toBeNull();
  });

  it("that is deployed calls no private place for them, whatever is allowed", () => {
    for (const host of ["localhost:3000", "metadata.google.internal", "router.lan", "127.0.0.1.nip.io", "localtest.me", "intranet"])
      expect(asks("*", false, host), host).toContain("must be a public address");
    expect(asks("*", false, "api.example.com")).toBeNull();
  });

  it("of one's own machine lets them call what they declare, unless the variable says which", () => {
    expect(asks(null, true, "localhost:3000", "api.example.com")).toBeNull();
    expect(asks("api.example.com", true, "localhost:3000")).toContain("localhost:3000");
  });
});

describe("a request of an environment", () => {
  const to = (url: string, local = false, ...declared: string[]) => requestProblem(url, { declared, local });

  it("goes to hosts that it declares, deployed by https alone", () => {
    expect(to("https://api.example.com/v1?q=1", false, "api.example.com")).toBeNull();
    expect(to("https://api.example.com:8443/", false, "api.example.com:8443")).toBeNull();
    expect(to("http://api.example.com/", false, "api.example.com")).toContain("https");
    expect(to("http://localhost:3000/", true, "localhost:3000")).toBeNull();
  });

  it.each([
    ["https://api.example.com.evil.example/"],
    ["https://evil.example/api.example.com"],
    ["https://api.example.com@evil.example/"],
    ["https://api.example.com:444/"],
    ["https://169.254.169.254/"],
    ["https://[::ffff:127.0.0.1]/"],
    ["https://2130706433/"],
    ["ftp://api.example.com/"],
    ["no address"],
  ])("goes nowhere else: %s", (url) => {
    expect(to(url, false, "api.example.com")).not.toBeNull();
    expect(to(url, true, "api.example.com")).not.toBeNull();
  });
});

describe("a body on its way into or out of an isolate", () => {
  it("breaks off where it goes on beyond its bound, whatever its head said", async () => {
    const bytes = (length: number) => new Response(new Uint8Array(length));
    expect((await new Response(boundedBody(bytes(100).body, 100)).arrayBuffer()).byteLength).toBe(100);
    await expect(new Response(boundedBody(bytes(101).body, 100)).arrayBuffer()).rejects.toThrow("more than 100 bytes");
    expect(boundedBody(null, 100)).toBeNull();
    expect(statedTooLarge(new Response("", { headers: { "content-length": "101" } }), 100)).toContain("more than 100 bytes");
    expect(statedTooLarge(new Response(""), 100)).toBeNull();
  });
});
