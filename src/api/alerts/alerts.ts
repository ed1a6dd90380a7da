import { type Context, Hono } from "hono";
import type { AlertBookControl, AlertFacts, DeliveryFacts } from "../../../durable-objects/alert-book/alert-book-control.ts";
import { alertOf, alertSchema } from "../../alerts/alert-definition.ts";
import type { AlertSecret } from "../../alerts/alert-secret.ts";
import { drawSecret, rotated } from "../../alerts/signature.ts";
import { changedFields } from "../../config/changed-fields.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { EdgewiseError, type Result } from "../../errors/result.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { idempotencyKeyOf } from "../creation/idempotency-key.ts";
import { unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { plannedChange, putQuery } from "../planned-change.ts";
import { readTwice } from "../read-twice.ts";
import { emptyBody } from "../schemas.ts";
import { drawId } from "../secrets/sealing.ts";
import { alertPath, alertQuery, deliveryPath, logQuery } from "./alert-schemas.ts";
import { checkDestination } from "./check-destination.ts";
import { dropAlertSecret, keepAlertSecret, readAlertSecret } from "./kept-secret.ts";
import { alertShown, deliveryShown } from "./shown-alert.ts";

/** `/alerts`: who is told what happens to runs, schedules and monitors. */
export const alerts = new Hono<AppContext>();

interface Asked {
  readonly ports: AppPorts;
  /** A fresh stub per call. */
  book(): AlertBookControl;
}

async function asked(c: Context<AppContext>, team: string | undefined): Promise<Asked> {
  const ports = c.var.ports.inTeam(await administered(c, team));
  const { alerts: own } = ports;
  if (own !== null) return { ports, book: () => own.book };
  throw new EdgewiseError("not_found", "This deployment has no alerts.", {
    hint: "Take the bindings ALERT_BOOK and ALERTS, the queue and the migration over from the wrangler.toml of this version, export AlertBook from the main module, and deploy.",
  });
}

const teamIn = (c: Context<AppContext>): string | undefined => check(alertQuery, c.req.query(), "query").team_id;
const nameIn = (c: Context<AppContext>): string => check(alertPath, { alert: c.req.param("alert") }, "path").alert;
const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Alert not found.", { hint: "`npx edgewise alert list` shows those there are." });

async function found({ book }: Asked, name: string): Promise<AlertFacts> {
  const facts = await readTwice(book, (own) => own.get(name));
  if (facts === null) throw notFound();
  return facts;
}

alerts.get("/", async (c) => {
  const { book } = await asked(c, teamIn(c));
  return c.json({ data: (await readTwice(book, (own) => own.list())).map(alertShown) });
});

alerts.get("/:alert", async (c) => c.json({ data: alertShown(await found(await asked(c, teamIn(c)), nameIn(c))) }));

alerts.put("/:alert", async (c) => {
  const { team_id, dry_run } = check(putQuery, c.req.query(), "query");
  const there = await asked(c, team_id);
  const { ports, book } = there;
  const name = nameIn(c);
  const given = parseBody(alertSchema, await readJsonText(c.req.raw));
  const definition = alertOf(given);
  const before = await readTwice(book, (own) => own.get(name));
  const kept = before === null ? null : await readAlertSecret(ports, before.id);
  const sameKind = before?.definition.to === definition.to;
  const url = definition.to === "email" ? null : (given.url ?? (sameKind ? kept?.url : undefined) ?? null);
  checkDestination(ports.facts, definition.to, url);
  const signing = definition.to !== "webhook" ? null : (kept?.signing ?? { secret: drawSecret() });
  const secret: AlertSecret = { version: 1, url, signing };
  const planned = plannedChange(
    before === null
      ? null
      : [...changedFields(before.definition, definition), ...(kept?.url === url ? [] : ["url"]), ...(before.disabled === null ? [] : ["disabled"])],
  );
  if (dry_run === "true") return c.json({ ...planned, data: { name } });
  await c.var.audit.begin(ports);
  if (before !== null && planned.change === "none") return c.json({ ...planned, data: alertShown(before) });
  const id = before?.id ?? drawId();
  const { user } = c.var.caller;
  await keepAlertSecret(ports, id, secret, user);
  const facts = unwrap(await book().put({ team: ports.team, name, id, definition, origin: ports.facts.stays ? new URL(c.req.url).origin : null, by: user }));
  // Of what was there nobody is shown the secret again.
  const shown = signing === null || kept?.signing ? {} : { secret: signing.secret };
  return c.json({ ...planned, data: alertShown(facts), ...shown });
});

alerts.delete("/:alert", async (c) => {
  const { ports, book } = await asked(c, teamIn(c));
  const name = nameIn(c);
  await c.var.audit.begin(ports);
  const facts = await book().remove(name);
  if (facts === null) throw notFound();
  await dropAlertSecret(ports, facts.id);
  return c.json({ message: "Alert deleted, with its messages." });
});

alerts.post("/:alert/rotate", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  const there = await asked(c, teamIn(c));
  const facts = await found(there, nameIn(c));
  const kept = await readAlertSecret(there.ports, facts.id);
  if (kept === null || kept.signing === null)
    throw new EdgewiseError("illegal_transition", `Messages to ${facts.definition.to} are not signed: there is no secret to replace.`);
  await c.var.audit.begin(there.ports);
  const signing = rotated(kept.signing, drawSecret(), Date.now());
  await keepAlertSecret(there.ports, facts.id, { ...kept, signing }, c.var.caller.user);
  return c.json({ data: alertShown(facts), secret: signing.secret, before_until: new Date(signing.before?.until ?? 0).toISOString() });
});

async function sent(c: Context<AppContext>, send: (book: AlertBookControl) => Promise<Result<DeliveryFacts>>): Promise<Response> {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  const { ports, book } = await asked(c, teamIn(c));
  await c.var.audit.begin(ports);
  return c.json({ data: deliveryShown(unwrap(await send(book()))) });
}

alerts.post("/:alert/test", async (c) => {
  const name = nameIn(c);
  const key = idempotencyKeyOf(c.req) ?? crypto.randomUUID();
  const id = (await sha256Hex(`test\n${name}\n${key}`)).slice(0, 32);
  return sent(c, (book) => book.sendTest({ name, id }));
});

alerts.get("/:alert/messages", async (c) => {
  const { team_id, limit } = check(logQuery, c.req.query(), "query");
  const there = await asked(c, team_id);
  const { name } = await found(there, nameIn(c));
  const all = await readTwice(
    () => there.book(),
    (book) => book.deliveries({ alert: name, limit }),
  );
  return c.json({ data: all.map(deliveryShown) });
});

alerts.post("/:alert/messages/:delivery/resend", async (c) => {
  const { alert: name, delivery } = check(deliveryPath, { alert: c.req.param("alert"), delivery: c.req.param("delivery") }, "path");
  return sent(c, (book) => book.resend({ name, delivery }));
});
