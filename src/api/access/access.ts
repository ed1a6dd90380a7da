import { isLoopbackHost, parseUrl } from "../../config/addresses.ts";
import { fail, ok, type Result } from "../../errors/result.ts";
import { type Caller, ownerBy } from "../../teams/caller.ts";
import { digestOfToken, isToken } from "../../teams/token-text.ts";
import type { AppFacts, AppPorts } from "../app-ports.ts";
import type { Principals } from "./principals.ts";

/**
 * Who calls. Deployed: whoever has the owner's token, or one of a team. Local: whoever is on this machine (the owner, while no token is set), but no web page in its browser other than the service's own:
 * `Host` must be a loopback name (a page's own name can be made to resolve to 127.0.0.1), and what browsers say of the page that asks must name
 * this service. Another port of this machine is another page: whatever is developed or shown there is not the user.
 */
export async function checkAccess(request: Request, ports: AppPorts, principals: Principals): Promise<Result<Caller>> {
  const { facts } = ports;
  if (facts.local && !hostsOf(request).every(isLoopbackHost)) {
    return fail("unauthorized", "The local service answers only this machine, by a loopback name.", "Use localhost or the loopback address in the URL.");
  }
  if (facts.local && isForAnotherPage(request)) {
    return fail(
      "unauthorized",
      "The local service takes no request that a page of another address sends.",
      "Open its own pages at /dashboard/, or ask from a program.",
    );
  }
  if (facts.local && !(await provesItself(request, facts))) {
    return fail("unauthorized", "X-Edgewise-Attended is not the secret of this service.", "It is for the commands of edgewise; leave it out over HTTP.");
  }
  if (facts.token === null && !facts.local)
    return fail("unauthorized", "This deployment has no token yet and refuses every request.", "Type `wrangler secret put EDGEWISE_TOKEN`.");
  const shown = tokenIn(request);
  if (facts.token !== null && (await isSame(shown, facts.token))) return ok(ownerBy("owner"));
  if (isToken(shown)) {
    const principal = await principals.of(() => ports.directory, await digestOfToken(shown), ports.now());
    if (principal !== null) return ok({ ...principal, owner: false, via: "token" });
    return fail("unauthorized", "This token is none of this service's, or is revoked or over.", "`npx edgewise token list` shows those there are.");
  }
  // Clients send whatever they have set for elsewhere.
  if (facts.token === null) return ok(ownerBy("local"));
  if (isForBrowser(request)) return fail("unauthorized", "The token is missing or wrong.", "Give a token as password; the user name does not matter.");
  return fail("unauthorized", "The token is missing or wrong.", "Send `Authorization: Bearer <token>`: EDGEWISE_TOKEN, or one of `npx edgewise token create`.");
}

/** Looking at a run's page, and nothing else: a browser sends a password again by itself, also where another site made it ask. */
const isForBrowser = ({ method, url }: Request): boolean => (method === "GET" || method === "HEAD") && new URL(url).pathname.startsWith("/dashboard/");

/** What makes a browser ask for a password (docs/decisions/token-as-password.md). */
export const challengeOf = (request: Request, facts: AppFacts): Readonly<Record<string, string>> =>
  facts.token !== null && isForBrowser(request) ? { "www-authenticate": 'Basic realm="edgewise", charset="UTF-8"' } : {};

/** "" when there is none that counts here. */
function tokenIn(request: Request): string {
  const [, scheme = "", credentials = ""] = /^(\w+) +(.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  if (scheme.toLowerCase() === "bearer") return credentials;
  return scheme.toLowerCase() === "basic" && isForBrowser(request) ? passwordIn(credentials) : "";
}

/** Of `base64(name:password)` (RFC 7617). */
function passwordIn(credentials: string): string {
  try {
    const pair = new TextDecoder().decode(Uint8Array.from(atob(credentials), (character) => character.charCodeAt(0)));
    return pair.slice(pair.indexOf(":") + 1);
  } catch {
    // Not base64: no password.
    return "";
  }
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

function hostsOf({ headers, url }: Request): readonly string[] {
  const host = headers.get("host");
  return [url, ...(host ? [`http://${host}`] : [])].map((each) => parseUrl(each)?.hostname ?? "");
}

/**
 * Whether a browser says that a page of another scheme, host or port asks. `Origin` stands in all that writes and in what a script may read;
 * `Sec-Fetch-Site` also in what a page only embeds. Programs send neither. A link that a person follows leads to a page, and tells its former one nothing.
 */
function isForAnotherPage({ headers, method, url }: Request): boolean {
  const [host, origin, site] = ["host", "origin", "sec-fetch-site"].map((name) => headers.get(name));
  const own = parseUrl(host ? `http://${host}` : url)?.origin;
  if (origin !== null && origin !== own) return true;
  if (site === null || site === "same-origin" || site === "none") return false;
  const follows = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  return !(follows && (method === "GET" || method === "HEAD"));
}

/** Takes equally long wherever the texts differ: digests are compared, and all of their bytes. */
async function isSame(given: string, wanted: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const [a, b] = await Promise.all([given, wanted].map((text) => crypto.subtle.digest("SHA-256", encoder.encode(text))));
  if (a === undefined || b === undefined) return false;
  const [left, right] = [new Uint8Array(a), new Uint8Array(b)];
  return left.reduce((difference, byte, index) => difference | (byte ^ (right[index] ?? 0)), 0) === 0;
}
