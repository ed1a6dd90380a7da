import { type Context, Hono } from "hono";
import { isLoopbackHost } from "../../config/endpoints/addresses.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { digestOfToken, drawToken } from "../../teams/token-text.ts";
import { callerOfSession, callerOfToken } from "../access/callers.ts";
import { checkPlace, ownOrigin, placeOf } from "../access/place.ts";
import { RequestAudit } from "../access/request-audit.ts";
import { csrfOf, ownerProof, SESSION_MS, sessionCookie, sessionIn, targetPage } from "../access/session.ts";
import type { AppContext } from "../app-context.ts";
import { readForm } from "../body.ts";
import { unwrap } from "../errors.ts";
import { directoryOf } from "../people/directory-of.ts";
import { answerPage } from "./answer-page.ts";
import { signInPage } from "./sign-in-page.ts";

/** `/sign-in`, which is open to everybody, and `/sign-out`. */
export const signIn = new Hono<AppContext>();
export const signOut = new Hono<AppContext>();

const OPENS = "session.open";
/** Who signs in without being anybody. */
const NOBODY = { user: "unknown", via: "nobody", token: null };

const leadTo = (location: string, cookie?: string): Response =>
  new Response(null, { status: 303, headers: { location, "cache-control": "no-store", ...(cookie === undefined ? {} : { "set-cookie": cookie }) } });

/** The owner's token; null where there is nothing to sign in to. Refuses what may not ask here at all. */
function tokenOf({ req, var: { ports } }: Context<AppContext>): string | null {
  const { facts } = ports;
  unwrap(checkPlace(req.raw, facts));
  if (facts.token !== null || facts.local) return facts.token;
  throw new EdgewiseError("unauthorized", "This deployment has no token yet and refuses every request.", {
    hint: "Type `wrangler secret put EDGEWISE_TOKEN`.",
  });
}

signIn.get("/", async (c) => {
  const { ports, principals } = c.var;
  const { local } = ports.facts;
  const url = new URL(c.req.url);
  const to = targetPage(url.searchParams.get("to"));
  if (tokenOf(c) === null) return leadTo(to);
  // A token is not typed into a page that anybody on the way may have written.
  if (!local && url.protocol === "http:" && !isLoopbackHost(url.hostname)) return leadTo(`https://${url.host}/sign-in?to=${encodeURIComponent(to)}`);
  if ((await callerOfSession(sessionIn(c.req.raw, local), ports, principals)) !== null) return leadTo(to);
  return answerPage(signInPage(to, null));
});

signIn.post("/", async (c) => {
  const { ports, principals } = c.var;
  const { local } = ports.facts;
  const ownerToken = tokenOf(c);
  // Nobody is signed in by a page of elsewhere, as another.
  if (c.req.header("origin") !== ownOrigin(c.req.raw, local))
    throw new EdgewiseError("unauthorized", "A token is taken from the form of this service alone.", {
      hint: "Open /sign-in, in a browser that sends `Origin`.",
    });
  const form = await readForm(c.req.raw);
  const to = targetPage(form.get("to"));
  if (ownerToken === null) return leadTo(to);
  const place = placeOf(c.req.raw, local);
  const wait = await directoryOf(c).attemptSignIn(place);
  if (wait > 0) {
    const seconds = Math.ceil(wait / 1_000);
    return answerPage(signInPage(to, `Too many attempts from your address. The next one is allowed in ${Math.ceil(seconds / 60)} minutes.`), 429, {
      "retry-after": String(seconds),
    });
  }
  const caller = await callerOfToken((form.get("token") ?? "").trim(), ports, principals);
  const audit = new RequestAudit(c.req.raw, caller ?? NOBODY, OPENS, local, null);
  for (const team of caller?.teams ?? [ports.team]) await audit.begin(ports.inTeam(team));
  if (caller === null) {
    await audit.end(401);
    return answerPage(signInPage(to, "This token is none of this service's, or is revoked or over."), 401);
  }
  const session = drawToken();
  const of = caller.token === null ? { owner_proof: await ownerProof(session, ownerToken) } : { token: caller.token };
  const ends = ports.now() + SESSION_MS;
  await directoryOf(c).openSession({ digest: await digestOfToken(session), of, expires_at: Math.min(ends, caller.expires_at ?? ends), place });
  await audit.end(303);
  return leadTo(to, sessionCookie(session, local));
});

signOut.post("/", async (c) => {
  const { caller, ports, principals } = c.var;
  const { local } = ports.facts;
  const session = sessionIn(c.req.raw, local);
  if (caller.via !== "session") throw new EdgewiseError("not_found", "This caller is not signed in by the form.", { hint: "Leave the token out instead." });
  if ((await readForm(c.req.raw)).get("csrf") !== (await csrfOf(session)))
    throw new EdgewiseError("unauthorized", "The form's `csrf` is not that of this browser.", { hint: "Use the button of a page of this service." });
  await directoryOf(c).endSession(await digestOfToken(session));
  principals.forget();
  return leadTo("/sign-in", sessionCookie("", local));
});
