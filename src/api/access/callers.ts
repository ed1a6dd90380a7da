import { fail, ok, type Result } from "../../errors/result.ts";
import { type Caller, ownerBy } from "../../teams/caller.ts";
import { digestOfToken, isToken } from "../../teams/token-text.ts";
import type { AppPorts } from "../app-ports.ts";
import type { AccessDoor } from "./cloudflare-access.ts";
import type { Principals } from "./principals.ts";
import { isSame } from "./same-text.ts";
import { ownerProof } from "./session.ts";

/** Who a text stands for that a caller shows: a token, the session of a browser, or the header of Cloudflare Access. Null for one that stands for nobody here. */

export async function callerOfToken(shown: string, ports: AppPorts, principals: Principals): Promise<Caller | null> {
  const { token } = ports.facts;
  if (token !== null && (await isSame(shown, token))) return ownerBy("owner");
  if (!isToken(shown)) return null;
  const principal = await principals.of(() => ports.directory, await digestOfToken(shown), ports.now());
  return principal === null ? null : { ...principal, owner: false, via: "token" };
}

export async function callerOfSession(shown: string, ports: AppPorts, principals: Principals): Promise<Caller | null> {
  const { token } = ports.facts;
  if (token === null || !isToken(shown)) return null;
  const session = await principals.session(() => ports.directory, await digestOfToken(shown), ports.now());
  if (session === null) return null;
  if ("principal" in session) return { ...session.principal, expires_at: session.expires_at, owner: false, via: "session" };
  return (await isSame(await ownerProof(shown, token), session.owner_proof)) ? { ...ownerBy("session"), expires_at: session.expires_at } : null;
}

/** The user with the address that Cloudflare Access vouches for. */
export async function callerOfAssertion(door: AccessDoor, assertion: string, ports: AppPorts, principals: Principals): Promise<Result<Caller>> {
  const email = await door.emailOf(assertion, ports.now());
  if (!email.ok) return email;
  const principal = await principals.person(() => ports.directory, email.value, ports.now());
  if (principal !== null) return ok({ ...principal, owner: false, via: "access" });
  return fail(
    "forbidden",
    `${email.value} is no user of this service, or in no team of it.`,
    `\`npx edgewise team add TEAM USER --email ${email.value}\` adds one.`,
  );
}
