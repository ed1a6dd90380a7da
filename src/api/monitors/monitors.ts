import { type Context, Hono } from "hono";
import type { MonitorControl, MonitorView } from "../../../durable-objects/monitor/monitor-control.ts";
import { EdgewiseError, type Result } from "../../errors/result.ts";
import { beatPath } from "../../monitors/beat-url.ts";
import { definitionOf, definitionSchema, deployedProblem } from "../../monitors/definition-schema.ts";
import { digestOfToken, drawText } from "../../teams/token-text.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts, MonitorPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { invalid, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { readTwice } from "../read-twice.ts";
import { emptyBody } from "../schemas.ts";
import { monitorPath, monitorQuery, pauseBody } from "./monitor-schemas.ts";
import { monitorsOf } from "./monitors-of.ts";
import { factsShown, monitorShown } from "./shown-monitor.ts";

/** `/monitors`: jobs that somebody watches. */
export const monitors = new Hono<AppContext>();

interface Asked {
  readonly ports: AppPorts;
  readonly own: MonitorPorts;
}

async function asked(c: Context<AppContext>): Promise<Asked> {
  const ports = c.var.ports.inTeam(await administered(c, check(monitorQuery, c.req.query(), "query").team_id));
  return { ports, own: monitorsOf(ports) };
}

const nameIn = (c: Context<AppContext>): string => check(monitorPath, c.req.param(), "path").monitor;
const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Monitor not found.", { hint: "`npx edgewise monitor list` shows those there are." });
const urlOf = (c: Context<AppContext>, id: string, secret: string): string => `${new URL(c.req.url).origin}${beatPath({ id, secret })}`;

/** Name of the object of this monitor. Throws `not_found` where the team has none of this name. */
async function idOf({ own }: Asked, name: string): Promise<string> {
  const id = await readTwice(
    () => own.index,
    (index) => index.monitorId(name),
  );
  if (id === null) throw notFound();
  return id;
}

monitors.get("/", async (c) => {
  const { own } = await asked(c);
  const all = await readTwice(
    () => own.index,
    (index) => index.listMonitors(),
  );
  return c.json({ data: all.map((facts) => factsShown(facts, own.served)) });
});

monitors.get("/:monitor", async (c) => {
  const there = await asked(c);
  const id = await idOf(there, nameIn(c));
  const view = await readTwice(
    () => there.own.of(id),
    (monitor) => monitor.view(),
  );
  if (view === null) throw notFound();
  return c.json({ data: monitorShown(view, there.own.served) });
});

monitors.put("/:monitor", async (c) => {
  const { ports, own } = await asked(c);
  const name = nameIn(c);
  const definition = definitionOf(parseBody(definitionSchema, await readJsonText(c.req.raw)));
  const problem = ports.facts.local ? null : deployedProblem(definition);
  if (problem !== null) throw invalid(["body", "every"], problem);
  await c.var.audit.begin(ports);
  const { id } = unwrap(await own.index.reserveMonitor(name));
  const secret = drawText();
  const put = { team: ports.team, name, id, definition, secret_digest: await digestOfToken(secret), by: c.var.caller.user };
  const { view, made } = unwrap(await own.of(id).put(put));
  return c.json({ data: monitorShown(view, own.served), beat_url: made ? urlOf(c, id, secret) : null });
});

monitors.post("/:monitor/rotate", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  const secret = drawText();
  const secret_digest = await digestOfToken(secret);
  return changed(
    c,
    (monitor) => monitor.rotate({ by: c.var.caller.user, secret_digest }),
    (id) => ({ beat_url: urlOf(c, id, secret) }),
  );
});

monitors.delete("/:monitor", async (c) => {
  const there = await asked(c);
  const name = nameIn(c);
  const id = await idOf(there, name);
  await c.var.audit.begin(there.ports);
  const was = await there.own.of(id).remove();
  // Where alerts are still to be told of it the watchdog finds it by that, and forgets it then.
  if (was !== "owing") await there.own.index.forgetMonitor({ name, id, deleted: true });
  if (was === "none") throw notFound();
  return c.json({ message: "Monitor deleted; its address leads nowhere now." });
});

async function changed(
  c: Context<AppContext>,
  change: (monitor: MonitorControl) => Promise<Result<MonitorView>>,
  more: (id: string) => object = () => ({}),
): Promise<Response> {
  const there = await asked(c);
  const id = await idOf(there, nameIn(c));
  await c.var.audit.begin(there.ports);
  return c.json({ data: monitorShown(unwrap(await change(there.own.of(id))), there.own.served), ...more(id) });
}

monitors.post("/:monitor/done", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  return changed(c, (monitor) => monitor.done({ by: c.var.caller.user }));
});

monitors.post("/:monitor/pause", async (c) => {
  const { reason } = parseBody(pauseBody, await readJsonText(c.req.raw));
  return changed(c, (monitor) => monitor.pause({ by: c.var.caller.user, reason }));
});

monitors.post("/:monitor/resume", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  return changed(c, (monitor) => monitor.resume({ by: c.var.caller.user }));
});
