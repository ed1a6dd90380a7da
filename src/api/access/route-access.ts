import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import { EdgewiseError } from "../../errors/result.ts";
import type { Caller, Right } from "../../teams/caller.ts";

export interface RouteAccess {
  readonly right: Right;
  /** What the audit calls it; absent where nothing changes. */
  readonly does?: string;
  /** The body says for which team: the handler begins its note in the audit. */
  readonly inBody?: true;
}

const reads: RouteAccess = { right: "runs:read" };
const known: RouteAccess = { right: "caller" };
const writes = (does: string): RouteAccess => ({ right: "runs:write", does });
/** Says where keys go, and what is sent with them. */
const names = (does: string): RouteAccess => ({ right: "secrets:write", does });
const administers = (does?: string): RouteAccess => (does === undefined ? { right: "admin" } : { right: "admin", does });
const keeps = (does?: string): RouteAccess => ({ right: "secrets:write", ...(does === undefined ? {} : { does, inBody: true }) });
const equips = (does?: string): RouteAccess => ({ right: "environments:write", ...(does === undefined ? {} : { does, inBody: true }) });
const owns = (does: string): RouteAccess => ({ right: "owner", does });

/**
 * Who may ask for what: every route, as it is mounted, and what its caller needs. One that is not here is refused, so that nobody adds a route and
 * forgets this. `GET` holds for `HEAD` too.
 */
export const ROUTE_ACCESS: Readonly<Record<string, RouteAccess>> = {
  "POST /api/v1/hosted-evaluations": { ...writes("run.create"), inBody: true },
  "PATCH /api/v1/hosted-evaluations/:id/cancel": writes("run.cancel"),
  "GET /api/v1/hosted-evaluations/:id/logs": reads,
  "POST /api/v1/evaluation-configs": writes("run.create"),
  "POST /api/v1/evaluation-settings": reads,
  "POST /api/v1/evaluation-forecasts": reads,
  "GET /api/v1/options": known,
  "POST /api/v1/comparisons": reads,
  "POST /api/v1/comparisons/examples": reads,
  "GET /api/v1/evaluations": reads,
  "GET /api/v1/evaluation-states": reads,
  "POST /api/v1/evaluations": { ...writes("run.push"), inBody: true },
  "PUT /api/v1/evaluations/:id": writes("run.describe"),
  "POST /api/v1/evaluations/:id/samples": writes("samples.push"),
  "POST /api/v1/evaluations/:id/finalize": writes("run.finalize"),
  "POST /api/v1/traces": { ...writes("traces.push"), inBody: true },
  "POST /api/v1/environmentshub/resolve": { right: "runs:write" },
  "POST /api/v1/environmentshub/lookup": { right: "runs:write" },
  "GET /api/v1/evaluations/:id": reads,
  "DELETE /api/v1/evaluations/:id": writes("run.delete"),
  "PUT /api/v1/evaluations/:id/keep": writes("run.keep"),
  "DELETE /api/v1/evaluations/:id/keep": writes("run.unkeep"),
  "POST /api/v1/evaluations/:id/interrupt": writes("run.interrupt"),
  "POST /api/v1/evaluations/:id/pause": writes("run.pause"),
  "POST /api/v1/evaluations/:id/continue": writes("run.continue"),
  "PATCH /api/v1/evaluations/:id": writes("run.set"),
  "POST /api/v1/evaluations/:id/resume": writes("run.resume"),
  "PUT /api/v1/evaluations/:id/link": writes("run.share"),
  "DELETE /api/v1/evaluations/:id/link": writes("run.unshare"),
  "GET /api/v1/evaluations/:id/events": reads,
  "GET /api/v1/evaluations/:id/rows": reads,
  "GET /api/v1/evaluations/:id/samples": reads,
  "GET /api/v1/evaluations/:id/columns": reads,
  "POST /api/v1/evaluations/:id/previews": reads,
  "GET /api/v1/evaluations/:id/search": reads,
  "GET /api/v1/evaluations/:id/rollouts/:example/:rollout": reads,
  "GET /api/v1/evaluations/:id/rollouts/:example/:rollout/outline": reads,
  "GET /api/v1/evaluations/:id/rollouts/:example/:rollout/messages": reads,
  "GET /api/v1/evaluations/:id/distribution": reads,
  "GET /api/v1/evaluations/:id/errors": reads,
  "GET /api/v1/evaluations/:id/timeline": reads,
  "GET /api/v1/evaluations/:id/files/:file": reads,
  "GET /api/v1/evaluations/:id/export": reads,
  "GET /api/v1/evaluations/:id/export/:path{.+}": reads,
  "PUT /api/v1/datasets/:digest": writes("upload.put"),
  "GET /api/v1/datasets/:digest": { right: "runs:write" },
  "GET /api/v1/environmentshub": known,
  "GET /api/v1/environmentshub/:owner/:name/:version{@[^/]+}": known,
  "GET /api/v1/environmentshub/:owner/:name/:version{@[^/]+}/module": known,
  "GET /api/v1/environmentshub/:owner/:name/:version{@[^/]+}/source-map": known,
  "GET /api/v1/environmentshub/:owner/:name/:version{@[^/]+}/readme": known,
  "GET /api/v1/environmentshub/:owner/:name/status": known,
  "GET /api/v1/environmentshub/:owner/:name/versions": known,
  "PUT /api/v1/environmentshub/:owner/:name/:version{@[^/]+}": equips("environment.push"),
  "PATCH /api/v1/environmentshub/:owner/:name": equips("environment.change"),
  "DELETE /api/v1/environmentshub/:owner/:name": equips("environment.delete"),
  "DELETE /api/v1/environmentshub/:owner/:name/:version{@[^/]+}": equips("environment.delete"),
  "GET /api/v1/environmentshub/:environment/secrets": keeps(),
  "POST /api/v1/environmentshub/:environment/secrets": keeps("secret.create"),
  "PATCH /api/v1/environmentshub/:environment/secrets/:secret": keeps("secret.update"),
  "DELETE /api/v1/environmentshub/:environment/secrets/:secret": keeps("secret.delete"),
  "POST /api/v1/environmentshub/:environment/secrets/link/:secret": keeps("secret.link"),
  "DELETE /api/v1/environmentshub/:environment/secrets/link/:secret": keeps("secret.unlink"),
  "GET /api/v1/environmentshub/:environment/variables": equips(),
  "POST /api/v1/environmentshub/:environment/variables": equips("variable.create"),
  "PATCH /api/v1/environmentshub/:environment/variables/:variable": equips("variable.update"),
  "DELETE /api/v1/environmentshub/:environment/variables/:variable": equips("variable.delete"),
  "GET /api/v1/environments/linked": reads,
  "GET /api/v1/environments/linked/:link": reads,
  "PUT /api/v1/environments/linked/:link": equips("link.put"),
  "DELETE /api/v1/environments/linked/:link": equips("link.delete"),
  // Of every command that plays a run with one, each few seconds: nothing that the audit is for.
  "POST /api/v1/environments/linked/:link/lease": equips(),
  "GET /api/v1/secrets": keeps(),
  "POST /api/v1/secrets": keeps("secret.create"),
  "POST /api/v1/secrets/rotate": owns("secret.rotate"),
  "GET /api/v1/secrets/:secret": keeps(),
  "PATCH /api/v1/secrets/:secret": keeps("secret.update"),
  "DELETE /api/v1/secrets/:secret": keeps("secret.delete"),
  "GET /api/v1/user/whoami": known,
  "GET /api/v1/user/teams": known,
  "GET /api/v1/tokens": administers(),
  "POST /api/v1/tokens": { ...administers("token.create"), inBody: true },
  "DELETE /api/v1/tokens/:token": administers("token.revoke"),
  "GET /api/v1/endpoints": reads,
  "POST /api/v1/endpoints": { ...names("endpoint.add"), inBody: true },
  "GET /api/v1/endpoints/:endpoint": reads,
  "PUT /api/v1/endpoints/:endpoint": { ...names("endpoint.replace"), inBody: true },
  "DELETE /api/v1/endpoints/:endpoint": { ...names("endpoint.delete"), inBody: true },
  // A key is used for it, as for a run.
  "GET /api/v1/models": { right: "runs:write" },
  "GET /api/v1/limits": reads,
  "GET /api/v1/limits/given": reads,
  "GET /api/v1/limits/given/:limit": reads,
  "PUT /api/v1/limits/given/:limit": { ...names("limit.give"), inBody: true },
  "DELETE /api/v1/limits/given/:limit": { ...names("limit.clear"), inBody: true },
  "GET /api/v1/limits/:limiter": reads,
  "POST /api/v1/limits/:limiter/forget": { ...names("limit.forget"), inBody: true },
  "GET /api/v1/budgets": reads,
  "PUT /api/v1/budgets/team": { ...administers("budget.set"), inBody: true },
  "DELETE /api/v1/budgets/team": { ...administers("budget.clear"), inBody: true },
  "PUT /api/v1/budgets/keys/:key": { ...administers("budget.set"), inBody: true },
  "DELETE /api/v1/budgets/keys/:key": { ...administers("budget.clear"), inBody: true },
  "PUT /api/v1/budgets/everybody/:key": { ...owns("budget.set"), inBody: true },
  "DELETE /api/v1/budgets/everybody/:key": { ...owns("budget.clear"), inBody: true },
  "GET /api/v1/cache": reads,
  // What is cleared has to be paid for again by whoever makes runs, and nothing else of theirs is lost.
  "DELETE /api/v1/cache": { ...writes("cache.clear"), inBody: true },
  "GET /api/v1/baselines": reads,
  "GET /api/v1/baselines/:baseline": reads,
  "PUT /api/v1/baselines/:baseline": { ...writes("baseline.set"), inBody: true },
  "DELETE /api/v1/baselines/:baseline": { ...writes("baseline.delete"), inBody: true },
  "GET /api/v1/schedules": reads,
  "GET /api/v1/schedules/:schedule": reads,
  "PUT /api/v1/schedules/:schedule": { ...writes("schedule.put"), inBody: true },
  "DELETE /api/v1/schedules/:schedule": { ...writes("schedule.delete"), inBody: true },
  "POST /api/v1/schedules/:schedule/pause": { ...writes("schedule.pause"), inBody: true },
  "POST /api/v1/schedules/:schedule/resume": { ...writes("schedule.resume"), inBody: true },
  "POST /api/v1/schedules/:schedule/drift/reset": { ...writes("schedule.drift.reset"), inBody: true },
  "POST /api/v1/schedules/:schedule/run": { ...writes("schedule.run"), inBody: true },
  "GET /api/v1/monitors": reads,
  "GET /api/v1/monitors/:monitor": reads,
  "PUT /api/v1/monitors/:monitor": { ...writes("monitor.put"), inBody: true },
  "DELETE /api/v1/monitors/:monitor": { ...writes("monitor.delete"), inBody: true },
  "POST /api/v1/monitors/:monitor/done": { ...writes("monitor.done"), inBody: true },
  "POST /api/v1/monitors/:monitor/pause": { ...writes("monitor.pause"), inBody: true },
  "POST /api/v1/monitors/:monitor/resume": { ...writes("monitor.resume"), inBody: true },
  "POST /api/v1/monitors/:monitor/rotate": { ...writes("monitor.rotate"), inBody: true },
  "GET /api/v1/alerts": reads,
  "GET /api/v1/alerts/:alert": reads,
  "PUT /api/v1/alerts/:alert": { ...writes("alert.put"), inBody: true },
  "DELETE /api/v1/alerts/:alert": { ...writes("alert.delete"), inBody: true },
  "POST /api/v1/alerts/:alert/test": { ...writes("alert.test"), inBody: true },
  "POST /api/v1/alerts/:alert/rotate": { ...writes("alert.rotate"), inBody: true },
  "GET /api/v1/alerts/:alert/messages": reads,
  "POST /api/v1/alerts/:alert/messages/:delivery/resend": { ...writes("alert.resend"), inBody: true },
  "POST /api/v1/evaluations/:id/gate-failed": writes("run.gate-failed"),
  "GET /api/v1/evaluators": reads,
  "GET /api/v1/evaluators/:evaluator": reads,
  "GET /api/v1/evaluators/:evaluator/points": reads,
  "PUT /api/v1/evaluators/:evaluator": { ...writes("evaluator.put"), inBody: true },
  "DELETE /api/v1/evaluators/:evaluator": { ...writes("evaluator.delete"), inBody: true },
  "POST /api/v1/evaluators/:evaluator/steps": { ...writes("evaluator.step"), inBody: true },
  "POST /api/v1/evaluators/:evaluator/pause": { ...writes("evaluator.pause"), inBody: true },
  "POST /api/v1/evaluators/:evaluator/resume": { ...writes("evaluator.resume"), inBody: true },
  "GET /api/v1/named-datasets": reads,
  "GET /api/v1/named-datasets/:dataset": reads,
  "PUT /api/v1/named-datasets/:dataset": { ...writes("dataset.put"), inBody: true },
  "DELETE /api/v1/named-datasets/:dataset": { ...writes("dataset.delete"), inBody: true },
  "GET /api/v1/teams": administers(),
  "PUT /api/v1/teams/:team": owns("team.create"),
  "GET /api/v1/teams/:team/limits": reads,
  "PUT /api/v1/teams/:team/limits": { ...administers("team.limit"), inBody: true },
  "PUT /api/v1/teams/:team/members/:user": owns("member.put"),
  "DELETE /api/v1/teams/:team/members/:user": owns("member.remove"),
  "GET /api/v1/audit": administers(),
  "GET /api/v1/openapi.json": known,
  "GET /api/whoami-v2": known,
  "GET /api/datasets/:owner/:id": reads,
  "GET /api/datasets/:owner/:id/refs": reads,
  "GET /api/datasets/:owner/:id/revision/:revision": reads,
  "GET /api/datasets/:owner/:id/tree/:revision": reads,
  "GET /api/datasets/:owner/:id/tree/:revision/:path{.+}": reads,
  "POST /api/datasets/:owner/:id/paths-info/:revision": reads,
  "GET /datasets/:owner/:id/resolve/:revision/:path{.+}": reads,
  "GET /dashboard": reads,
  "GET /dashboard/evaluations/:id": reads,
  "GET /dashboard/evaluations/:id/files/:file": reads,
  "GET /dashboard/evaluations/:id/:view{.+}": reads,
  "GET /dashboard/:page{.+}": reads,
  "POST /sign-out": { right: "caller", does: "session.end" },
  "GET /internal/operations": { right: "owner" },
  "ALL /embedded/*": { right: "runs:write" },
};

/** Of the routes that a request met, as `METHOD path`, the one that answers it. */
export function routeOf(met: readonly string[]): { readonly route: string; readonly access: RouteAccess } | null {
  const route = met.find((each) => Object.hasOwn(ROUTE_ACCESS, each));
  const access = route === undefined ? undefined : ROUTE_ACCESS[route];
  return route === undefined || access === undefined ? null : { route, access };
}

/** The route that answers this request. */
export const routeAnswering = (c: Context): ReturnType<typeof routeOf> => routeOf(matchedRoutes(c).map(({ method, path }) => `${method} ${path}`));

/** What a path names, such as `0000abcd` or `acme/ada`; null where its route names nothing. */
export function targetOf(route: string, url: string): string | null {
  const path = new URL(url).pathname.split("/");
  const named = (route.split(" ")[1] ?? "").split("/").flatMap((part, at) => (part.startsWith(":") ? [path[at] ?? ""] : []));
  return named.length === 0 ? null : named.join("/").slice(0, MAX_TARGET);
}
/** Characters that are kept of what a path names, whatever it is. */
const MAX_TARGET = 200;

/** The refusal of a caller who lacks the right. */
export const lacks = ({ scopes }: Pick<Caller, "scopes">, right: Right): EdgewiseError =>
  right === "owner"
    ? new EdgewiseError("forbidden", "This is for the owner of the service alone.", { hint: "Use EDGEWISE_TOKEN." })
    : new EdgewiseError("forbidden", `This needs the scope ${right}; the token has ${scopes.join(", ") || "none"}.`, {
        hint: `\`npx edgewise token create NAME --scope ${right}\` makes one that has it.`,
      });
