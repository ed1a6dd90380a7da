import { type Context, Hono } from "hono";
import { ASSERTION } from "../access/cloudflare-access.ts";
import { ownOrigin } from "../access/place.ts";
import { csrfOf, sessionIn } from "../access/session.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { readTwice } from "../read-twice.ts";
import { readRun, viewOf } from "../runs/run-of.ts";
import { pageQuery } from "../schemas.ts";
import { BUILT_DASHBOARD } from "./built-dashboard.ts";
import { dashboardPage, dashboardPolicy } from "./dashboard-page.ts";
import { answerPage } from "./answer-page.ts";
import { PAGE_LOG_LINES, runPage } from "./run-page.ts";
import type { SignedIn } from "./page.ts";
import { RUNS_PER_PAGE, runsPage } from "./runs-page.ts";

/**
 * `/dashboard/`: pages for people. One of them is the link that the `prime` client prints; its files are served beside it (files.ts). Where a deployment's
 * `wrangler.toml` names no `[assets]` the pages are plain ones.
 */
export const dashboard = new Hono<AppContext>();

dashboard.get("/", async (c) => {
  const { ports, caller } = c.var;
  if (BUILT_DASHBOARD !== null && ports.assets !== null) {
    const viewer = { team: ports.team, teams: caller.teams, signedIn: await signedInBy(c), version: ports.facts.version };
    const policy = dashboardPolicy(ownOrigin(c.req.raw, ports.facts.local) ?? "'self'");
    return answerPage(dashboardPage(BUILT_DASHBOARD, viewer), 200, { "content-security-policy": policy });
  }
  const { page: number } = check(pageQuery, c.req.query(), "query");
  const query = { skip: (number - 1) * RUNS_PER_PAGE, limit: RUNS_PER_PAGE, environment_name: null };
  const { runs, total } = await readTwice(
    () => c.var.ports.registry,
    (registry) => registry.list(query),
  );
  return answerPage(runsPage({ runs, total, number, team: c.var.ports.team, teams: c.var.caller.teams, signedIn: await signedInBy(c) }));
});

dashboard.get("/evaluations/:id", async (c) => {
  const view = await viewOf(c);
  const log = await readRun(c, (run) => run.logTail(PAGE_LOG_LINES));
  return answerPage(runPage(view, log ?? [], { signedIn: await signedInBy(c) }));
});

/** Null for who shows a token, or needs none. */
async function signedInBy({ req, var: { caller, ports } }: Context<AppContext>): Promise<SignedIn | null> {
  const { via } = caller;
  if (via === "session") return { via, csrf: await csrfOf(sessionIn(req.raw, ports.facts.local)) };
  return via === "access" ? { via, csrf: await csrfOf(req.header(ASSERTION) ?? "") } : null;
}
