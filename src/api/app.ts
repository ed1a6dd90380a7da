import { Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { EdgewiseError } from "../errors/result.ts";
import { BEAT_PATH } from "../monitors/beat-url.ts";
import { may } from "../teams/caller.ts";
import { checkAccess, mayBeLed } from "./access/access.ts";
import { Principals } from "./access/principals.ts";
import { RequestAudit } from "./access/request-audit.ts";
import { checkRate } from "./access/request-rate.ts";
import { lacks, routeAnswering, targetOf } from "./access/route-access.ts";
import { teamOf } from "./access/team-of-request.ts";
import type { AppContext } from "./app-context.ts";
import type { AppPorts } from "./app-ports.ts";
import { alerts } from "./alerts/alerts.ts";
import { gateFailed } from "./alerts/gate-failed.ts";
import { comparisons } from "./comparisons/comparisons.ts";
import { ScoreTables } from "./comparisons/score-tables.ts";
import { datasets } from "./datasets.ts";
import { embedded } from "./embedded.ts";
import { baselines } from "./baselines/baselines.ts";
import { budgets } from "./budgets/budgets.ts";
import { cache } from "./cache/cache.ts";
import { endpointLimits } from "./endpoint-limits/endpoint-limits.ts";
import { endpoints } from "./endpoints/endpoints.ts";
import { models } from "./endpoints/models.ts";
import { cells } from "./cells/cells.ts";
import { environmentsHub } from "./published/environments-hub.ts";
import { renderError, unwrap } from "./errors.ts";
import { ListWatches } from "./live/list-watch.ts";
import { states } from "./live/states.ts";
import { links } from "./links/links.ts";
import { exports } from "./exports/export-routes.ts";
import { evaluationConfigs } from "./creation/evaluation-configs.ts";
import { settingsOfCreations } from "./creation/evaluation-settings.ts";
import { forecasts } from "./forecasts/forecasts.ts";
import { evaluations } from "./runs/evaluations.ts";
import { steering } from "./runs/steering.ts";
import { events } from "./runs/events.ts";
import { files } from "./runs/files.ts";
import { hubAnswers } from "./hub/hub-answers.ts";
import { hubRefusal } from "./hub/hub-errors.ts";
import { hubFiles } from "./hub/hub-files.ts";
import { isHubPath } from "./hub/hub-path.ts";
import { hostedEvaluations } from "./creation/hosted-evaluations.ts";
import { internal } from "./internal.ts";
import { logs } from "./runs/logs.ts";
import { namedDatasets } from "./named-datasets/named-datasets.ts";
import { openapi } from "./openapi.ts";
import { options } from "./options/options.ts";
import { assets } from "./pages/assets.ts";
import { ASSETS_PATH } from "./pages/built-dashboard.ts";
import { answerPage } from "./pages/answer-page.ts";
import { dashboard, drawnPages } from "./pages/dashboard.ts";
import { signIn, signOut } from "./pages/sign-in.ts";
import { wayToSignIn } from "./pages/sign-in-page.ts";
import { rows } from "./runs/rows.ts";
import { audit } from "./people/audit.ts";
import { beats } from "./monitors/beats.ts";
import { monitors } from "./monitors/monitors.ts";
import { limits } from "./people/limits.ts";
import { evaluators } from "./evaluators/evaluators.ts";
import { schedules } from "./schedules/schedules.ts";
import { environmentNames } from "./pushes/environment-names.ts";
import { pushes } from "./pushes/push-routes.ts";
import { traces } from "./pushes/traces.ts";
import { teams } from "./people/teams.ts";
import { tokens } from "./people/tokens.ts";
import { user } from "./people/user.ts";
import { sharedRun } from "./sharing/shared-run.ts";
import { sharing } from "./sharing/sharing.ts";
import { RunWatches } from "./runs/run-watch.ts";
import { samples } from "./runs/samples.ts";
import { summaries } from "./summaries/summaries.ts";
import { environmentSecrets } from "./secrets/environment-secrets.ts";
import { secrets } from "./secrets/secrets.ts";

/** The HTTP door. `portsOf` is asked once per request, with the bindings the platform passes. */
export function createApp<Bindings extends object>(portsOf: (bindings: Bindings) => AppPorts) {
  // Clients write collections with a slash at the end; without it they mean the same.
  const app = new Hono<AppContext & { Bindings: Bindings }>({ strict: false });

  const watches = new RunWatches();
  const listWatches = new ListWatches();
  const scoreTables = new ScoreTables();
  const principals = new Principals();

  app.use(async (c, next) => {
    c.set("ports", portsOf(c.env));
    c.set("watches", watches);
    c.set("listWatches", listWatches);
    c.set("scoreTables", scoreTables);
    c.set("principals", principals);
    await next();
    // Of every answer, errors too: none is anything but what it says it is, whatever a model wrote into it.
    c.header("x-content-type-options", "nosniff");
  });
  /** Open to everyone: says that the service is there, and locally which boot of it. */
  app.get("/health", (c) => {
    const { local, boot, version } = c.var.ports.facts;
    return c.json(local ? { status: "ok", version, boot } : { status: "ok", version });
  });
  app.route("/sign-in", signIn);
  app.route("/shared", sharedRun);
  app.route(BEAT_PATH, beats);
  app.route(ASSETS_PATH, assets);
  // Open too, since they say nothing.
  app.use(async (c, next) => {
    const { pathname, search } = new URL(c.req.url);
    return c.req.method === "GET" && (pathname === "/" || pathname === "/dashboard") ? c.redirect(`/dashboard/${search}`) : next();
  });
  app.use(async (c, next) => {
    const { ports } = c.var;
    const caller = unwrap(await checkAccess(c.req.raw, ports, principals));
    await checkRate(ports.rate, caller);
    const found = routeAnswering(c);
    if (found === null) throw new EdgewiseError("not_found", "No such route.");
    if (!may(caller, found.access.right)) throw lacks(caller, found.access.right);
    c.set("caller", caller);
    const team = ports.inTeam(await teamOf(c.req.raw, caller, found.route.split(" ")[1] ?? "", ports));
    c.set("ports", team);
    const { does, inBody = false } = found.access;
    if (does === undefined) return next();
    const audit = new RequestAudit(c.req.raw, caller, does, ports.facts.local, targetOf(found.route, c.req.raw.url));
    c.set("audit", audit);
    if (!inBody) await audit.begin(team);
    await next();
    await audit.end(c.res.status);
  });

  const v1 = "/api/v1";
  for (const resource of [hostedEvaluations, logs]) app.route(`${v1}/hosted-evaluations`, resource);
  for (const resource of [evaluations, steering, events, rows, samples, ...cells, ...summaries, files, exports, sharing, pushes, gateFailed])
    app.route(`${v1}/evaluations`, resource);
  app.route(`${v1}/evaluation-states`, states);
  app.route(`${v1}/evaluation-configs`, evaluationConfigs);
  app.route(`${v1}/evaluation-settings`, settingsOfCreations);
  app.route(`${v1}/evaluation-forecasts`, forecasts);
  app.route(`${v1}/options`, options);
  app.route(`${v1}/comparisons`, comparisons);
  app.route(`${v1}/datasets`, datasets);
  app.route(`${v1}/named-datasets`, namedDatasets);
  app.route(`${v1}/traces`, traces);
  for (const resource of [environmentsHub, environmentNames, environmentSecrets]) app.route(`${v1}/environmentshub`, resource);
  app.route(`${v1}/environments/linked`, links);
  app.route(`${v1}/secrets`, secrets);
  app.route(`${v1}/user`, user);
  app.route(`${v1}/tokens`, tokens);
  app.route(`${v1}/endpoints`, endpoints);
  app.route(`${v1}/models`, models);
  app.route(`${v1}/limits`, endpointLimits);
  app.route(`${v1}/budgets`, budgets);
  app.route(`${v1}/cache`, cache);
  app.route(`${v1}/baselines`, baselines);
  app.route(`${v1}/schedules`, schedules);
  app.route(`${v1}/monitors`, monitors);
  app.route(`${v1}/alerts`, alerts);
  app.route(`${v1}/evaluators`, evaluators);
  for (const resource of [teams, limits]) app.route(`${v1}/teams`, resource);
  app.route(`${v1}/audit`, audit);
  app.route(`${v1}/openapi.json`, openapi);
  app.route("/api", hubAnswers);
  app.route("/datasets", hubFiles);
  app.route("/dashboard", dashboard);
  app.route("/dashboard/evaluations", files);
  app.route("/dashboard", drawnPages);
  app.route("/sign-out", signOut);
  app.route("/internal", internal);
  app.route("/embedded", embedded);

  app.notFound(() => {
    throw new EdgewiseError("not_found", "No such route.");
  });
  app.onError((thrown, c) => {
    const { status, body, headers = {} } = renderError(thrown);
    if (isHubPath(c.req.path)) return hubRefusal(c, thrown, { status, body, headers });
    if (status !== 401 || !mayBeLed(c.req.raw, c.var.ports)) return c.json(body, status as ContentfulStatusCode, headers);
    const { pathname, search } = new URL(c.req.url);
    return answerPage(wayToSignIn(pathname + search), status);
  });
  return app;
}
