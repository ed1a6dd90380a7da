import { reset } from "cloudflare:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { KNOWN_MS } from "../../../src/api/access/principals.ts";
import { Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { restoreClock, service, setVars, silenceQueue, skip, STEADY } from "../support/service.ts";

const SITE = "https://edgewise.example";
const TEAM = "acme.cloudflareaccess.com";
const AUD = "ab".repeat(32);

beforeEach(() => {
  setVars(STEADY);
  silenceQueue();
  deploy();
  Object.assign(service, { ACCESS_TEAM_DOMAIN: TEAM, ACCESS_AUD: AUD });
});
afterEach(async () => {
  restoreClock();
  undeploy();
  Object.assign(service, { ACCESS_TEAM_DOMAIN: undefined, ACCESS_AUD: undefined });
  vi.restoreAllMocks();
  await reset();
});

it("whom Cloudflare Access names is the user with that address in the Directory: in the teams and with the scopes of that user, until taken out", async () => {
  const pair = await generateKeyPair("RS256", { extractable: true });
  const asked: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => {
    asked.push(String(url));
    return Response.json({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: "one", alg: "RS256", use: "sig" }] });
  });
  const now = Math.floor(Date.now() / 1_000);
  const assertion = await new SignJWT({ email: "Ada@Example.com", type: "app" })
    .setProtectedHeader({ alg: "RS256", kid: "one" })
    .setIssuer(`https://${TEAM}`)
    .setAudience(AUD)
    .setIssuedAt(now - 10)
    .setExpirationTime(now + 3_600)
    .sign(pair.privateKey);
  const door = new Door();
  const ask = (path: string) => door.call(null, "GET", path, undefined, { "cf-access-jwt-assertion": assertion, origin: SITE });
  expect((await ask("/evaluations/")).status).toBe(403);
  await door.join("ada", ["acme"], ["runs:read"]);
  await door.json(OWNER_TOKEN, "PUT", "/teams/acme/members/ada", { email: "ADA@example.com" });
  skip(KNOWN_MS + 1);
  const teams = await (await ask("/user/teams")).json();
  expect(teams).toMatchObject({ data: [{ teamId: "acme" }] });
  expect((await ask("/evaluations/")).status).toBe(200);
  expect((await ask("/tokens")).status).toBe(403);
  await door.json(OWNER_TOKEN, "DELETE", "/teams/acme/members/ada");
  skip(KNOWN_MS + 1);
  expect((await ask("/evaluations/")).status).toBe(403);
  expect(asked).toEqual([`https://${TEAM}/cdn-cgi/access/certs`]);
});
