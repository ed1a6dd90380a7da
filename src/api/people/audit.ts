import { Hono } from "hono";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { readTwice } from "../read-twice.ts";
import { auditQuery } from "./audit-schemas.ts";
import { administered } from "./directory-of.ts";

/** `/audit`: who did what in a team. */
export const audit = new Hono<AppContext>();

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

audit.get("/", async (c) => {
  const { team_id, after, limit, order } = check(auditQuery, c.req.query(), "query");
  const ports = c.var.ports.inTeam(await administered(c, team_id));
  const entries = await readTwice(
    () => ports.registry,
    (registry) => registry.listAudit(after, limit, order === "desc"),
  );
  const data = entries.map(({ time, ended_at, ...entry }) => ({ ...entry, time: iso(time), ended_at: iso(ended_at) }));
  return c.json({ data, next: entries.at(-1)?.seq ?? after, more: entries.length === limit });
});
