import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { infoOf, telling } from "../support/isolated.ts";
import { service } from "../support/service.ts";

/** What reached the network. */
let sent: string[] = [];
const answers: Readonly<Record<string, () => Response>> = {
  "/aside": () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/latest/meta-data/" } }),
  "/home": () => new Response(null, { status: 307, headers: { location: "https://127.0.0.1.nip.io/" } }),
  "/back": () => new Response(null, { status: 302, headers: { location: "https://api.example.com/ok" } }),
  "/large": () => new Response(null, { headers: { "content-length": String(17 * 1024 * 1024) } }),
};
beforeEach(() => {
  sent = [];
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(`${request.method} ${request.url} ${request.headers.get("authorization") ?? ""} ${await request.text()}`.trim());
    return answers[new URL(request.url).pathname]?.() ?? new Response("answered");
  };
  Object.assign(service, { NETWORK: { fetch }, ENVIRONMENT_HOSTS: "api.example.com" });
});
afterEach(async () => {
  Object.assign(service, { NETWORK: undefined, LOCAL: undefined, ENVIRONMENT_HOSTS: undefined });
  await reset();
});

/** What the code gets for each address, or is refused with. */
const asking = (...asked: readonly string[]): string =>
  telling(`(async () => {
  const found = {};
  for (const asked of ${JSON.stringify(asked)}) {
    try {
      const [url, method = "GET", body] = asked.split(" ");
      const answer = await fetch(url, { method, body, headers: { authorization: "token-of-its-own" } });
      found[asked] = answer.status + " " + await answer.text();
    } catch (error) { found[asked] = error.message; }
  }
  return found;
})()`);
const HOSTS = ["api.example.com"];

describe("requests of an environment that declares hosts", () => {
  it("go there as they were written, by https, and nowhere else", async () => {
    const info = await infoOf(
      asking(
        "https://api.example.com/v1 POST hello",
        "http://api.example.com/v1",
        "https://other.example.com/",
        "https://api.example.com:8443/",
        "https://10.0.0.1/",
        "http://localhost:3000/",
        "https://metadata.google.internal/computeMetadata/v1/",
      ),
      { hosts: HOSTS },
    );
    const [allowed, ...refused] = Object.values(info);
    expect(allowed).toBe("200 answered");
    for (const reason of refused) expect(reason).toMatch(/^this environment may not send a request there: /);
    expect(sent).toEqual(["POST https://api.example.com/v1 token-of-its-own hello"]);
  });

  it("are followed by redirects to these hosts, and to no others", async () => {
    const at = (path: string) => `https://api.example.com${path}`;
    const info = await infoOf(asking(at("/back"), at("/aside"), at("/home")), { hosts: HOSTS });
    expect(info[at("/back")]).toBe("200 answered");
    expect(info[at("/aside")]).toContain("169.254.169.254 is none of the hosts");
    expect(info[at("/home")]).toContain("127.0.0.1.nip.io is none of the hosts");
    expect(sent.map((line) => line.split(" ")[1])).toEqual(["/back", "/ok", "/aside", "/home"].map(at));
  });

  it("of one's own machine go to private hosts that it declares, without https as well", async () => {
    Object.assign(service, { LOCAL: "1", ENVIRONMENT_HOSTS: undefined });
    const info = await infoOf(asking("http://localhost:3000/", "http://localhost:3001/"), { hosts: [...HOSTS, "localhost:3000"] });
    expect(info["http://localhost:3000/"]).toBe("200 answered");
    expect(info["http://localhost:3001/"]).toContain("localhost:3001 is none of the hosts");
  });

  it("are not even begun where the operator allows none of them, or they are private", async () => {
    const refusal = (hosts: readonly string[]) =>
      infoOf(telling("({})"), { hosts }).catch((thrown: { code: string; message: string }) => [thrown.code, thrown.message]);
    expect(await refusal(["other.example.com"])).toEqual(["access_not_allowed", expect.stringContaining("allows hosts in ENVIRONMENT_HOSTS")]);
    Object.assign(service, { ENVIRONMENT_HOSTS: "*" });
    expect(await refusal(["metadata.google.internal"])).toEqual(["access_not_allowed", expect.stringContaining("must be a public address")]);
  });

  it("are sent and answered in messages of bounded size, and open no other connection", async () => {
    const info = await infoOf(
      telling(`(async () => {
  const { connect } = await import("cloudflare:sockets");
  const tell = (work) => work().then(() => "reached").catch((error) => error.message);
  return {
    large: await tell(() => fetch("https://api.example.com/large").then((answer) => answer.text())),
    websocket: await tell(() => new Promise((ok, no) => {
      const socket = new WebSocket("wss://api.example.com/");
      socket.onopen = ok;
      socket.onerror = () => no(new Error("closed"));
    })),
    socket: await tell(async () => {
      const socket = connect("api.example.com:443");
      const { done } = await socket.readable.getReader().read();
      if (done) throw new Error("closed");
    }),
  };
})()`),
      { hosts: HOSTS },
    );
    expect(info.large).toContain("more than 16777216 bytes");
    expect(info.websocket).toBe("closed");
    expect(info.socket).not.toBe("reached");
    expect(sent).toEqual(["GET https://api.example.com/large"]);
  });
});
