import { type Context, Hono } from "hono";
import type { ScheduleView } from "../../../durable-objects/schedule/schedule-control.ts";
import { changedFields } from "../../config/changed-fields.ts";
import { EdgewiseError, type Result } from "../../errors/result.ts";
import { definitionOf, definitionSchema } from "../../schedules/definition-schema.ts";
import { nextDues } from "../../schedules/due-times.ts";
import type { Creator } from "../../schedules/state.ts";
import type { Caller } from "../../teams/caller.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts, SchedulePorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { plannedConfigs } from "../creation/create-runs.ts";
import { idempotencyKeyOf } from "../creation/idempotency-key.ts";
import { invalid, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { plannedChange, putQuery } from "../planned-change.ts";
import { readTwice } from "../read-twice.ts";
import { emptyBody } from "../schemas.ts";
import { evaluationOf } from "./evaluation-of.ts";
import { pauseBody, schedulePath, scheduleQuery } from "./schedule-schemas.ts";
import { factsShown, SHOWN_NEXT, scheduleShown } from "./shown-schedule.ts";

/** `/schedules`: evaluations by the clock. */
export const schedules = new Hono<AppContext>();

interface Asked {
  readonly ports: AppPorts;
  readonly own: SchedulePorts;
}

async function asked(c: Context<AppContext>, team: string | undefined): Promise<Asked> {
  const ports = c.var.ports.inTeam(await administered(c, team));
  if (ports.schedules !== null) return { ports, own: ports.schedules };
  throw new EdgewiseError("not_found", "This deployment has no schedules.", {
    hint: "Take the bindings SCHEDULE and SCHEDULES, the queue and the migration over from the wrangler.toml of this version, export Schedule from the main module, and deploy.",
  });
}

const teamIn = (c: Context<AppContext>): string | undefined => check(scheduleQuery, c.req.query(), "query").team_id;
const nameIn = (c: Context<AppContext>): string => check(schedulePath, c.req.param(), "path").schedule;
const notFound = (): EdgewiseError => new EdgewiseError("not_found", "Schedule not found.", { hint: "`npx edgewise schedule list` shows those there are." });
const creatorOf = ({ user, token, owner }: Caller): Creator => ({ user, token, owner });
const lookUp = ({ own }: Asked, name: string): Promise<ScheduleView | null> =>
  readTwice(
    () => own.of(name),
    (schedule) => schedule.view(),
  );

schedules.get("/", async (c) => {
  const { own } = await asked(c, teamIn(c));
  const all = await readTwice(
    () => own.index,
    (index) => index.listSchedules(),
  );
  return c.json({ data: all.map((facts) => factsShown(facts, own.served, Date.now())) });
});

schedules.get("/:schedule", async (c) => {
  const there = await asked(c, teamIn(c));
  const view = await lookUp(there, nameIn(c));
  if (view === null) throw notFound();
  return c.json({ data: scheduleShown(view, there.own.served, Date.now()) });
});

schedules.put("/:schedule", async (c) => {
  const { team_id, dry_run } = check(putQuery, c.req.query(), "query");
  const there = await asked(c, team_id);
  const { ports, own } = there;
  const name = nameIn(c);
  const definition = definitionOf(parseBody(definitionSchema, await readJsonText(c.req.raw)));
  const now = Date.now();
  const [next = null] = nextDues(definition, now, now, 1);
  if (next === null) throw invalid(["body", "until"], "is before the first due time");
  // As a creation of now, by whoever asks: what would be refused is refused here, and not in the night.
  await plannedConfigs(ports, evaluationOf(name, definition, next), false);
  if (dry_run === "true") {
    const before = await lookUp(there, name);
    const planned = plannedChange(before === null ? null : changedFields(before.definition, definition));
    return c.json({ ...planned, data: { name, next: nextDues(definition, now, now, SHOWN_NEXT).map((due) => new Date(due).toISOString()) } });
  }
  await c.var.audit.begin(ports);
  unwrap(await own.index.reserveSchedule(name));
  const view = unwrap(await own.of(name).put({ team: ports.team, name, definition, creator: creatorOf(c.var.caller) }));
  return c.json({ data: scheduleShown(view, own.served, now) });
});

schedules.delete("/:schedule", async (c) => {
  const { ports, own } = await asked(c, teamIn(c));
  const name = nameIn(c);
  await c.var.audit.begin(ports);
  const there = await own.of(name).remove();
  await own.index.forgetSchedule({ name, deleted: true });
  if (!there) throw notFound();
  return c.json({ message: "Schedule deleted; its runs stay." });
});

async function changed(c: Context<AppContext>, change: (own: SchedulePorts, name: string) => Promise<Result<ScheduleView>>): Promise<Response> {
  const { ports, own } = await asked(c, teamIn(c));
  const name = nameIn(c);
  await c.var.audit.begin(ports);
  return c.json({ data: scheduleShown(unwrap(await change(own, name)), own.served, Date.now()) });
}

schedules.post("/:schedule/pause", async (c) => {
  const { reason } = parseBody(pauseBody, await readJsonText(c.req.raw));
  return changed(c, (own, name) => own.of(name).pause({ by: c.var.caller.user, reason }));
});

schedules.post("/:schedule/resume", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  return changed(c, (own, name) => own.of(name).resume({ creator: creatorOf(c.var.caller) }));
});

schedules.post("/:schedule/run", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  const id = idempotencyKeyOf(c.req) ?? crypto.randomUUID();
  return changed(c, (own, name) => own.of(name).run({ id }));
});

schedules.post("/:schedule/drift/reset", async (c) => {
  parseBody(emptyBody, await readJsonText(c.req.raw));
  return changed(c, (own, name) => own.of(name).resetDrift());
});
