import { fail, ok, type Result } from "../../errors/result.ts";
import { type Caller, ownerBy } from "../../teams/caller.ts";
import { isToken } from "../../teams/token-text.ts";
import type { AppFacts, AppPorts } from "../app-ports.ts";
import { callerOfSession, callerOfToken } from "./callers.ts";
import { checkPlace } from "./place.ts";
import type { Principals } from "./principals.ts";
import { isSame } from "./same-text.ts";
import { countsHere, sessionIn } from "./session.ts";

/**
 * Who calls. Deployed: whoever has the owner's token, or one of a team, or a browser that was signed in with one. Local: the same, from this machine; while no
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
  const session = request.headers.has("authorization") ? "" : sessionIn(request, facts.local);
  if (session !== "") return checkSession(request, session, ports, principals);
  return fail("unauthorized", "The token is missing or wrong.", "Send `Authorization: Bearer <token>`: EDGEWISE_TOKEN, or one of `npx edgewise token create`.");
}

async function checkSession(request: Request, session: string, ports: AppPorts, principals: Principals): Promise<Result<Caller>> {
  const counts = await countsHere(request, session, ports.facts.local);
  if (!counts.ok) return counts;
  const caller = await callerOfSession(session, ports, principals);
  return caller === null ? fail("unauthorized", "This browser is signed in no more.", "Sign in again at /sign-in.") : ok(caller);
}

/** Whether a page leads who is not known to the form: a browser asks for a page, and shows no token of its own. */
export const mayBeLed = ({ headers, method, url }: Request, { token }: AppFacts): boolean =>
  token !== null &&
  (method === "GET" || method === "HEAD") &&
  new URL(url).pathname.startsWith("/dashboard/") &&
  !headers.has("authorization") &&
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
