import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { accessDoor } from "../../../../src/api/access/cloudflare-access.ts";
import { csrfOf } from "../../../../src/api/access/session.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../../support/door/fake-ports.ts";

const SITE = "https://edgewise.example";
const TEAM = "acme.cloudflareaccess.com";
const AUD = "ab".repeat(32);
const LIST = `${SITE}/api/v1/evaluations`;
const PAGE = `${SITE}/dashboard/evaluations/${CONFIG.run_id}`;
const OWN = { origin: SITE };

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;
let right: Pair;
let other: Pair;
let jwks = "";
beforeAll(async () => {
  [right, other] = await Promise.all([generateKeyPair("RS256", { extractable: true }), generateKeyPair("RS256")]);
  jwks = JSON.stringify({ keys: [{ ...(await exportJWK(right.publicKey)), kid: "one", alg: "RS256", use: "sig" }] });
});

interface Keys {
  asked: string[];
  answer: () => Response;
}
const keysOf = (answer = () => new Response(jwks)): Keys => ({ asked: [], answer });

function behindAccess(keys: Keys, domain = TEAM, audience = AUD): Door {
  const fetching: typeof fetch = async (url) => {
    keys.asked.push(String(url));
    return keys.answer();
  };
  const door = openDoor({ local: false, token: "owner" }, {}, undefined, undefined, accessDoor(domain, audience, fetching));
  door.run(CONFIG.run_id).state = viewFor(CONFIG);
  door.people.people.set("ada@example.com", { user: "ada", teams: ["default"], scopes: ["runs:write"], token: null, expires_at: null });
  return door;
}

const seconds = (): number => Math.floor(Date.now() / 1_000);
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  iss: `https://${TEAM}`,
  aud: [AUD],
  email: "Ada@example.com",
  type: "app",
  iat: seconds() - 10,
  exp: seconds() + 60,
  ...changes,
});
const signed = (payload: JWTPayload = claims(), key = right.privateKey, kid = "one"): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid }).sign(key);
const ask = async (door: Door, assertion: string, headers: Record<string, string> = OWN, url = LIST, method = "GET") =>
  door.call(method, url, undefined, { "cf-access-jwt-assertion": assertion, ...headers });

describe("the header of Cloudflare Access", () => {
  it("lets in the user with its address, by keys that are read once", async () => {
    const keys = keysOf();
    const door = behindAccess(keys);
    const assertion = await signed();
    const whoami = await ask(door, assertion, OWN, `${SITE}/api/v1/user/whoami`);
    expect(await whoami.json()).toMatchObject({ data: { id: "ada" } });
    for (let n = 0; n < 5; n++) expect((await ask(door, await signed())).status).toBe(200);
    expect(keys.asked).toEqual([`https://${TEAM}/cdn-cgi/access/certs`]);
    // What the user may do, and no more.
    expect((await ask(door, assertion, OWN, `${SITE}/api/v1/tokens`)).status).toBe(403);
  });

  it("of anybody else is refused by the address", async () => {
    const response = await ask(behindAccess(keysOf()), await signed(claims({ email: "eve@example.com" })));
    expect([response.status, await response.json()]).toMatchObject([403, { code: "forbidden", detail: expect.stringContaining("eve@example.com") }]);
    const service = await ask(behindAccess(keysOf()), await signed(claims({ email: undefined, common_name: "a service token" })));
    expect([service.status, await service.json()]).toMatchObject([403, { detail: expect.stringContaining("no person") }]);
  });

  it("is refused for another issuer, audience, time, key or algorithm, and says nothing of what was in it", async () => {
    const door = behindAccess(keysOf());
    const hmac = new TextEncoder().encode(jwks);
    const wrong: Record<string, string> = {
      issuer: await signed(claims({ iss: "https://evil.cloudflareaccess.com" })),
      "no issuer": await signed(claims({ iss: undefined })),
      audience: await signed(claims({ aud: ["cd".repeat(32)] })),
      "no audience": await signed(claims({ aud: undefined })),
      expired: await signed(claims({ exp: seconds() - 60 })),
      "without an end": await signed(claims({ exp: undefined })),
      "not yet": await signed(claims({ nbf: seconds() + 600 })),
      key: await signed(claims(), other.privateKey),
      "unknown key": await signed(claims(), other.privateKey, "two"),
      none: new UnsecuredJWT(claims()).encode(),
      "public key as secret": await new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: "one" }).sign(hmac),
      "changed payload": (await signed()).replace(/\.[^.]+\./, `.${btoa(JSON.stringify(claims({ email: "root@example.com" }))).replaceAll("=", "")}.`),
      "no token": "x",
      empty: "a.b.c",
    };
    for (const [name, assertion] of Object.entries(wrong)) {
      const response = await ask(door, assertion);
      const text = await response.text();
      expect(response.status, name).toBe(401);
      expect(text, name).toContain("Cf-Access-Jwt-Assertion");
      expect(text, name).not.toContain("example.com");
      if (assertion.length > 5) expect(text, name).not.toContain(assertion);
    }
    // A page says so too, and does not lead to the form.
    expect((await ask(door, wrong.audience ?? "", { accept: "text/html" }, PAGE)).headers.get("content-type")).toContain("json");
  });

  it("counts by the rules of what a browser sends by itself: pages of the service alone, and changes with what they alone know", async () => {
    const door = behindAccess(keysOf());
    const assertion = await signed();
    for (const headers of [{}, { origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }] as Record<string, string>[])
      expect((await ask(door, assertion, headers)).status, JSON.stringify(headers)).toBe(401);
    expect((await ask(door, assertion, { "sec-fetch-site": "same-origin" })).status).toBe(200);
    const page = await (await ask(door, assertion, {}, PAGE)).text();
    expect(page).toContain('action="/cdn-cgi/access/logout"');
    const csrf = /name="csrf" value="(\w+)"/.exec(page)?.[1] ?? "";
    expect(csrf).toBe(await csrfOf(assertion));
    const interrupt = async (headers: Record<string, string>) =>
      (await ask(door, assertion, headers, `${SITE}/api/v1/evaluations/${CONFIG.run_id}/interrupt`, "POST")).status;
    for (const headers of [{}, OWN, { "x-edgewise-csrf": csrf }, { origin: "https://evil.example", "x-edgewise-csrf": csrf }] as Record<string, string>[])
      expect(await interrupt(headers), JSON.stringify(headers)).toBe(401);
    expect(door.run(CONFIG.run_id).interrupts).toBe(0);
    expect(await interrupt({ ...OWN, "x-edgewise-csrf": csrf })).toBe(200);
    expect(door.registry.audited.at(-1)).toMatchObject({ user: "ada", via: "access", token: null, action: "run.interrupt" });
  });

  it("is not looked at beside a token, where no deployment names Access, nor by a local service", async () => {
    const door = behindAccess(keysOf());
    expect((await ask(door, "x", { authorization: "Bearer owner" })).status).toBe(200);
    expect((await ask(door, await signed(), { ...OWN, authorization: "Bearer wrong" })).status).toBe(401);
    const none = openDoor({ local: false, token: "owner" });
    none.people.people.set("ada@example.com", { user: "ada", teams: ["default"], scopes: ["runs:write"], token: null, expires_at: null });
    expect((await ask(none, await signed())).status).toBe(401);
    expect(accessDoor("", "")).toBe(null);
  });

  it("is not blamed where Access' keys cannot be read: that is for a moment, and has another status", async () => {
    const keys = keysOf(() => new Response("away", { status: 500 }));
    const door = behindAccess(keys);
    const response = await ask(door, await signed());
    expect([response.status, await response.json()]).toMatchObject([503, { code: "endpoint_unavailable", detail: expect.stringContaining(TEAM) }]);
    keys.answer = () => new Response(jwks);
    expect((await ask(door, await signed())).status).toBe(200);
  });

  it.each([
    ["https://acme.cloudflareaccess.com", AUD],
    ["acme", AUD],
    ["acme.cloudflareaccess.com.evil.example", AUD],
    [TEAM, ""],
    ["", AUD],
    [TEAM, "not-an-audience"],
  ])("lets nobody in where the settings are wrong, and names them: %j %j", async (domain, audience) => {
    const keys = keysOf();
    const response = await ask(behindAccess(keys, domain, audience), await signed());
    expect([response.status, await response.json()]).toMatchObject([401, { detail: expect.stringContaining("ACCESS_TEAM_DOMAIN") }]);
    expect(keys.asked).toEqual([]);
  });
});
