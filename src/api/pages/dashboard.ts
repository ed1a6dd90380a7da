import { type Context, Hono } from "hono";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { readTwice } from "../read-twice.ts";
import { readRun, viewOf } from "../run-of.ts";
import { pageQuery } from "../schemas.ts";
import { type Html, PAGE_STYLE } from "./page.ts";
import { PAGE_LOG_LINES, runPage } from "./run-page.ts";
import { RUNS_PER_PAGE, runsPage } from "./runs-page.ts";

/** `/dashboard/`: pages for people. One of them is the link that the `prime` client prints; its files are served beside it (files.ts). */
export const dashboard = new Hono<AppContext>();

dashboard.get("/", async (c) => {
  const { page: number } = check(pageQuery, c.req.query(), "query");
  const query = { skip: (number - 1) * RUNS_PER_PAGE, limit: RUNS_PER_PAGE, environment_name: null };
  const { runs, total } = await readTwice(
    () => c.var.ports.registry,
    (registry) => registry.list(query),
  );
  return answer(c, runsPage({ runs, total, number }));
});

dashboard.get("/evaluations/:id", async (c) => {
  const view = await viewOf(c);
  const log = await readRun(c, (run) => run.logTail(PAGE_LOG_LINES));
  return answer(c, runPage(view, log ?? []));
});

/** May do nothing in a browser but look like itself. */
const answer = async (c: Context<AppContext>, body: Html): Promise<Response> =>
  c.html(body, 200, {
    "content-security-policy": `default-src 'none'; style-src 'sha256-${await digest(PAGE_STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
