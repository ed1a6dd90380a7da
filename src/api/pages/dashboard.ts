import { type Context, Hono } from "hono";
import { EdgewiseError } from "../../errors/result.ts";
import { ASSERTION } from "../access/cloudflare-access.ts";
import { ownOrigin } from "../access/place.ts";
import { csrfOf, sessionIn } from "../access/session.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { readTwice } from "../read-twice.ts";
import { readRun, viewOf } from "../runs/run-of.ts";
import { pageQuery } from "../schemas.ts";
import { BUILT_DASHBOARD, type BuiltDashboard } from "./built-dashboard.ts";
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
  if (isBuilt(c)) return drawn(c);
  const { page: number } = check(pageQuery, c.req.query(), "query");
  const query = { skip: (number - 1) * RUNS_PER_PAGE, limit: RUNS_PER_PAGE, environment_name: null };
  const { runs, total } = await readTwice(
    () => c.var.ports.registry,
    (registry) => registry.list(query),
  );
  return answerPage(runsPage({ runs, total, number, team: c.var.ports.team, teams: c.var.caller.teams, signedIn: await signedInBy(c) }));
});

dashboard.get("/evaluations/:id", async (c) => {
  if (isBuilt(c)) return drawn(c);
  const view = await viewOf(c);
  const log = await readRun(c, (run) => run.logTail(PAGE_LOG_LINES));
  return answerPage(runPage(view, log ?? [], { signedIn: await signedInBy(c) }));
});

/**
 * Every other address is of a page that is drawn in the browser, which knows what pages there are. Mounted after the files of runs. A run's views are a
 * route of their own, since the run that they name says for which team they are.
 */
export const drawnPages = new Hono<AppContext>();
for (const path of ["/evaluations/:id/:view{.+}", "/:page{.+}"])
  drawnPages.get(path, (c) => {
    if (isBuilt(c)) return drawn(c);
    const hint = "docs/own-environments.md says how `[assets]` names them.";
    throw new EdgewiseError("not_found", "This deployment has no files of the dashboard, and so its plain pages alone.", { hint });
  });

const isBuilt = (c: Context<AppContext>): boolean => BUILT_DASHBOARD !== null && c.var.ports.assets !== null;

/** The page that all pages of the dashboard begin with. */
async function drawn(c: Context<AppContext>): Promise<Response> {
  const { ports, caller } = c.var;
  const { version, folders = "" } = ports.facts;
  const viewer = { user: caller.user, team: ports.team, teams: caller.teams, signedIn: await signedInBy(c), version, folders };
  const policy = dashboardPolicy(ownOrigin(c.req.raw, ports.facts.local) ?? "'self'");
  return answerPage(dashboardPage(BUILT_DASHBOARD as BuiltDashboard, viewer), 200, { "content-security-policy": policy });
}

/** Null for who shows a token, or needs none. */
async function signedInBy({ req, var: { caller, ports } }: Context<AppContext>): Promise<SignedIn | null> {
  const { via } = caller;
  if (via === "session") return { via, csrf: await csrfOf(sessionIn(req.raw, ports.facts.local)) };
  return via === "access" ? { via, csrf: await csrfOf(req.header(ASSERTION) ?? "") } : null;
}
