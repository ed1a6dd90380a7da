import { Hono } from "hono";
import type { AppContext } from "./app-context.ts";
import { readRun, viewOf } from "./run-of.ts";
import { PAGE_LOG_LINES, PAGE_STYLE, runPage } from "./run-page.ts";

/** `/dashboard/evaluations/{id}`: the link that the `prime` client prints. Its files are served beside it (files.ts). */
export const dashboard = new Hono<AppContext>();

dashboard.get("/:id", async (c) => {
  const view = await viewOf(c);
  const log = await readRun(c, (run) => run.logTail(PAGE_LOG_LINES));
  return c.html(runPage(view, log ?? []), 200, {
    "content-security-policy": `default-src 'none'; style-src 'sha256-${await digest(PAGE_STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
});

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
