import { sha256Hex } from "../../config/sha256.ts";
import { fail, ok, type Result } from "../../errors/result.ts";
import { ownOrigin } from "./place.ts";

/**
 * A browser's way in: a token that was typed into a form becomes a cookie of 32 random bytes that lasts a working day. A browser sends it by itself, so it
 * counts only where the browser says that a page of this service asks, and for changes where that page shows what no other can read.
 */

/** `__Host-`: set by this host itself, over https, for all of its paths. A local service has no https. */
const cookieName = (local: boolean): string => (local ? "edgewise-session" : "__Host-edgewise-session");
export const SESSION_MS = 8 * 60 * 60_000;
export const CSRF_HEADER = "x-edgewise-csrf";

/** The text of the session's cookie; "" where there is none. */
export function sessionIn({ headers }: Request, local: boolean): string {
  const wanted = cookieName(local);
  for (const part of (headers.get("cookie") ?? "").split(";")) {
    const [name = "", value = ""] = part.trim().split("=");
    if (name === wanted) return value;
  }
  return "";
}

/** `text` "": takes the cookie away. */
export function sessionCookie(text: string, local: boolean): string {
  const age = text === "" ? 0 : SESSION_MS / 1_000;
  return `${cookieName(local)}=${text}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${local ? "" : "; Secure"}`;
}

/** What a page of the session shows with a change: made of the cookie, which no page can read. */
export const csrfOf = async (session: string): Promise<string> => (await sha256Hex(`csrf ${session}`)).slice(0, 32);

/** What is stored of an owner's session instead of anything of the token: it can be tried against guesses only by who has the session's text. */
export const ownerProof = (session: string, ownerToken: string): Promise<string> => sha256Hex(`owner ${session} ${ownerToken}`);

/**
 * Whether what a browser sends by itself counts for this request; the failure says what is missing. Pages: links may be followed to them, and nothing else leads
 * there from outside. `/api`: a change shows `Origin` and the CSRF header; a look shows `Origin`, or `Sec-Fetch-Site`, since browsers send no `Origin`
 * with what a page looks at of its own service. A program that sends neither has a token. Everything else: never.
 */
export async function countsHere(request: Request, credential: string, local: boolean): Promise<Result<null>> {
  const { headers, method, url } = request;
  const { pathname } = new URL(url);
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  const looks = method === "GET" || method === "HEAD";
  const sameOrigin = origin === null ? looks && site === "same-origin" : origin === ownOrigin(request, local);
  const refuse = (hint: string) => fail("unauthorized", "A browser that is signed in may ask for this only from a page of this service.", hint);
  if (pathname.startsWith("/dashboard/") && looks) {
    const follows = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
    return sameOrigin || (origin === null && (site === null || site === "none" || follows)) ? ok(null) : refuse("Open the page itself.");
  }
  // Its form shows the token of the page in its body.
  if (pathname === "/sign-out") return sameOrigin ? ok(null) : refuse("Use the button of a page of this service.");
  if (!pathname.startsWith("/api/")) return refuse("Send a token as `Authorization: Bearer <token>`.");
  if (!sameOrigin) return refuse("A program sends a token as `Authorization: Bearer <token>`.");
  if (looks || headers.get(CSRF_HEADER) === (await csrfOf(credential))) return ok(null);
  return refuse("A change shows the page's CSRF token as `X-Edgewise-CSRF`.");
}

/** Where a sign-in leads: a page of the service and nothing else. */
export const targetPage = (text: string | null): string =>
  text !== null && PAGE_ADDRESS.test(text) && !/\.\.|\/\//.test(text) && staysBelow(text.split(/[?#]/, 1)[0] ?? "") ? text : "/dashboard/";
/** A path whose names may be encoded, a query as browsers write it, and a message of a rollout. */
const PAGE_ADDRESS = /^\/dashboard\/(?:[\w./!'()*~-]|%[0-9A-Fa-f]{2})*(?:\?[\w./=&%+,~*-]*)?(?:#m\d{1,9})?$/;

/** Whether a path has nothing encoded in it that a browser, or whoever decodes it, would take for the way to another one. */
function staysBelow(path: string): boolean {
  try {
    const decoded = decodeURIComponent(path);
    return !/[\p{Cc}\\]|\/\//u.test(decoded) && decoded.split("/").every((part) => part !== "." && part !== "..");
  } catch {
    return false;
  }
}
