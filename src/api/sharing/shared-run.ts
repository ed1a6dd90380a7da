import { type Context, Hono, type Next } from "hono";
import { isRunId } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { isTeam } from "../../teams/team-name.ts";
import { digestOfToken, isDrawnText } from "../../teams/token-text.ts";
import { checkPlace, placeOf } from "../access/place.ts";
import { checkLinkRate } from "../access/request-rate.ts";
import { isSame } from "../access/same-text.ts";
import type { AppContext } from "../app-context.ts";
import { unwrap } from "../errors.ts";
import { answerPage } from "../pages/answer-page.ts";
import { PAGE_LOG_LINES, runPage } from "../pages/run-page.ts";
import { readTwice } from "../read-twice.ts";
import { files } from "../runs/files.ts";
import { readRun, viewOf } from "../runs/run-of.ts";
import { samples } from "../runs/samples.ts";
import { shownPath } from "./shared-path.ts";

/** `/shared/{team}/{link}/{id}`: a run for whoever has its link, to be read and nothing else. Everything that it does not lead to is not found, in the same words. */
export const sharedRun = new Hono<AppContext>();

const notFound = (): EdgewiseError => new EdgewiseError("not_found", "This link leads nowhere: it was taken back, or is not whole, or its run is deleted.");

/** Asks the run whether the link is its own, and goes on as the run's team. */
async function byLink(c: Context<AppContext>, next: Next): Promise<void> {
  const { team = "", link = "", id = "" } = c.req.param() as Partial<Record<string, string>>;
  unwrap(checkPlace(c.req.raw, c.var.ports.facts));
  const { rate, facts } = c.var.ports;
  await checkLinkRate(rate, placeOf(c.req.raw, facts.local));
  if (!isTeam(team) || !isDrawnText(link) || !isRunId(id)) throw notFound();
  const ports = c.var.ports.inTeam(team);
  const view = await readTwice(
    () => ports.run(id),
    (run) => run.view(),
  );
  if (view?.link_digest === undefined || !(await isSame(await digestOfToken(link), view.link_digest))) throw notFound();
  c.set("ports", ports);
  await next();
  // Taken back it is gone, and no search engine has it.
  c.header("cache-control", "no-store");
  c.header("x-robots-tag", "noindex");
}

const BELOW = "/:team/:link";
sharedRun.use(`${BELOW}/:id/*`, byLink);
sharedRun.get(`${BELOW}/:id`, async (c) => {
  const view = await viewOf(c);
  const log = await readRun(c, (run) => run.logTail(PAGE_LOG_LINES));
  const { team, link, id } = c.req.param();
  return answerPage(runPage(view, log ?? [], { signedIn: null, link: shownPath(team, link, id) }));
});
for (const part of [samples, files]) sharedRun.route(BELOW, part);
sharedRun.all("*", () => {
  throw notFound();
});
