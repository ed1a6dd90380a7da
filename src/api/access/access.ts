import { fail, ok, type Result } from "../../errors/result.ts";
import { type Caller, ownerBy } from "../../teams/caller.ts";
import { isToken } from "../../teams/token-text.ts";
import type { AppFacts, AppPorts } from "../app-ports.ts";
import { callerOfAssertion, callerOfSession, callerOfToken } from "./callers.ts";
import { ASSERTION } from "./cloudflare-access.ts";
import { checkPlace } from "./place.ts";
import type { Principals } from "./principals.ts";
import { isSame } from "./same-text.ts";
import { countsHere, sessionIn } from "./session.ts";

/**
 * Who calls. Deployed: whoever has the owner's token, or one of a team, a browser that was signed in with one, or a user whom Cloudflare Access names. Local: the same, from this machine; while no
 * token is set, whoever is on it is the owner.
 */
export async function checkAccess(request: Request, ports: AppPorts, principals: Principals): Promise<Result<Caller>> {
  const { facts } = ports;
  const place = checkPlace(request, facts);
  if (!place.ok) return place;
  if (facts.local && !(await provesItself(request, facts))) {
    return fail("unauthorized", "X-Edgewise-Attended is not the secret of this service.", "It is for the commands of edgewise; leave it out over HTTP.");
  }
  if (facts.token === null && !facts.local)
    return fail("unauthorized", "This deployment has no token yet and refuses every request.", "Type `wrangler secret put EDGEWISE_TOKEN`.");
  const shown = tokenIn(request);
  const caller = await callerOfToken(shown, ports, principals);
  if (caller !== null) return ok(caller);
  if (isToken(shown))
    return fail("unauthorized", "This token is none of this service's, or is revoked or over.", "`npx edgewise token list` shows those there are.");
  // Clients send whatever they have set for elsewhere.
  if (facts.token === null) return ok(ownerBy("local"));
  const byItself = request.headers.has("authorization") ? null : await checkBrowser(request, ports, principals);
  if (byItself !== null) return byItself;
  return fail("unauthorized", "The token is missing or wrong.", "Send `Authorization: Bearer <token>`: EDGEWISE_TOKEN, or one of `npx edgewise token create`.");
}

/** What a browser sends by itself: the cookie of the form, or that of Cloudflare Access, which Access makes a header of. Null where it sends neither. */
async function checkBrowser(request: Request, ports: AppPorts, principals: Principals): Promise<Result<Caller> | null> {
  const session = sessionIn(request, ports.facts.local);
  const assertion = ports.access === null ? null : request.headers.get(ASSERTION);
  const signedIn = session === "" ? null : await callerOfSession(session, ports, principals);
  if (signedIn === null && ports.access !== null && assertion !== null) {
    const caller = await callerOfAssertion(ports.access, assertion, ports, principals);
    if (!caller.ok) return caller;
    const counts = await countsHere(request, assertion, ports.facts.local);
    return counts.ok ? caller : counts;
  }
  if (session === "") return null;
  const counts = await countsHere(request, session, ports.facts.local);
  if (!counts.ok) return counts;
  return signedIn === null ? fail("unauthorized", "This browser is signed in no more.", "Sign in again at /sign-in.") : ok(signedIn);
}

/** Whether a page leads who is not known to the form: a browser asks for a page, and shows no token of its own. */
export const mayBeLed = ({ headers, method, url }: Request, { access, facts }: AppPorts): boolean =>
  facts.token !== null &&
  (method === "GET" || method === "HEAD") &&
  new URL(url).pathname.startsWith("/dashboard/") &&
  !headers.has("authorization") &&
  (access === null || !headers.has(ASSERTION)) &&
  /\btext\/html\b/.test(headers.get("accept") ?? "");

/** "" when there is none. */
function tokenIn(request: Request): string {
  const [, scheme = "", credentials = ""] = /^(\w+) +(.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  return scheme.toLowerCase() === "bearer" ? credentials : "";
}

const ATTENDED = "x-edgewise-attended";

/** A request that claims a person at a terminal shows the secret of this boot, which only that person's commands can read. */
async function provesItself({ headers }: Request, { commandSecret }: AppFacts): Promise<boolean> {
  const shown = headers.get(ATTENDED);
  return shown === null || (commandSecret !== null && (await isSame(shown, commandSecret)));
}

/** Whether a person of this machine waits for the run at a terminal. The door has compared the secret before, in constant time. */
export const isAttended = ({ local, commandSecret }: AppFacts, { headers }: Request): boolean =>
  local && commandSecret !== null && headers.get(ATTENDED) === commandSecret;
